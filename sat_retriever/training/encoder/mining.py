"""Find hard negatives: sheets near a question that are not relevant for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray
from sat_retriever.training.data.trainingdata import NO_SHEET

# Cosines in one block; two blocks of 32 MiB are held, whatever the size of the corpus.
_BLOCK = 1 << 23


def nearest_sheets(
    questions: FloatArray, sheets: FloatArray, rows: NDArray[np.int64], depth: int
) -> NDArray[np.int64]:
    """Return the nearest sheets by cosine, best first; ties are in the order of rows.

    Args:
        questions: Tokens of m questions, (m, d), rows of unit length.
        sheets: Tokens of all n sheets, (n, d), rows of unit length.
        rows: Rows of the sheets to rank, ascending; at least one.
        depth: Number of sheets per question.

    Returns:
        Rows of sheets, (m, min(depth, number of ranked sheets)).

    >>> sheets = np.eye(3, dtype=np.float32)
    >>> nearest_sheets(sheets[[2]], sheets, np.array([0, 1, 2]), depth=2)
    array([[2, 0]])
    """
    depth = min(depth, len(rows))
    ranked = np.empty((len(questions), depth), dtype=np.int64)
    among = sheets if len(rows) == len(sheets) else sheets[rows]
    step = max(1, _BLOCK // len(rows))
    for start in range(0, len(questions), step):
        cosines = questions[start : start + step] @ among.T  # (block, r)
        for place, of_one in enumerate(cosines, start):
            ranked[place] = rows[best_places(of_one, depth)]
    return ranked


def best_places(scores: FloatArray, count: int) -> NDArray[np.intp]:
    """Return the places of the highest scores, best first; ties are in the order of places.

    Args:
        scores: Scores of n sheets, (n,).
        count: Number of places, 1 to n.
    """
    bound = np.partition(scores, len(scores) - count)[len(scores) - count]
    found = np.flatnonzero(scores >= bound)  # ascending, so that a stable sort keeps places
    return found[np.argsort(-scores[found], kind="stable")[:count]]


def draw_negatives(
    ranked: NDArray[np.int64],
    positives: Sequence[Sequence[int]],
    count: int,
    choice: Literal["first", "random"],
    seed: tuple[int, ...],
) -> NDArray[np.int64]:
    """Draw hard negatives of each question from its nearest sheets.

    A question may have fewer than `count` or none, if few of its nearest sheets are non-relevant.
    Training goes on; the released recipe silently ends the epoch there.

    Args:
        ranked: Nearest sheets of m questions, (m, depth), best first.
        positives: Rows of the relevant sheets of each question.
        count: Most negatives of a question.
        choice: "first" takes the nearest, "random" draws without replacement.
        seed: Seed of the draws; a question's draw does not depend on the others.

    Returns:
        Rows of sheets, (m, count), padded with `NO_SHEET`.

    >>> draw_negatives(np.array([[4, 2, 7], [1, 2, 3]]), [[4], [1, 2, 3]], 2, "first", (0,))
    array([[ 2,  7],
           [-1, -1]])
    """
    drawn = np.full((len(ranked), count), NO_SHEET, dtype=np.int64)
    for place, (near, relevant) in enumerate(zip(ranked, positives, strict=True)):
        wrong = near[~np.isin(near, relevant)]
        if choice == "random":
            wrong = np.random.default_rng((*seed, place)).permutation(wrong)
        drawn[place, : len(wrong[:count])] = wrong[:count]
    return drawn


def draw_positives(
    positives: Sequence[Sequence[int]], count: int, seed: tuple[int, ...]
) -> NDArray[np.int64]:
    """Draw relevant sheets of each question without replacement.

    Args:
        positives: Rows of the relevant sheets of m questions, at least one each.
        count: Most relevant sheets of a question.
        seed: Seed of the draws; a question's draw does not depend on the others.

    Returns:
        Rows of sheets, (m, count), padded with `NO_SHEET`; the first is always a sheet.

    >>> draw_positives([[3], [5]], 2, seed=(0,))
    array([[ 3, -1],
           [ 5, -1]])
    """
    drawn = np.full((len(positives), count), NO_SHEET, dtype=np.int64)
    for place, rows in enumerate(positives):
        chosen = np.random.default_rng((*seed, place)).permutation(rows)[:count]
        drawn[place, : len(chosen)] = chosen
    return drawn
