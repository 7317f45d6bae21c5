"""The sheets of words that very many names have, kept beside the index file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import FIELD_WEIGHTS

Rows = NDArray[np.intp]

_WEIGHTS = np.array(
    [
        reduce(
            lambda total, field: total + np.float32(FIELD_WEIGHTS[field] * (marks >> field & 1)),
            range(len(FIELD_WEIGHTS)),
            np.float32(0),
        )
        for marks in range(1 << len(FIELD_WEIGHTS))
    ],
    dtype=np.float32,
)  # by the fields that have a word


@dataclass(frozen=True, slots=True, eq=False)
class CommonWords:
    """Postings of common words, as they were when they were written.

    Attributes:
        places: Number of each word.
        starts: Where the postings of each word begin, and the end, (w + 1,) int64.
        rows: Positions of the sheets with each word, ascending, uint32.
        fields: Which fields of each have it, one bit a field, uint8.
        moved: Present position of each of those sheets; -1 for one that is gone. None if none
            has moved.
    """

    places: Mapping[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    fields: NDArray[np.uint8]
    moved: NDArray[np.int32] | None = None

    def check(self) -> None:
        """Refuse postings that do not fit together.

        Raises:
            ValueError: If they do not.
        """
        whole = (
            len(self.starts) == len(self.places) + 1
            and self.starts[0] == 0
            and self.starts[-1] == len(self.rows) == len(self.fields)
            and bool((np.diff(self.starts) >= 0).all())
        )
        if not whole:
            raise ValueError("the postings of common words do not fit together")

    def find(self, word: str, sheets: int) -> tuple[Rows, FloatArray] | None:
        """Positions of the sheets with a word, and its weighted count; None for another word.

        Args:
            word: The word.
            sheets: Number of sheets; damaged postings of others are passed over.
        """
        place = self.places.get(word)
        if place is None:
            return None
        start, end = self.starts[place : place + 2].tolist()
        rows = self.rows[start:end].astype(np.intp)
        counts = _WEIGHTS[self.fields[start:end] & (len(_WEIGHTS) - 1)]
        bound = sheets if self.moved is None else len(self.moved)
        if len(rows) and (rows[-1] >= bound or (np.diff(rows) <= 0).any()):
            return None  # damaged: the index file has the word as well
        if self.moved is not None:
            rows = self.moved[rows].astype(np.intp)
            there = rows >= 0
            rows, counts = rows[there], counts[there]
        return rows, counts

    def moving(self, moved: NDArray[np.int32]) -> CommonWords:
        """The same words after sheets have moved once more.

        Args:
            moved: New position of each present sheet; -1 for one that is gone.
        """
        if self.moved is None:
            return replace(self, moved=moved)
        earlier = np.where(self.moved < 0, np.int32(-1), moved[self.moved])
        return replace(self, moved=earlier)
