"""Text to words, and records to the text that is matched."""
