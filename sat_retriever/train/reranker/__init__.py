"""Train Stage 2: the base scorer and the gated graph, on real candidates."""
