"""One file to messages, by its format."""
