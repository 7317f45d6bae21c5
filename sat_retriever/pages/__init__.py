"""Self-contained HTML: pages that need no network and no other file.

data (graph: sheets and links; `evaluation.report`: a bench) → onepage (template, style, scripts,
policy) → the text of one page
"""
