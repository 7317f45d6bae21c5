"""Sheets that hold the same for different times."""
