"""Ranked sheets to what a user sees: hits with their reasons, and where one sheet stands."""
