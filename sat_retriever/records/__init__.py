"""Data types that stages hand to each other: sheets, links, candidates, tokens."""
