"""Probability that the sheets searched hold an answer, from the evidence of a search.

It is a logistic regression of two numbers. Neither is a fused score, so that it stays valid if
scores are mixed otherwise. No weight is below 0: more evidence never lowers the probability. The
weights were fitted on open questions of corpora with and without contents. Each was asked of the
sheets that answer it, of the same sheets without those, and of other corpora.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path

from sat_retriever.index.search.scores import Evidence


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights that turn evidence into a probability."""

    intercept: float  # log-odds without any evidence
    fit: float
    surprise: float
    least: float  # probability from which on an answer needs no warning

    def probability(self, evidence: Evidence) -> float:
        """Probability that the sheets hold an answer, in (0, 1).

        >>> Calibration(0.0, 1.0, 0.5, 0.1).probability(Evidence(1.0, -2.0))
        0.5
        """
        odds = self.intercept + self.fit * evidence.fit + self.surprise * evidence.surprise
        return 1 / (1 + exp(-min(max(odds, -30.0), 30.0)))


@cache
def calibration() -> Calibration:
    """The weights that `python -m benchmarks run nothing --fit` wrote."""
    text = Path(__file__).with_name("confidence.json").read_text(encoding="utf-8")
    return Calibration(**json.loads(text)["calibration"])
