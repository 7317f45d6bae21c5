"""Typed links between sheets, with the evidence for each.

one workbook → formula/ (what its formulas refer to), join/ (columns that match), copies/ (versions)
→ claims (its own links, and claims about other workbooks) → the index, which resolves claims across
workbooks (text.period finds siblings) → graph (networkx, JSON, GraphML, a subgraph).
"""
