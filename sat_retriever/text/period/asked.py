"""Describe in words the times that were understood from a question."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from sat_retriever.text.period.spans import EVER, MONTHS, Span
from sat_retriever.text.period.spellings import plain

UNDATED = date.min
"""The date for questions in which no word counts from today."""

Stretch = tuple[int, int]  # first and last month, counted from the year 0


@dataclass(frozen=True, slots=True)
class AskedTimes:
    """The times that a question names.

    Attributes:
        spans: Stretches of time, in the question's order; a sheet may match any of them.
        counted: The words of the question that count from today, as "last year" does.
    """

    spans: tuple[Span, ...] = ()
    counted: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """True if the question names any time."""
        return bool(self.spans)

    @classmethod
    def of(cls, text: str, spans: tuple[Span, ...], counted: Iterable[str]) -> AskedTimes:
        """Collect the times of a text; quote its words that count from today as written."""
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
    return [each if isinstance(each, str) else _said(*each) for each in found]


def _stretch(span: Span) -> Stretch | None:
    """Return the first and last month of a stretch without gaps; None for any other span."""
    one_year = span.first_year == span.last_year
    if not span.first_year or not (one_year or span.whole_years):
        return None
    return 12 * span.first_year + span.first_month - 1, 12 * span.last_year + span.last_month - 1


def _said(first: int, last: int) -> str:
    """Return the months from one to another in words."""
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
    """Return one span as JSON: the same months of successive years."""
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
