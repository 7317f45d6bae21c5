"""Rows to weights, and weights to figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.nothing.asking import ANSWERED, Kind, Row
from sat_retriever.answer.confidence import Calibration

Array = NDArray[np.float64]
ALLOWED = 0.02  # of the right answers that may stand under the message
# Share of each way of asking in what is fitted on. As many questions have an answer as not.
SHARES: Mapping[Kind, float] = {
    "own": 0.35, "few": 0.15, "foreign": 0.25, "removed": 0.15, "few_removed": 0.1,
}  # fmt: skip
_PENALTY = 1e-3  # of squared weights, against weights without bound
_STEPS = 50


def fitted(corpora: Sequence[Sequence[Row]], least: float = 0.0) -> Calibration:
    """Weights by logistic regression; every corpus counts the same, no weight is below 0.

    Questions that the five best sheets do not answer are left out: nobody can say whether
    their index holds an answer that is out of reach.

    Args:
        corpora: Rows of each corpus.
        least: Probability from which on an answer needs no warning.
    """
    numbers, answers, weights = [], [], []
    for rows in corpora:
        for kind, share in SHARES.items():
            own = [row for row in rows if row.kind == kind and (row.right or kind == "foreign")]
            numbers += [_numbers(row) for row in own]
            answers += [kind in ANSWERED] * len(own)
            weights += [share / max(1, len(own))] * len(own)
    found = _regression(np.array(numbers), np.array(answers, dtype=float), np.array(weights))
    intercept, fit, surprise = (round(float(each), 4) for each in found)
    return Calibration(intercept, fit, surprise, least)


def _regression(numbers: Array, answers: Array, weights: Array) -> Array:
    """Intercept and weights by Newton's method; a weight that falls below 0 stays 0."""
    values = np.column_stack([np.ones(len(numbers)), numbers])
    weights = weights / weights.sum()
    free = np.ones(values.shape[1], dtype=bool)
    while True:
        found = np.zeros(values.shape[1])
        for _ in range(_STEPS):
            x = values[:, free]
            likely = 1 / (1 + np.exp(-np.clip(x @ found[free], -30, 30)))
            penalty = _PENALTY * np.eye(x.shape[1])
            slope = x.T @ (weights * (answers - likely)) - penalty @ found[free]
            bend = (x * (weights * likely * (1 - likely))[:, None]).T @ x + penalty
            found[free] += np.linalg.solve(bend, slope)
        below = (found < 0) & (np.arange(len(found)) > 0)
        if not below.any():
            return found
        free &= ~below


def least_for(corpora: Sequence[Sequence[Row]], calibration: Calibration) -> float:
    """The highest probability that at most 2 % of the right answers of each corpus are below."""
    cuts = []
    for rows in corpora:
        right = sorted(_sure(rows, "own", calibration, right=True))
        cuts.append(right[math.floor(ALLOWED * len(right))])
    return math.floor(min(cuts) * 1000) / 1000


def figures(rows: Sequence[Row], own: Calibration, apart: Calibration) -> dict[str, float | int]:
    """All that is reported of one corpus.

    Args:
        rows: Its rows.
        own: The weights that are used.
        apart: Weights that were fitted without this corpus and its kin.
    """
    found: dict[str, float | int] = {"questions": sum(row.kind == "own" for row in rows)}
    for kind in ("foreign", "removed", "book_removed"):
        if any(row.kind == kind for row in rows):
            found[f"AUROC_{kind}"] = _auroc(_sure(rows, "own", apart), _sure(rows, kind, apart))
    found["AUROC_removed_found"] = _auroc(
        _sure(rows, "own", apart, right=True), _sure(rows, "removed", apart, right=True)
    )
    found["AUROC_few_removed"] = _auroc(
        _sure(rows, "few", apart), _sure(rows, "few_removed", apart)
    )
    found["warned_right"] = _below(_sure(rows, "own", own, right=True), own.least)
    for kind in ("own", "foreign", "removed", "few", "few_removed"):
        found[f"warned_{kind}"] = _below(_sure(rows, kind, own), own.least)
    found["calibration_error"] = calibration_error(rows, own)
    return found


def calibration_error(rows: Sequence[Row], calibration: Calibration) -> float:
    """Mean distance of probability and share of answers over ten equal steps of probability.

    Every way of asking counts as much as in the fit.
    """
    error = 0.0
    kept = [
        (calibration.probability(row.evidence), float(row.kind in ANSWERED), share / max(1, many))
        for kind, share in SHARES.items()
        for own in [[x for x in rows if x.kind == kind and (x.right or kind == "foreign")]]
        for many in [len(own)]
        for row in own
    ]
    sure, answers, weights = (np.array(each) for each in zip(*kept, strict=True))
    for step in range(10):
        within = (sure * 10).astype(int).clip(max=9) == step
        error += abs(float((weights[within] * (sure[within] - answers[within])).sum()))
    return error / float(weights.sum())


def _numbers(row: Row) -> tuple[float, float]:
    return row.evidence.fit, row.evidence.surprise


def _sure(
    rows: Sequence[Row], kind: str, calibration: Calibration, *, right: bool = False
) -> list[float]:
    """Probabilities of the rows of a kind; only of those answered right, if `right`."""
    own = (row for row in rows if row.kind == kind and (row.right or not right))
    return [calibration.probability(row.evidence) for row in own]


def _below(sure: Sequence[float], least: float) -> float:
    return sum(each < least for each in sure) / max(1, len(sure))


def _auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Share of pairs in which the first is higher; a tie counts half.

    >>> _auroc([0.9, 0.5], [0.5, 0.1])
    0.875
    """
    ordered = np.sort(np.array(lower))
    left = np.searchsorted(ordered, higher, side="left")
    right = np.searchsorted(ordered, higher, side="right")
    return float((left + right).mean() / 2 / max(1, len(ordered)))
