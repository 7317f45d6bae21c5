"""Metrics of validation questions in training, by the scorer that reports use."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from sat_retriever.metrics.rows import Rows, metrics_of, row_of
from sat_retriever.records.tokens import FloatArray
from sat_retriever.training.candidatesets import CandidateSets
from sat_retriever.training.data import Questions
from sat_retriever.training.mining import NO_SHEET

CANDIDATE_METRICS = (
    "NDCG@5", "Recall@5", "Hit@5", "MRR@5", "HN-FPR@1", "NDCG@10", "Recall@10", "AllRelevant@10",
)  # fmt: skip


def ranked_metrics(
    ranked: NDArray[np.int64], questions: Questions, names: Collection[str]
) -> dict[str, float]:
    """Means over the questions, each in [0, 1]; a metric that no question defines is left out.

    Args:
        ranked: Rows of sheets of each question, best first, (m, k), filled up with `NO_SHEET`.
        questions: The questions with relevant sheets and hard negatives.
        names: The metrics, of `sat_retriever.metrics.rows`.
    """
    labels = zip(questions.positives, questions.hard_negatives, strict=True)
    rows = [
        row_of(place, [row for row in found if row != NO_SHEET], gold, hard)
        for place, (found, (gold, hard)) in enumerate(zip(ranked.tolist(), labels, strict=True))
    ]
    return _defined(rows, names)


def candidate_metrics(sets: CandidateSets, logits: FloatArray) -> dict[str, float]:
    """Means over the questions when candidates are ranked by logits; see `candidate_rows`."""
    return _defined(candidate_rows(sets, logits), CANDIDATE_METRICS)


def candidate_rows(sets: CandidateSets, logits: FloatArray) -> Rows:
    """One row a question when candidates are ranked by logits.

    Equal logits come in the order of sheet ids. Relevant sheets that are no candidates count
    as missed.

    Args:
        sets: The questions.
        logits: Of each candidate, (b, k); what stands where there is none does not matter.
    """
    order = candidate_order(sets, logits)
    hits = np.take_along_axis(sets.relevant, order, axis=1)
    first_hard = np.take_along_axis(sets.hard, order[:, :1], axis=1)[:, 0].tolist()
    return [
        {
            "query": place,
            "relevant": int(sets.positives[place]),
            "hits": (np.flatnonzero(found) + 1).tolist(),
            "hard": first_hard[place] if sets.judged[place] else None,
        }
        for place, found in enumerate(hits)
    ]


def candidate_order(sets: CandidateSets, logits: FloatArray) -> NDArray[np.intp]:
    """Places of candidates, best first, (b, k); those where there is none last."""
    falling = np.where(sets.rows >= 0, -logits.astype(np.float64), np.inf)
    order: NDArray[np.intp] = np.lexsort((sets.rows, falling), axis=1)  # the last key counts most
    return order


def _defined(rows: Rows, names: Collection[str]) -> dict[str, float]:
    found = metrics_of(rows, names)
    return {name: value for name, value in found.items() if value is not None}
