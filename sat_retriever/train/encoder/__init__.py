"""Train Stage 1, the Sheet Encoder, with several relevant sheets per question."""
