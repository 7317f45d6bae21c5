"""Make corpora from templates: real workbooks, and the truth about them."""
