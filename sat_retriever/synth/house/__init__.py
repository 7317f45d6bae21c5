"""Model one company, market or institution: its names, and its habits of naming and layout."""
