"""Measure times and owners in questions."""
