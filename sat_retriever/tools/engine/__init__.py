"""From a question to an answer in words: find sheets, query them in SQL, let a model phrase it.

prepare (question → sheets and tables) → prompts → reply → conversation (SQL, repairs, words)
→ SheetAnswer
"""
