"""Prepare training data: texts and queries of a data set or index, held-out parts, metrics."""
