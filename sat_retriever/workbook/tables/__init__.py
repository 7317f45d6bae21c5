"""Discovery of the tables in a grid of values."""
