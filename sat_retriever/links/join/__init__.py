"""Discovery of columns that hold the same key, by headers and by values."""
