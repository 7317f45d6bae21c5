"""Where on a sheet a question is answered: the cells that match it, the table, and its rows.

asked (a question's words and phrases) → matches (each text of a sheet against them) → place (the
table that answers, and the range to cite).
"""
