"""Compute the losses of Stage 1, and mark which sheets are relevant for which questions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray


def multi_positive_loss(
    cosines: torch.Tensor, relevant: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Return the paper's loss per query: all its relevant sheets together against the others.

    L(q) = −log( Σ_{p ∈ P} exp(cos(q, p) / τ) / Σ_{s ∈ P ∪ N} exp(cos(q, s) / τ) )

    P are the relevant sheets of q among the step's sheets, N are all others of the step. A relevant
    sheet is never a negative. Without negatives the loss and its gradient are 0.

    Source: paper, section 3.3 (contrastive loss).

    Args:
        cosines: Cosines of b queries with the step's s distinct sheets, (b, s) float.
        relevant: (b, s) bool; at least one in each row.
        temperature: τ.

    >>> same = torch.zeros(1, 4)  # two relevant sheets of four, all equally near: −log(2/4)
    >>> multi_positive_loss(same, torch.tensor([[True, True, False, False]]), 0.02)
    tensor([0.6931])
    """
    scores = cosines.float() / temperature
    near = scores.masked_fill(~relevant, -torch.inf).logsumexp(1)
    return scores.logsumexp(1) - near


def single_positive_loss(
    cosines: torch.Tensor, drawn: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Return the released recipe's loss per query: one relevant sheet against all others.

    L(q) = −log( exp(cos(q, p) / τ) / Σ_s exp(cos(q, s) / τ) ), s over all sheets of the step.
    Other relevant sheets of q count as negatives. `drawn` is the column of each query's p, (b,).

    Source: released recipe. Departs: a sheet that two queries bring counts once.

    >>> single_positive_loss(torch.zeros(1, 4), torch.tensor([0]), 0.02)  # −log(1/4)
    tensor([1.3863])
    """
    scores = cosines.float() / temperature
    return torch.nn.functional.cross_entropy(scores, drawn, reduction="none")


class Relevance:
    """The relevant sheets of all training questions, as one flat array."""

    def __init__(self, positives: Sequence[Sequence[int]]) -> None:
        self._starts = np.cumsum([0, *map(len, positives)])
        self._rows = np.array([row for rows in positives for row in rows], dtype=np.int64)

    def among(
        self, items: NDArray[np.int64], sheets: NDArray[np.int64], device: torch.device
    ) -> torch.Tensor:
        """Return which of s sheets are relevant for each of b questions, (b, s) bool.

        `items` are the numbers of the questions, `sheets` rows in ascending order. Only the places
        of the relevant ones are copied to the device.

        >>> known = Relevance([[4, 1], [2]])
        >>> known.among(np.array([1, 0]), np.array([1, 2, 9]), torch.device("cpu")).tolist()
        [[False, True, False], [True, False, False]]
        """
        found = torch.zeros(len(items), len(sheets), dtype=torch.bool, device=device)
        if not len(sheets):
            return found
        gold = [self._rows[self._starts[item] : self._starts[item + 1]] for item in items]
        questions = np.repeat(np.arange(len(items)), [*map(len, gold)])
        rows = np.concatenate(gold)
        columns = np.searchsorted(sheets, rows)
        here = sheets[np.minimum(columns, len(sheets) - 1)] == rows
        places = torch.from_numpy(np.stack([questions[here], columns[here]])).to(device)  # (2, r)
        found[places[0], places[1]] = True
        return found
