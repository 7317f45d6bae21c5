"""Typed links between sheets, with the evidence for each.

one workbook → formula/ (what its formulas take), join/ (columns that fit) → claims (its links, and
what it claims of others) → the index, which resolves claims across workbooks (period/ finds
siblings) → graph (networkx, JSON, GraphML) and part (a piece of it). What users give passes given.
"""
