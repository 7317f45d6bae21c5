"""Compare the times of many sheets with the times that a question asks for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sat_retriever.text.period.spans import Span

# First and last year, first and last month, and 1 if fiscal, for each sheet: (n, 5).
Times = NDArray[np.int16]
INSIDE, OPEN, OUTSIDE = 1, 0, -1


def unpacked(numbers: ArrayLike) -> Times:
    """Unpack the numbers that `sheet.packed` made into the table of sheets' times, (n, 5).

    >>> unpacked([202420240709, -202420240112, 0]).tolist()
    [[2024, 2024, 7, 9, 0], [2024, 2024, 1, 12, 1], [0, 0, 0, 0, 0]]
    """
    signed = np.asarray(numbers, dtype=np.int64)
    whole = np.abs(signed)
    parts = (whole // 10**8, whole // 10**4 % 10**4, whole // 100 % 100, whole % 100, signed < 0)
    return np.stack(parts, axis=1).astype(np.int16)


def relation(times: Times, asked: Sequence[Span]) -> NDArray[np.int8]:
    """Classify each sheet's time, (n,): INSIDE a requested stretch, OUTSIDE all, or OPEN.

    OPEN means that the time is unknown, or that only a part of it is requested. A fiscal year
    also covers an unknown part of the calendar year before it.

    Args:
        times: Times of n sheets, (n, 5).
        asked: Requested stretches of time, at least one.
    """
    inside = np.zeros(len(times), dtype=np.bool_)
    near = times[:, 3] == 0
    first_year, last_year, first_month, last_month, fiscal = times.T
    begun = first_year - fiscal
    for span in asked:
        years = months_alone = span.first_year == 0
        within = (first_month >= span.first_month) & (last_month <= span.last_month)
        touching = (first_month <= span.last_month) & (last_month >= span.first_month)
        if not months_alone:
            within &= (first_year >= span.first_year) & (last_year <= span.last_year)
            years = (begun <= span.last_year) & (last_year >= span.first_year)
        inside |= within  # an unknown time never matches: its months are 0
        near |= (touching | (fiscal > 0)) & (years | (first_year == 0))
    found = np.where(inside, INSIDE, np.where(near, OPEN, OUTSIDE))
    return found.astype(np.int8)


def overlapping(times: Times, asked: Sequence[Span]) -> NDArray[np.bool_]:
    """Return True for each sheet, (n,), whose known time has a part in a requested stretch.

    A month of an unknown year overlaps only a stretch without years.

    Args:
        times: Times of n sheets, (n, 5).
        asked: Requested stretches of time, at least one.

    >>> asked = [Span(2024, 2024, 1, 3)]
    >>> overlapping(unpacked([202420240112, 202420240404, 202320230112, 303, 0]), asked).tolist()
    [True, False, False, False, False]
    """
    months_alone = [span for span in asked if not span.first_year]
    dated = [span for span in asked if span.first_year]
    found = np.zeros(len(times), dtype=np.bool_)
    if dated:
        found |= (times[:, 0] > 0) & (relation(times, dated) != OUTSIDE)
    if months_alone:
        found |= (times[:, 3] > 0) & (relation(times, months_alone) != OUTSIDE)
    return found


def elsewhere(times: Times, asked: Sequence[Span]) -> bool:
    """True if at least one sheet is dated and every dated sheet lies outside the stretches.

    If all stretches have years, a month of an unknown year does not count as dated.

    Args:
        times: Times of n sheets, (n, 5).
        asked: Requested stretches of time, at least one.
    """
    dated = times[times[:, 0 if all(span.first_year for span in asked) else 3] > 0]
    return len(dated) > 0 and bool((relation(dated, asked) == OUTSIDE).all())
