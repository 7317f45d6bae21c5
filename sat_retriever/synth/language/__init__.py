"""Workbooks said in other languages."""
