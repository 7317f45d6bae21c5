"""Labelled questions: which sheets answer them, read from files."""

from sat_retriever.datasets.labels.own import load_labels
from sat_retriever.datasets.labels.query import Query

__all__ = ["Query", "load_labels"]
