"""Choose the share of the best score above which candidates form a complete answer."""

from __future__ import annotations

import numpy as np

from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.reranker.candidaterows import candidate_order
from sat_retriever.train.reranker.candidatesets import CandidateSets

_MOST_SHEETS = 20  # most sheets in a complete answer
_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 20))  # .05 ... .95


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
