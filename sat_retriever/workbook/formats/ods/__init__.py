"""Workbooks of OpenDocument."""
