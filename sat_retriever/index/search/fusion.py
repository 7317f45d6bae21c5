"""Names and contents, words and cosine as one score: how much each counts for a question.

A word counts by the better of its two places, names or contents. What it counts in contents one
fact decides: how much of a question the names of a single sheet cover. Where they cover much, a
sheet is asked for by its name, and names decide; where they cover little, contents do. The cosine
is that of names and contents as one text. An index without contents scores as if there were no
such thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.search.columns import Periods
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.period.relation import INSIDE
from sat_retriever.text.period.spans import Span

# What a word in contents counts, of what it counts in names, where names cover nothing. nDCG@10 on
# the validation sets of real lists changes by less than .01 from .5 to .7 (benchmarks/LOG.md).
WORD_OF_CONTENTS = 0.6
# Most of the cosine in an index with contents, whatever the encoder; .6 differs by less than .01
# on the validation sets of real lists, .7 takes .017 on one of them (benchmarks/LOG.md).
_DENSE_WEIGHT = 0.5
# Share of its score that a sheet keeps if its period lies outside the requested ones; is unknown,
# or only overlaps them; lies within them. Chosen on validation questions (benchmarks/LOG.md).
_TIMES = np.array([0.5, 0.8, 1.0], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Rareness:
    """Sums of the idf of a question's words in names, in contents, and in contents alone."""

    names: float
    contents: float
    contents_alone: float


def word_of_contents(covered: float) -> float:
    """Weight of a word in contents, where one in names has 1; `covered` is `covered_by_names`.

    >>> word_of_contents(0.5)
    0.3
    """
    return WORD_OF_CONTENTS * (1 - covered)


def covered_by_names(best: float, rareness: Rareness) -> float:
    """Most of a question that the names of one sheet cover, in [0, 1].

    `best` is the highest BM25 over names of a sheet, as a share of the best possible.

    >>> covered_by_names(0.5, Rareness(names=3.0, contents=1.0, contents_alone=1.0))
    0.375
    """
    total = rareness.names + rareness.contents_alone
    return best * rareness.names / total if total else 0.0


def dense_weight_with(noted: float, *, contents: bool) -> float:
    """Share of the cosine in scores if a question asks for none, in [0, 1].

    With contents it is 0.5 at most of what the index notes; the cosine alone stays alone.

    >>> [dense_weight_with(noted, contents=True) for noted in (0.2, 0.7, 1.0)]
    [0.2, 0.5, 1.0]
    """
    return noted if noted == 1 or not contents else min(noted, _DENSE_WEIGHT)


# Share of the cosine in the fused score; the rest is BM25's. Chosen on Spider's training
# questions and 1K's validation split (benchmarks/LOG.md).
DENSE_WEIGHT = 0.4


def phrases_first(scores: FloatArray, phrase: NDArray[np.bool_] | None) -> FloatArray:
    """Fused scores (n,) in which sheets that hold a phrase come first, each part in its order.

    >>> phrases_first(np.float32([0.75, -0.5]), np.array([False, True])).tolist()
    [0.25, 0.5]
    """
    return scores if phrase is None else ((scores + 2 * phrase) / 3).astype(np.float32)


def time_factors(periods: Periods, asked: Sequence[Span]) -> FloatArray:
    """Share of each sheet's score that requested periods leave, (n,), in (0, 1].

    All shares are 1 if no sheet lies within a requested period: the query's period is then not one
    of the sheets.
    """
    lies = periods.lying(asked) if asked else None
    if lies is None or not (lies == INSIDE).any():
        return np.ones(len(periods), dtype=np.float32)
    return _TIMES[lies + 1][periods.codes]


def fused(
    dense: FloatArray,
    words: FloatArray,
    held: FloatArray,
    dense_weight: float,
) -> FloatArray:
    """The score that ranks sheets, (n,), in [-1, 1], or lower where it is held back.

    It weighs the cosines by `dense_weight`, in [0, 1], and BM25 as a share of the best possible by
    the rest. Time and role leave each score the share `held`, in (0, 1].
    """
    return held_back(fuse(dense, words, dense_weight), held)


def fuse(dense: FloatArray, lexical: FloatArray, dense_weight: float) -> FloatArray:
    """Convex combination of two scores, (n,), in [-dense_weight, 1].

    A dense weight of 1 gives the cosines themselves, including negative ones.

    >>> fuse(np.float32([0.5, -0.25]), np.float32([1.0, 0.5]), 0.5).tolist()
    [0.75, 0.125]
    """
    share = np.float32(dense_weight)
    return share * dense + (1 - share) * lexical


def held_back(scores: FloatArray, time: FloatArray) -> FloatArray:
    """Scores (n,) held back by factors in (0, 1]; no score rises.

    A score loses the same share of its size whether it is positive or negative, so two sheets with
    equal factors keep their order.

    >>> held_back(np.float32([0.5, -0.5, -0.5]), np.float32([0.5, 0.5, 1.0])).tolist()
    [0.25, -0.75, -0.5]
    """
    return scores * np.where(scores < 0, 2 - time, time)


def probabilities(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Sigmoid of each logit, in [0, 1], without overflow.

    >>> probabilities(np.float32([0.0, -1000.0, 1000.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    near = np.exp(-np.abs(logits.astype(np.float64)))
    found: NDArray[np.float64] = np.where(logits < 0, near, 1.0) / (1 + near)
    return found
