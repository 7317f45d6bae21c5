"""Stretches of time named by questions, compared with the periods of sheets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from sat_retriever.text.period.periods import Grain, SheetPeriod

EVER = (1900, 2100)  # first and last year of "before 2018" and "since 2020"
MONTHS = (
    *("", "January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The same months of one or more successive years.

    Attributes:
        first_year: First year; 0 for any year, including an unknown one.
        last_year: Last year, equal to the first for a single year; 0 for any.
        first_month: First month of each year, 1 to 12.
        last_month: Last month of each year, 1 to 12.
    """

    first_year: int
    last_year: int
    first_month: int = 1
    last_month: int = 12

    def covers(self, period: SheetPeriod) -> bool:
        """True if a period lies wholly within the span.

        >>> march = SheetPeriod("payroll", Grain.MONTH, 2024, 3, "2024-03")
        >>> Span(2024, 2024, 1, 3).covers(march), Span(0, 0, 3, 3).covers(march)
        (True, True)
        >>> Span(2023, 2023).covers(march), Span(2024, 2024, 3, 3).covers(march)
        (False, True)
        """
        own = span_of(period)
        if self.first_year and not self.first_year <= own.first_year <= own.last_year:
            return False
        if self.first_year and own.last_year > self.last_year:
            return False
        return self.first_month <= own.first_month and own.last_month <= self.last_month

    @property
    def whole_years(self) -> bool:
        """True if the span consists of whole years."""
        return (self.first_month, self.last_month) == (1, 12)

    @property
    def label(self) -> str:
        """The span in words.

        >>> Span(2023, 2023).label, Span(2019, 2021, 1, 3).label, Span(0, 0, 3, 3).label
        ('2023', 'January to March 2019-2021', 'March')
        >>> Span(EVER[0], 2017).label, Span(2020, EVER[1]).label
        ('2017 or before', '2020 or later')
        """
        months = _run(MONTHS[self.first_month], MONTHS[self.last_month], " to ")
        years = _run(str(self.first_year), str(self.last_year), "-")
        if self.first_year == EVER[0]:
            years = f"{self.last_year} or before"
        elif self.last_year == EVER[1]:
            years = f"{self.first_year} or later"
        parts = ("" if self.whole_years else months, years if self.first_year else "")
        return " ".join(filter(None, parts))


def _run(first: str, last: str, to: str) -> str:
    return first if first == last else f"{first}{to}{last}"


def follows(first: Span, second: Span) -> bool:
    """True if the second span begins in the month after the first one ends.

    >>> follows(year(2023), year(2024)), follows(year(2022), year(2024))
    (True, False)
    >>> follows(Span(2023, 2023, 12, 12), Span(2024, 2024, 1, 1))
    True
    """
    ends = 12 * first.last_year + first.last_month
    return ends + 1 == 12 * second.first_year + second.first_month


def year(number: int) -> Span:
    """Return one whole year as a span."""
    return Span(number, number)


def span_of(period: SheetPeriod) -> Span:
    """Return the months that a period lies in.

    >>> span_of(SheetPeriod("sales", Grain.QUARTER, 2024, 3, "2024 Q3"))
    Span(first_year=2024, last_year=2024, first_month=7, last_month=9)
    """
    first, last = _months(period)
    start = period.year
    if period.grain is Grain.YEARS:
        named = [int(text) for text in _YEAR.findall(period.label)]
        start = min([*named, period.year])
    return Span(start, period.year, first, last)


def _months(period: SheetPeriod) -> tuple[int, int]:
    part = period.part
    match period.grain:
        case Grain.HALF | Grain.QUARTER | Grain.MONTH:
            length = {Grain.HALF: 6, Grain.QUARTER: 3, Grain.MONTH: 1}[period.grain]
            return (part - 1) * length + 1, part * length
        case Grain.MONTHS:
            return part // 100, part % 100
        case Grain.DAY | Grain.MONTH_WEEK:
            return part // 100, part // 100
        case Grain.WEEK:
            return _week_months(period.year, part)
        case _:
            return 1, 12


def _week_months(in_year: int, week: int) -> tuple[int, int]:
    """Return the months of an ISO week's Monday and Sunday, clipped to its year."""
    try:
        days = [date.fromisocalendar(in_year or 2001, week, day) for day in (1, 7)]
    except ValueError:  # a week number that the year does not have
        return 1, 12
    wanted = in_year or 2001
    first, last = (
        1 if day.year < wanted else 12 if day.year > wanted else day.month for day in days
    )
    return first, last
