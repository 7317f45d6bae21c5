"""Measure candidate sets ranked by logits, and choose where a complete answer ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sat_retriever.datasets.metrics.rows import Rows
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.data.trainingdata import defined_metrics
from sat_retriever.train.reranker.candidatesets import CandidateSets

CANDIDATE_METRICS = (
    "NDCG@5", "Recall@5", "Hit@5", "MRR@5", "HN-FPR@1", "NDCG@10", "Recall@10", "AllRelevant@10",
)  # fmt: skip
_MOST_SHEETS = 20  # most sheets in a complete answer
_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 20))  # .05 ... .95


def candidate_metrics(sets: CandidateSets, logits: FloatArray) -> dict[str, float]:
    """Return means over the questions with candidates ranked by logits."""
    return defined_metrics(candidate_rows(sets, logits), CANDIDATE_METRICS)


def candidate_rows(sets: CandidateSets, logits: FloatArray) -> Rows:
    """Return one row a question, with candidates ranked by logits, (b, k).

    Ties are in the order of sheet ids. Relevant sheets that are not candidates count as missed.
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
    """Return the places of candidates, best first, (b, k); padding comes last."""
    falling = np.where(sets.rows >= 0, -logits.astype(np.float64), np.inf)
    order: NDArray[np.intp] = np.lexsort((sets.rows, falling), axis=1)  # the last key has priority
    return order


def complete_share(sets: CandidateSets, logits: FloatArray) -> float:
    """Return the share of the best score that gives the best complete answers, in (0, 1).

    The score is the sigmoid of the logit. An answer holds the candidates with at least that share
    of the question's best score, at most 20. The share with the best mean F1 wins; among equals
    the higher one, which gives shorter answers.
    """
    order = candidate_order(sets, logits)
    hits = np.take_along_axis(sets.relevant, order, axis=1)[:, :_MOST_SHEETS]
    ranked = np.take_along_axis(np.where(sets.rows >= 0, logits, -np.inf), order, axis=1)
    scores = (1 / (1 + np.exp(-ranked.astype(np.float64))))[:, :_MOST_SHEETS]
    means = []
    for share in _SHARES:
        taken = (scores >= share * scores[:, :1]) & np.isfinite(ranked[:, :_MOST_SHEETS])
        right = (hits & taken).sum(axis=1)
        means.append(float((2 * right / (taken.sum(axis=1) + sets.positives)).mean()))
    best = max(zip(means, _SHARES, strict=True))
    return best[1]
