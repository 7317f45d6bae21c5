"""The months that sheets are about, packed for the index's file, and compared with a question's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.period.periods import Grain, period_of
from sat_retriever.text.period.question import asked_spans
from sat_retriever.text.period.spans import Span, span_of

_SHORT = frozenset({Grain.DAY, Grain.WEEK, Grain.MONTH_WEEK})  # shorter than a month
_SO_FAR = re.compile(r"(?<![^\W_])(?:ytd|to date|months to)(?![^\W_])", re.IGNORECASE)


def months_of(record: SheetRecord) -> int:
    """Read all months that a sheet's names mention, packed; 0 if none. Negative if fiscal.

    A sheet of several times ("2022 vs 2023", "Jan, Feb, Mar 2024", "YTD Mar 2024") is about all
    months from the first to the last. Its period, which defines its siblings, is the first one.

    >>> months_of(SheetRecord("", "Q1-Q3 2024")), months_of(SheetRecord("", "FY2024"))
    (202420240109, -202420240112)
    """
    period = period_of(record)
    if period is None:
        return 0
    span = span_of(period)
    named = tuple(each for each in asked_spans(record.sheet) if not _year_of(each, span))
    if named and period.grain not in _SHORT:
        span = _hull(span, named)
    if _SO_FAR.search(record.sheet):
        span = replace(span, first_month=1)
    return packed(span, fiscal=period.label.startswith("FY"))


def _year_of(named: Span, span: Span) -> bool:
    """True if a stretch is only the year of another one: "2024" in "2024_03"."""
    years = {named.first_year, named.last_year, span.first_year, span.last_year}
    return named.whole_years and len(years) == 1


def packed(span: Span, *, fiscal: bool = False) -> int:
    """Pack a stretch into one number: its years, then its months; negative for fiscal years.

    >>> packed(Span(2024, 2024, 7, 9))
    202420240709
    """
    years = span.first_year * 10_000 + span.last_year
    number = years * 10_000 + span.first_month * 100 + span.last_month
    return -number if fiscal else number


def _hull(span: Span, named: tuple[Span, ...]) -> Span:
    """Return the shortest stretch that contains a period and all stretches of the sheet's name."""
    parts = [span]
    for other in named:
        in_year = replace(other, first_year=span.first_year, last_year=span.last_year)
        parts.append(other if other.first_year else in_year)
    first, last = min(p.first_year for p in parts), max(p.last_year for p in parts)
    if not span.first_year or first == last:
        months = (min(p.first_month for p in parts), max(p.last_month for p in parts))
        return Span(first, last, *months)
    return Span(first, last)


# First and last year, first and last month, and 1 if fiscal, for each sheet: (n, 5).
Times = NDArray[np.int16]
INSIDE, OPEN, OUTSIDE = 1, 0, -1


def unpacked(numbers: ArrayLike) -> Times:
    """Unpack the numbers that `packed` made into the table of sheets' times, (n, 5).

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
    """
    dated = times[times[:, 0 if all(span.first_year for span in asked) else 3] > 0]
    return len(dated) > 0 and bool((relation(dated, asked) == OUTSIDE).all())
