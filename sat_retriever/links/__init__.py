"""Typed links between sheets, with the evidence for each.

one workbook → formula/ (what its formulas refer to), join/ (columns that match) → claims (its own
links, and claims about other workbooks) → the index, which resolves claims across workbooks
(period/ finds siblings) → graph (networkx, JSON, GraphML) and part (a subgraph). given checks the
links that users give.
"""
