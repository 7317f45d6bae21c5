"""How the times of many sheets lie to those that a question names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sat_retriever.period.periods import SheetPeriod
from sat_retriever.period.spans import Span, span_of

Times = NDArray[np.int16]  # first and last year, first and last month of each sheet, (n, 4)
INSIDE, OPEN, OUTSIDE = 1, 0, -1


def packed(period: SheetPeriod | None) -> int:
    """A period's months as one number for a file; 0 for none.

    >>> from sat_retriever.period.periods import Grain
    >>> packed(SheetPeriod("sales", Grain.QUARTER, 2024, 3, "2024 Q3")), packed(None)
    (202420240709, 0)
    """
    if period is None:
        return 0
    span = span_of(period)
    years = span.first_year * 10_000 + span.last_year
    return years * 10_000 + span.first_month * 100 + span.last_month


def unpacked(numbers: ArrayLike) -> Times:
    """The table of sheets' times from what `packed` made of each, (n, 4).

    >>> unpacked([202420240709, 0]).tolist()
    [[2024, 2024, 7, 9], [0, 0, 0, 0]]
    """
    whole = np.asarray(numbers, dtype=np.int64)
    columns = (whole // 10**8, whole // 10**4 % 10**4, whole // 100 % 100, whole % 100)
    return np.stack(columns, axis=1).astype(np.int16)


def relation(times: Times, asked: Sequence[Span]) -> NDArray[np.int8]:
    """Where each sheet's time lies, (n,): inside a stretch asked for, outside all, or else 0.

    Else is: its time is not known, or only a part of it is asked for.

    Args:
        times: Of n sheets.
        asked: Stretches of time, at least one.
    """
    known = times[:, 3] > 0
    inside = np.zeros(len(times), dtype=np.bool_)
    near = ~known
    first_year, last_year, first_month, last_month = times.T
    for span in asked:
        years = months_alone = span.first_year == 0
        within = (first_month >= span.first_month) & (last_month <= span.last_month)
        touching = (first_month <= span.last_month) & (last_month >= span.first_month)
        if not months_alone:
            within &= (first_year >= span.first_year) & (last_year <= span.last_year)
            years = (first_year <= span.last_year) & (last_year >= span.first_year)
        inside |= known & within
        near |= touching & (years | (first_year == 0))
    found = np.where(inside, INSIDE, np.where(near, OPEN, OUTSIDE))
    return found.astype(np.int8)
