"""Corpora made from templates: real workbooks, and the truth about them."""
