"""Compute personalised PageRank from every candidate at once, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Walk:
    """The result of walks over links.

    Attributes:
        scores: Expected score at the end of a walk from each sheet, (n,).
        gains: Part of sheet j's rise that came over its step to i, (n, n), row j.
    """

    scores: Matrix
    gains: Matrix


def walk(scores: Matrix, pulls: Matrix, longest: float) -> Walk:
    """Return the scores of sheets after walks over the links to the sheets that pull them.

    A walk starts at a sheet and either goes on to a sheet that pulls it, or ends and reads the
    score there. Row j of the walks' end points is the personalised PageRank of sheet j, whose
    damping is the sum of its pulls. A sheet without a pull keeps its score exactly.

    Source: Page, Brin, Motwani and Winograd (1999); Haveliwala (2002). Departs: each sheet has its
    own damping (equal to one damping for all and a loop at each sheet), and the sum is computed
    backwards, over the seeds' scores, so that one solve serves all sheets.

    Args:
        scores: Stage 1 scores (n,).
        pulls: Entry [j, i] = how strongly i pulls j, (n, n), none negative.
        longest: Largest damping, below 1.

    >>> found = walk(np.array([1.0, 0.2]), np.array([[0, 0], [0.5, 0]]), 0.9)
    >>> found.scores.round(3).tolist(), found.gains[1].round(3).tolist()
    ([1.0, 0.6], [0.4, 0.0])
    """
    total = pulls.sum(axis=1)
    damping = np.minimum(total, longest)
    steps = pulls * (damping / np.where(total > 0, total, 1.0))[:, None]  # (n, n)
    ended = np.linalg.solve(np.eye(len(scores)) - steps, (1 - damping) * scores)
    ended = np.where(total > 0, ended, scores)
    return Walk(ended, steps * (ended[None, :] - scores[:, None]))
