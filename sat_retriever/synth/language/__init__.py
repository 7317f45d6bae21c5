"""Translate workbooks into other languages."""
