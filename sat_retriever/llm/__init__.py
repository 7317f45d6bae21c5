"""Ask language models one question at a time, with answers in a given form.

prompt, JSON schema → chat → served (the protocol) → ollama | openai (the wire) → http → chat
(answer parsed, its form checked)
"""
