"""Train the Cross-Encoder on pairs of a question and a sheet."""
