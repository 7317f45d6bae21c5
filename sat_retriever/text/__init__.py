"""Split texts into words, and write records as the text that is matched."""
