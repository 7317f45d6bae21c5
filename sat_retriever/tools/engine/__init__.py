"""From a question to an answer in words: sheets found, queried in SQL, told by a language model.

prepare (question → sheets and tables) → prompts → conversation (SQL, repairs, words) → SheetAnswer
"""
