"""Made corpora beside published ones, and what they cost."""
