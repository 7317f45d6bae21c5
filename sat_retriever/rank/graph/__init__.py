"""Rerank with a trained base scorer and gated relational graph over a query's candidates."""
