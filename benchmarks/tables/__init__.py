"""RESULTS.md, the README's tables and the figures, rendered from result files."""
