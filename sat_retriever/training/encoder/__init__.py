"""Stage 1: the Sheet Encoder trained with several relevant sheets a question."""
