"""Times and owners in questions."""
