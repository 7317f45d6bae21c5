"""Language models: one question at a time, answered in a given form.

prompt, JSON schema → chat (checks the form, asks again) → ollama (the server) → parsed answer
"""
