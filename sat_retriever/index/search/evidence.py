"""What speaks for it that sheets hold an answer to a query: from its scores, in two numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.search.matches import Matches
from sat_retriever.index.search.scores import Scores
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import rarity


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for an answer; more of each speaks more for it.

    Attributes:
        fit: How well the best sheet fits: the share of the query that its words cover, in
            [0, 1], and by how much its cosine exceeds the mean of all sheets, together.
        surprise: How much rarer than by chance a sheet has its words: 0 if one sheet of all
            would have them, were they strewn over the sheets; 1 if one of that many squared
            would.
    """

    fit: float
    surprise: float


NO_EVIDENCE = Evidence(0.0, -1.0)


def evidence(scores: Scores, rows: NDArray[np.intp], counted: int | None = None) -> Evidence:
    """What speaks for an answer among some sheets.

    Args:
        scores: Scores of all n sheets of a snapshot.
        rows: Positions of the sheets that count, ascending.
        counted: Number of sheets that count, if the snapshot is a part of them, with the best.
            How many of them have a word is then taken in proportion from all sheets, and the mean
            cosine is that of all.
    """
    if not len(rows):
        return NO_EVIDENCE
    number = len(rows) if counted is None else counted
    part = None if counted is None else counted / scores.snapshot.sheets
    covered, rare = _words(scores.matches, rows, len(scores.dense), number, part)
    dense = scores.dense[rows]
    mean = dense.mean(dtype=np.float64) if scores.mean is None else scores.mean
    fits = covered[rows] + dense - mean
    best = int(fits.argmax())
    return Evidence(
        fit=float(fits[best]),
        surprise=float(rare[rows[best]]) / float(np.log(max(2, number))) - 1,
    )


def _words(
    matches: Matches, rows: NDArray[np.intp], sheets: int, counted: int, part: float | None
) -> tuple[FloatArray, FloatArray]:
    """What the words of a query say of every sheet, two arrays (n,).

    The first is the share of the query that a sheet covers: each word counts as much as it
    tells by itself (`rarity`), also a word that no sheet has, and is covered as far as the
    sheet's better score for it, by names or by contents, comes to the most possible. A sheet
    that holds a phrase of the query covers all of it. The second is the sum of log(m / df) over
    the words that a sheet has; of m sheets that count df have the word.
    """
    covered, rare = np.zeros((2, sheets), dtype=np.float32)
    share = np.zeros(sheets, dtype=np.float32)  # of one word; zeros between words
    counts = np.zeros(sheets, dtype=np.bool_)
    counts[rows] = True
    total = 0.0
    for word in matches.found:
        telling = rarity(word.word)
        total += telling
        having = word.better(share)
        covered[having] += np.float32(telling) * share[having]
        share[having] = 0
        number = np.count_nonzero(counts[having]) if part is None else word.sheets * part
        rare[having] += np.float32(np.log(counted / max(round(number), 1)))
    if total:
        covered /= np.float32(total)
    if matches.phrase is not None:
        covered[matches.phrase] = 1
    return covered, rare
