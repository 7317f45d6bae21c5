"""Train the feature reranker: lists of candidates, the network, the run folder."""
