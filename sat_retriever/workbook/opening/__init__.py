"""What a file is, and how it is opened safely before anything reads it."""
