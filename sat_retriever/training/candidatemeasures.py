"""How well logits rank the candidates of questions, fast enough for every epoch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray
from sat_retriever.training.candidatesets import CandidateSets

_TOP = 5  # the paper's k
_WIDE = 10  # Spider's
_HARD = "HN-FPR@1"
_MOST_SHEETS = 20  # of a complete answer
_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 20))  # .05 ... .95
Values = NDArray[np.float64]


def question_measures(sets: CandidateSets, logits: FloatArray) -> dict[str, Values]:
    """Each metric of each question, (b,), when candidates are ranked by logits.

    Equal logits come in the order of sheet ids. Relevant sheets that are no candidates count
    as missed. HN-FPR@1 is NaN for a question without annotated hard negatives.

    Source: paper, section 4 (metrics), as `sat_retriever.metrics` has them.

    Args:
        sets: The questions.
        logits: Of each candidate, (b, k); what stands where there is none does not matter.
    """
    order = _order(sets, logits)
    hits = np.take_along_axis(sets.relevant, order, axis=1)
    top, wide = hits[:, :_TOP], hits[:, :_WIDE]
    first_hard = np.take_along_axis(sets.hard, order[:, :1], axis=1)[:, 0]
    return {
        "NDCG@5": _ndcg(top, sets.positives, _TOP),
        "Recall@5": top.sum(axis=1) / sets.positives,
        "Hit@5": top.any(axis=1).astype(np.float64),
        "MRR@5": np.where(top.any(axis=1), 1 / (top.argmax(axis=1) + 1), 0.0),
        _HARD: np.where(sets.judged, first_hard.astype(np.float64), np.nan),
        "NDCG@10": _ndcg(wide, sets.positives, _WIDE),
        "Recall@10": wide.sum(axis=1) / sets.positives,
        "all-relevant@10": (wide.sum(axis=1) == sets.positives).astype(np.float64),
    }


def measures(sets: CandidateSets, logits: FloatArray) -> dict[str, float]:
    """Mean of each metric over the questions; HN-FPR@1 is absent where none is judged."""
    found = question_measures(sets, logits)
    if not sets.judged.any():
        del found[_HARD]
    return {name: float(np.nanmean(values)) for name, values in found.items()}


def complete_share(sets: CandidateSets, logits: FloatArray) -> float:
    """Share of the best score that gives the best complete answers, in (0, 1).

    The score is the sigmoid of the logit; an answer is every candidate that has that share of
    the question's best, 20 at most. The best mean F1 wins; of equals the higher share, which
    gives shorter answers.
    """
    order = _order(sets, logits)
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


def _order(sets: CandidateSets, logits: FloatArray) -> NDArray[np.intp]:
    """Places of candidates, best first, (b, k); those where there is none last."""
    falling = np.where(sets.rows >= 0, -logits.astype(np.float64), np.inf)
    order: NDArray[np.intp] = np.lexsort((sets.rows, falling), axis=1)  # the last key counts most
    return order


def _ndcg(hits: NDArray[np.bool_], positives: NDArray[np.int64], k: int) -> Values:
    discounts = 1 / np.log2(np.arange(k) + 2)  # (k,)
    ideal = np.cumsum(discounts)[np.minimum(positives, k) - 1]  # (b,)
    gains: Values = (hits * discounts[: hits.shape[1]]).sum(axis=1)
    found: Values = gains / ideal
    return found
