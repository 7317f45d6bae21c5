"""Make questions with their SQL and answers from the model that workbooks are written from.

`tables` takes the tables from the model; `draw` and `linked` choose questions; `sql`, `evaluate`
and `phrase` turn one into a statement, an answer and a sentence. No file is read for an answer.
"""
