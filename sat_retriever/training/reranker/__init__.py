"""Stage 2: the base scorer and the gated graph trained on real candidates."""
