"""Read and write labelled queries."""

from sat_retriever.datasets.labels.query import Query
from sat_retriever.datasets.labels.userlabels import load_labels

__all__ = ["Query", "load_labels"]
