"""What crosses the borders between stages: sheets, links, candidates, tokens."""
