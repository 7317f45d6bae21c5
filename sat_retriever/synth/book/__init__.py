"""A workbook before it is a file: what it is, how it is built, and cut."""
