"""Columns that hold the same key, by headers and by values."""
