"""Training data: texts and queries of a data set or an index, held-out parts, metrics."""
