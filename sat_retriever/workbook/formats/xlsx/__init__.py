"""Workbooks of Excel: packages of XML parts."""
