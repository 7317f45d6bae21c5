"""The Cross-Encoder trained on pairs of a question and a sheet."""
