"""Save a whole index to a folder with checksums, and bring it back."""
