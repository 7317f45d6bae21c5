"""Pack the months that a sheet is about into one number for the index's file."""

from __future__ import annotations

import re
from dataclasses import replace

from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.period.periods import Grain, SheetPeriod, period_of
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
    return packed(span, fiscal=_fiscal(period))


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


def _fiscal(period: SheetPeriod) -> bool:
    return period.label.startswith("FY")
