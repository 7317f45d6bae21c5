"""Formulas and declared sources to the sheets they take from."""
