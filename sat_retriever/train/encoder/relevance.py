"""Mark the relevant sheets of questions among some sheets, without a table of all sheets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray


def places_of(
    rows: NDArray[np.int64], sheets: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the places of some rows among sheets, and which of the rows are there at all.

    Args:
        rows: The rows to find.
        sheets: Rows of the sheets, ascending, at least one.

    Returns:
        Places of those that are there, and a mark for each of the rows.

    >>> places_of(np.array([7, 3, 4]), np.array([3, 7]))
    (array([1, 0]), array([ True,  True, False]))
    """
    places = np.searchsorted(sheets, rows)
    here = sheets[np.minimum(places, len(sheets) - 1)] == rows
    return places[here], here


class Relevance:
    """The relevant sheets of all training questions, as one flat array.

    Args:
        positives: Rows of the relevant sheets of each question.
    """

    def __init__(self, positives: Sequence[Sequence[int]]) -> None:
        self._starts = np.cumsum([0, *map(len, positives)])
        self._rows = np.array([row for rows in positives for row in rows], dtype=np.int64)

    def among(
        self, items: NDArray[np.int64], sheets: NDArray[np.int64], device: torch.device
    ) -> torch.Tensor:
        """Return which of s sheets are relevant for each of b questions, (b, s) bool.

        Only the places of the relevant ones are copied to the device.

        Args:
            items: Numbers of the questions.
            sheets: Rows of the sheets, ascending.
            device: Device of the result.

        >>> import torch
        >>> known = Relevance([[4, 1], [2]])
        >>> known.among(np.array([1, 0]), np.array([1, 2, 9]), torch.device("cpu")).tolist()
        [[False, True, False], [True, False, False]]
        """
        found = torch.zeros(len(items), len(sheets), dtype=torch.bool, device=device)
        if not len(sheets):
            return found
        gold = [self._rows[self._starts[item] : self._starts[item + 1]] for item in items]
        questions = np.repeat(np.arange(len(items)), [*map(len, gold)])
        columns, here = places_of(np.concatenate(gold), sheets)
        places = torch.from_numpy(np.stack([questions[here], columns])).to(device)  # (2, r)
        found[places[0], places[1]] = True
        return found
