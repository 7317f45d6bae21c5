"""One company, market or institution: its things, and its habits of naming and layout."""
