"""Recipes to formulas and their values."""
