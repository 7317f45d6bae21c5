"""The pages in docs/results/, the README's table and the figures, rendered from result files."""
