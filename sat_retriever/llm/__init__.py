"""Ask language models one question at a time, with answers in a given form.

prompt, JSON schema → chat → ollama (the server) → chat (answer parsed, its form checked)
"""
