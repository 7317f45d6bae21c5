"""Spans of days that sheets cover, compared for columns that may refer to each other."""

from __future__ import annotations

from sat_retriever.text.period.periods import Grain, SheetPeriod

Days = tuple[int, int]
_MONTH = 31  # days; all months have equal length, so that no calendar is needed
_YEAR = 12 * _MONTH


def span_of(period: SheetPeriod | None) -> Days | None:
    """First and last day of a period, counted in months of 31 days; None without one.

    A period without a year gives days of the year 0.

    >>> span_of(SheetPeriod("", Grain.QUARTER, 1, 2, "")), span_of(None)
    ((465, 557), None)
    """
    if period is None:
        return None
    first, last = _in_year(period)
    year = period.year * _YEAR
    start = period.part * _YEAR if period.grain is Grain.YEARS else year
    return start + first, year + last


def _in_year(period: SheetPeriod) -> Days:
    """First and last day within the year."""
    month, rest = divmod(period.part, 100)
    match period.grain:
        case Grain.HALF | Grain.QUARTER | Grain.MONTH:
            months = {Grain.HALF: 6, Grain.QUARTER: 3, Grain.MONTH: 1}[period.grain]
            return (period.part - 1) * months * _MONTH, period.part * months * _MONTH - 1
        case Grain.MONTHS:
            return (month - 1) * _MONTH, rest * _MONTH - 1
        case Grain.WEEK:
            return 7 * (period.part - 1), min(7 * period.part, _YEAR) - 1
        case Grain.MONTH_WEEK:
            first = (month - 1) * _MONTH + 7 * (rest - 1)
            return first, min(first + 6, month * _MONTH - 1)
        case Grain.DAY:
            day = (month - 1) * _MONTH + rest - 1
            return day, day
    return 0, _YEAR - 1


def within(part: Days | None, whole: Days | None) -> bool:
    """True if a span lies within another one, or if either is None.

    >>> within((372, 743), (372, 743)), within((372, 743), (372, 402))
    (True, False)
    """
    if part is None or whole is None:
        return True
    if whole[0] < _YEAR or part[0] < _YEAR:  # one of them has no year
        if whole[1] - whole[0] >= _YEAR - 1:
            return True
        part, whole = (_yearless(part), _yearless(whole))
    return whole[0] <= part[0] and part[1] <= whole[1]


def _yearless(span: Days) -> Days:
    first = span[0] % _YEAR
    return first, first + span[1] - span[0]
