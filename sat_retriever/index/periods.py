"""Times of many sheets: each different one once, and which of them every sheet has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.period.relation import Times, overlapping, relation
from sat_retriever.period.spans import Span


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

    def lying(self, asked: Sequence[Span]) -> NDArray[np.int8]:
        """What `relation` gives for every sheet, (n,).

        Args:
            asked: Requested stretches of time, at least one.
        """
        return relation(self.kinds, asked)[self.codes]

    def overlapping(self, asked: Sequence[Span]) -> NDArray[np.bool_]:
        """What `relation.overlapping` gives for every sheet, (n,).

        Args:
            asked: Requested stretches of time, at least one.
        """
        return overlapping(self.kinds, asked)[self.codes]
