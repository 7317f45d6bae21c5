"""How much cosine, names, contents, time and role of a sheet count: one score of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sat_retriever.records.tokens import FloatArray

# Share of the cosine in the fused score; the rest is BM25's. Chosen on Spider's training
# questions and 1K's validation split (benchmarks/LOG.md).
DENSE_WEIGHT = 0.4
# Share of the contents in BM25's part. nDCG@10 with 0, .2, .3, .4 of it: .552, .555, .541, .520
# on EPS's development questions, .432, .516, .545, .559 on held-out tables of
# WikiTableQuestions' training part.
CONTENTS_WEIGHT = 0.3
# Share of its score that a sheet keeps which only explains others, unless that is asked for.
# nDCG@10 on EPS's development questions with 1, .9, .8, .7, .6: .480, .529, .552, .552, .552.
DOCUMENTATION = 0.7


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides how much each score counts for a question.

    Attributes:
        dense_weight: Share of the cosine, in [0, 1].
        contents: True if the contents of a sheet have a word of it.
    """

    dense_weight: float
    contents: bool = False


def fused(
    dense: FloatArray, names: FloatArray, contents: FloatArray, held: FloatArray, facts: Facts
) -> FloatArray:
    """The score that ranks sheets, shape (n,), in [-1, 1], or lower where it is held back.

    Where no contents have a word of the question, names count as if there were no contents.

    Args:
        dense: Cosines, shape (n,).
        names: BM25 over names as a share of the best possible, shape (n,).
        contents: BM25 over contents as a share of the best possible, shape (n,).
        held: Share of its score that time and role leave a sheet, shape (n,), in (0, 1].
        facts: What is known of the question.
    """
    words = names
    if facts.contents:
        share = np.float32(CONTENTS_WEIGHT)
        words = (1 - share) * names + share * contents
    return held_back(fuse(dense, words, facts.dense_weight), held)


def fuse(dense: FloatArray, lexical: FloatArray, dense_weight: float) -> FloatArray:
    """Convex combination of the two scores, shape (n,), in [-dense_weight, 1].

    A dense weight of 1 gives the cosines themselves, the negative ones too.

    >>> fuse(np.float32([0.5, -0.25]), np.float32([1.0, 0.5]), 0.5).tolist()
    [0.75, 0.125]
    """
    share = np.float32(dense_weight)
    return share * dense + (1 - share) * lexical


def held_back(scores: FloatArray, time: FloatArray) -> FloatArray:
    """Scores after the times that a query names, shape (n,); none of them rises.

    A score loses the same share of its size whether it is positive or negative, so that of two
    sheets with equal factors the better one stays better.

    Args:
        scores: Fused scores, shape (n,).
        time: Factors as of `time_factors`, shape (n,), in (0, 1].

    >>> held_back(np.float32([0.5, -0.5, -0.5]), np.float32([0.5, 0.5, 1.0])).tolist()
    [0.25, -0.75, -0.5]
    """
    return scores * np.where(scores < 0, 2 - time, time)
