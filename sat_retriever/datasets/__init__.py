"""Load sheets with labelled questions: published corpora, a user's own labels, and their splits.

IndustryTab, Spider and BIRD come as records, so they need no workbooks. The EPS queries name sheets
of real workbooks: their Dataset has no records but a `root`, the folder to index
(`SheetIndex.sync([dataset.root])` gives the same sheet ids).
"""
