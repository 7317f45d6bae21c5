"""Stretches of time that questions name, in words and compared with the periods of sheets."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from sat_retriever.text.period.periods import Grain, SheetPeriod
from sat_retriever.text.period.spellings import plain

EVER = (1900, 2100)  # first and last year of "before 2018" and "since 2020"
MONTHS = (
    *("", "January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The same months of one or more successive years."""

    first_year: int  # first year; 0 for any year, including an unknown one
    last_year: int  # last year, equal to the first for a single year; 0 for any
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


UNDATED = date.min
"""The date for questions in which no word counts from today."""

Stretch = tuple[int, int]  # first and last month, counted from the year 0


@dataclass(frozen=True, slots=True)
class QueryPeriods:
    """The times that a question names."""

    spans: tuple[Span, ...] = ()
    # The words of the question that count from today, as "last year" does.
    counted: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.spans)

    @classmethod
    def of(cls, text: str, spans: tuple[Span, ...], counted: Iterable[str]) -> QueryPeriods:
        """Collect the times of a text; quote its words that count from today as written."""
        return cls(spans, tuple(_as_written(words, text) for words in counted) if spans else ())

    @property
    def label(self) -> str:
        """The times in words; empty if there are none.

        >>> QueryPeriods((Span(2021, 2023),), ("last three years",)).label
        '2021 to 2023 (from "last three years")'
        """
        said = ", ".join(in_words(self.spans))
        quoted = ", ".join(f'"{words}"' for words in self.counted)
        return f"{said} (from {quoted})" if said and quoted else said

    def to_dict(self) -> dict[str, Any]:
        """Return the times as plain JSON values; the missing bound of an open span is None."""
        return {
            "label": self.label,
            "counted_from_today": list(self.counted),
            "spans": [_as_json(span) for span in self.spans],
        }


def in_words(spans: Iterable[Span]) -> list[str]:
    """Return stretches of time in words; adjacent stretches become one.

    >>> in_words([Span(2023, 2023, 5, 12), Span(2024, 2024, 1, 4)])
    ['May 2023 to April 2024']
    >>> in_words([Span(2023, 2023, 3, 12), Span(2024, EVER[1])]), in_words([Span(2021, 2023)])
    (['March 2023 or later'], ['2021 to 2023'])
    >>> in_words([Span(2021, 2023, 7, 9), Span(0, 0, 3, 3)])
    ['July to September 2021-2023', 'March']
    """
    found: list[Stretch | str] = []
    for span in spans:
        stretch = _stretch(span)
        last = found[-1] if found else None
        if stretch is None:
            found.append(span.label)
        elif isinstance(last, tuple) and last[1] + 1 == stretch[0]:
            found[-1] = (last[0], stretch[1])
        else:
            found.append(stretch)
    return [each if isinstance(each, str) else _months_in_words(*each) for each in found]


def _stretch(span: Span) -> Stretch | None:
    """Return the first and last month of a stretch without gaps; None for any other span."""
    one_year = span.first_year == span.last_year
    if not span.first_year or not (one_year or span.whole_years):
        return None
    return 12 * span.first_year + span.first_month - 1, 12 * span.last_year + span.last_month - 1


def _months_in_words(first: int, last: int) -> str:
    (year, month), (last_year, last_month) = divmod(first, 12), divmod(last, 12)
    begin, end = str(year), str(last_year)
    if (month if year > EVER[0] else 0, last_month if last_year < EVER[1] else 11) != (0, 11):
        begin, end = f"{MONTHS[month + 1]} {year}", f"{MONTHS[last_month + 1]} {last_year}"
    if year == EVER[0]:
        return f"{end} or before"
    if last_year == EVER[1]:
        return f"{begin} or later"
    if begin == end:
        return begin
    return f"{MONTHS[month + 1]} to {end}" if year == last_year else f"{begin} to {end}"


def _as_written(words: str, text: str) -> str:
    """Return words changed by `plain` as the text writes them; unchanged if they are not found.

    >>> _as_written("nachstes jahr", "Budget für nächstes Jahr")
    'nächstes Jahr'
    """
    signs = [(plain(sign), place) for place, sign in enumerate(text)]
    letters = [(letter, place) for read, place in signs for letter in read or " "]
    pattern = r"\s*".join(map(re.escape, words.split()))
    found = re.search(pattern, "".join(letter for letter, _ in letters))
    if found is None:
        return words
    first, last = letters[found.start()][1], letters[found.end() - 1][1]
    return " ".join(text[first : last + 1].split())


def _as_json(span: Span) -> dict[str, int | None]:
    first, last = span.first_year, span.last_year
    return {
        "first_year": None if first in (0, EVER[0]) else first,
        "last_year": None if last in (0, EVER[1]) else last,
        "first_month": span.first_month,
        "last_month": span.last_month,
    }


def asked_on(today: date | None) -> date:
    """Return the given day, or today's date by the local clock."""
    return date.today() if today is None else today
