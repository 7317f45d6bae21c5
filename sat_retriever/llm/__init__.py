"""Language models: one question at a time, answered in a given form.

prompt, JSON schema → chat → ollama (the server) → chat (answer parsed, its form checked)
"""
