"""Names and contents, words and cosine as one score: how much each counts for a question.

One fact decides: how much of a question the names of a single sheet cover. Where they cover
much, a sheet is asked for by its name, and names decide; where they cover little, contents do.
Sheets without contents score as if there were none anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import WordScores

# Chosen on WikiTableQuestions' training tables, with titles and without, and on the development
# questions of eps (benchmarks/LOG.md).
_WORDS_OF_CONTENTS = 1.5
_COSINE_OF_CONTENTS = 0.8
_DENSE_WEIGHT = 0.4  # where all sheets have contents, whatever the encoder


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """How much each part of a score counts for one question.

    Attributes:
        dense: Share of the cosine, in [0, 1]; the rest is the words'.
        contents: Share of the contents in the cosine, in [0, 0.8].
        words: Weight of a word by all fields against the same word by names alone, in [0, 1.5];
            of the two the larger counts.
    """

    dense: float
    contents: float
    words: float


def fusion_weights(covered: float, dense_weight: float, with_contents: float) -> FusionWeights:
    """The weights for one question.

    Args:
        covered: What `covered_by_names` gives for it, in [0, 1].
        dense_weight: Share of the cosine where no sheet has contents, in [0, 1].
        with_contents: Share of the sheets that have contents, in [0, 1].

    >>> fusion_weights(0.5, 0.7, 1.0)
    FusionWeights(dense=0.4, contents=0.4, words=0.75)
    >>> fusion_weights(0.5, 0.7, 0.0).dense
    0.7
    """
    return FusionWeights(
        dense=dense_weight + with_contents * (_DENSE_WEIGHT - dense_weight),
        contents=_COSINE_OF_CONTENTS * (1 - covered),
        words=_WORDS_OF_CONTENTS * (1 - covered),
    )


def covered_by_names(
    names: Sequence[WordScores], everything: Sequence[WordScores], num_sheets: int
) -> float:
    """Most of a question that the names of one sheet cover, in [0, 1].

    A word counts as much as it can give by all fields, and is covered as far as the sheet's
    score for it, by names, comes to the most that names can give.

    Args:
        names: Each word of the question, scored by names alone.
        everything: The same words, in the same order, scored by all fields.
        num_sheets: Number of sheets.
    """
    covered = np.zeros(num_sheets, dtype=np.float32)
    total = 0.0
    for by_name, by_all in zip(names, everything, strict=True):
        if len(by_all.rows):
            total += by_all.limit
        if len(by_name.rows):
            covered[by_name.rows] += by_name.scores * np.float32(by_all.limit / by_name.limit)
    return min(float(covered.max(initial=0.0)) / total, 1.0) if total else 0.0


def word_scores(
    names: Sequence[WordScores],
    everything: Sequence[WordScores],
    num_sheets: int,
    weight: float,
) -> FloatArray:
    """BM25 by names and by all fields as one share of the best possible, (n,), in [0, 1].

    Each word gives the larger of its score by names and `weight` times its score by all
    fields. So a word that is rare in names stays telling though many sheets have it in their
    cells. Without contents both scores are the same, and the result is that of names alone.

    Args:
        names: Each word of the question, scored by names alone.
        everything: The same words, in the same order, scored by all fields: each has the sheets
            that have it in their names, and more.
        num_sheets: Number n of sheets.
        weight: Weight of the score by all fields, 0 or more.
    """
    total = np.zeros(num_sheets, dtype=np.float32)
    limit = 0.0
    for by_name, by_all in zip(names, everything, strict=True):
        if not len(by_all.rows):
            continue
        word = np.float32(weight) * by_all.scores
        named = np.searchsorted(by_all.rows, by_name.rows)
        word[named] = np.maximum(word[named], by_name.scores)
        total[by_all.rows] += word
        limit += max(weight * by_all.limit, by_name.limit if len(by_name.rows) else 0.0)
    return total / np.float32(limit) if limit else total


def cosine_scores(names: FloatArray, contents: FloatArray, share: float) -> FloatArray:
    """Cosine of the question with names and contents of every sheet, (n,), in [-1, 1].

    Args:
        names: Cosine with each sheet's names, shape (n,).
        contents: Cosine with each sheet's contents, shape (n,); NaN for a sheet without any,
            whose names count whole.
        share: Share of the contents, in [0, 1].

    >>> cosine_scores(np.float32([0.5, 0.5]), np.float32([1.0, np.nan]), 0.5).tolist()
    [0.75, 0.5]
    """
    part = np.float32(share)
    mixed: FloatArray = (1 - part) * names + part * contents
    return np.where(np.isnan(contents), names, mixed)
