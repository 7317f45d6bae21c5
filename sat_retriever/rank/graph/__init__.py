"""Stage 2, trained: base scorer and gated relational graph over the candidates of one query."""
