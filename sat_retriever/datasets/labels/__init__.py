"""Read and write labelled queries."""

from sat_retriever.datasets.labels.query import UNANSWERABLE, Query
from sat_retriever.datasets.labels.userlabels import load_labels

__all__ = ["UNANSWERABLE", "Query", "load_labels"]
