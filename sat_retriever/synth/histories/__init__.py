"""Versions and copies of made workbooks, as people keep them, and what looks like copies."""
