"""Compute all metrics: a run of rankings in, one row a question and every metric out."""

from sat_retriever.datasets.metrics.comparison import Difference, paired_bootstrap
from sat_retriever.datasets.metrics.ranking import (
    all_relevant,
    hit,
    mean,
    ndcg,
    oracle_recall,
    recall,
    reciprocal_rank,
)

__all__ = [
    "Difference",
    "all_relevant",
    "hit",
    "mean",
    "ndcg",
    "oracle_recall",
    "paired_bootstrap",
    "recall",
    "reciprocal_rank",
]
