"""Calculated workbooks to the bytes of .xlsx files."""
