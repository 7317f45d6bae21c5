"""Times of many sheets: each different one once, and which of them every sheet has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sat_retriever.text.period.relation import INSIDE, Times, overlapping, relation
from sat_retriever.text.period.spans import Span


@dataclass(frozen=True, slots=True, eq=False)
class Periods:
    """Times of n sheets.

    Attributes:
        kinds: The different times, (u, 5) int16, as in `Times`.
        codes: The place of each sheet's time among them, (n,) int32.
    """

    kinds: Times
    codes: NDArray[np.int32]

    @classmethod
    def of(cls, times: Times) -> Periods:
        """Return the different ones of some times, (n, 5).

        >>> found = Periods.of(np.int16([[2024, 2024, 1, 12, 0], [0] * 5, [2024, 2024, 1, 12, 0]]))
        >>> len(found.kinds), found.codes.tolist()
        (2, [1, 0, 1])
        """
        packed = np.zeros(len(times), dtype=np.int64)
        for column in times.T:
            packed = (
                packed * 10_000 + column if column.max(initial=0) > 12 else packed * 13 + column
            )
        _, first, codes = np.unique(packed, return_index=True, return_inverse=True)
        return cls(times[first], codes.astype(np.int32))

    def __len__(self) -> int:
        """Number of sheets."""
        return len(self.codes)

    def part(self, rows: NDArray[np.intp]) -> Periods:
        """Times of some of the sheets; the different times stay those of all."""
        return Periods(self.kinds, self.codes[rows])

    def of_some(self, rows: NDArray[Any]) -> Times:
        """The different times of some of the sheets, (u, 5).

        Args:
            rows: Their positions, or True for each of them.
        """
        found: Times = self.kinds[np.unique(self.codes[rows])]
        return found

    def extended(self, kept: NDArray[np.bool_], added: Times) -> Periods:
        """Times of the sheets that stay, and of others after them.

        Args:
            kept: True for the sheets that stay, (n,).
            added: Times of the others, (a, 5).
        """
        if kept.all() and not len(added):
            return self
        return Periods.of(np.concatenate((self.kinds[self.codes[kept]], added)))

    def lying(self, asked: Sequence[Span]) -> NDArray[np.int8]:
        """What `relation` gives for each different time, (u,).

        Args:
            asked: Requested stretches of time, at least one.
        """
        return relation(self.kinds, asked)

    def inside(self, asked: Sequence[Span], rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """True for those of some sheets that lie inside a requested stretch, (m,).

        Args:
            asked: Requested stretches of time, at least one.
            rows: Positions of the sheets.
        """
        found: NDArray[np.bool_] = (self.lying(asked) == INSIDE)[self.codes[rows]]
        return found

    def overlapping(self, asked: Sequence[Span]) -> NDArray[np.bool_]:
        """What `relation.overlapping` gives for every sheet, (n,).

        Args:
            asked: Requested stretches of time, at least one.
        """
        return overlapping(self.kinds, asked)[self.codes]
