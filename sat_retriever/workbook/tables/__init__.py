"""A grid of values to the tables that stand in it."""
