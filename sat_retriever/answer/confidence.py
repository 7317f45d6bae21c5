"""How sure an answer is that the sheets searched hold one: a probability from its evidence.

A logistic regression of two numbers, neither of which is a fused score, so another mixture of
scores leaves it as it is. Its weights are none below 0: more evidence never makes an answer less
sure. They were fitted on open questions of corpora with and without contents, asked of the
sheets that answer them, of the same sheets without those, and of other corpora.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp

from sat_retriever.index.search.scores import Evidence


@dataclass(frozen=True, slots=True)
class Calibration:
    """What turns evidence into a probability.

    Attributes:
        intercept: Log-odds without any evidence.
        fit: Weight of `Evidence.fit`.
        surprise: Weight of `Evidence.surprise`.
        least: Probability from which on an answer needs no warning.
    """

    intercept: float
    fit: float
    surprise: float
    least: float

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
    text = files(__package__).joinpath("confidence.json").read_text(encoding="utf-8")
    return Calibration(**json.loads(text)["calibration"])
