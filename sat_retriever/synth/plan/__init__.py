"""How large a corpus is, and whose workbooks it has."""
