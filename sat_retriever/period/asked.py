"""The times that were understood from a question, and their wording for the person who asked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from sat_retriever.period.spans import EVER, MONTHS, Span
from sat_retriever.period.spellings import plain

UNDATED = date.min
"""The day of a question in which no word counts from today."""

Stretch = tuple[int, int]  # first and last month, counted from the year 0


@dataclass(frozen=True, slots=True)
class AskedTimes:
    """The times that a question names.

    Attributes:
        spans: Stretches of time, in the question's order; sheets of any of them are meant.
        counted: The words of the question that count from today, as "last year" does.
    """

    spans: tuple[Span, ...] = ()
    counted: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """True if the question names any."""
        return bool(self.spans)

    @classmethod
    def of(cls, text: str, spans: tuple[Span, ...], counted: Iterable[str]) -> AskedTimes:
        """The times of a text, the words that count from today as they stand in it."""
        return cls(spans, tuple(_as_written(words, text) for words in counted) if spans else ())

    @property
    def label(self) -> str:
        """The times in words; empty if there are none.

        >>> AskedTimes((Span(2021, 2023),), ("last three years",)).label
        '2021 to 2023 (from "last three years")'
        """
        said = ", ".join(in_words(self.spans))
        quoted = ", ".join(f'"{words}"' for words in self.counted)
        return f"{said} (from {quoted})" if said and quoted else said

    def to_dict(self) -> dict[str, Any]:
        """The times as plain JSON values; a year or month without bound is None."""
        return {
            "label": self.label,
            "counted_from_today": list(self.counted),
            "spans": [_as_json(span) for span in self.spans],
        }


def in_words(spans: Iterable[Span]) -> list[str]:
    """Stretches of time in words, those that follow on each other as one.

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
    return [each if isinstance(each, str) else _said(*each) for each in found]


def _stretch(span: Span) -> Stretch | None:
    """First and last month of a stretch without gaps; None for others."""
    one_year = span.first_year == span.last_year
    if not span.first_year or not (one_year or span.whole_years):
        return None
    return 12 * span.first_year + span.first_month - 1, 12 * span.last_year + span.last_month - 1


def _said(first: int, last: int) -> str:
    """The months from one to another in words."""
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
    """Words that `plain` has changed, as they stand in a text; as they are if that is not found.

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
    """One stretch: the same months of successive years."""
    first, last = span.first_year, span.last_year
    return {
        "first_year": None if first in (0, EVER[0]) else first,
        "last_year": None if last in (0, EVER[1]) else last,
        "first_month": span.first_month,
        "last_month": span.last_month,
    }


def asked_on(today: date | None) -> date:
    """The day of a question: the given one, or else the present one by this machine's clock."""
    return date.today() if today is None else today
