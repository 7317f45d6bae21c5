"""Copies and versions: sheets that hold nearly the same, and which of them is the newest."""
