"""Define ways to name a time or an owner in a question, each with its period."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sat_retriever.synth.house.when import MONTHS
from sat_retriever.text.period.spans import Span, year

EARLIEST, LATEST = 1900, 2100  # years of "before" and "since"
_TH = ("", "first", "second", "third", "fourth")

Draw = Callable[[random.Random, int, int], Span]  # generator, first and last available year


@dataclass(frozen=True, slots=True)
class Phrase:
    """One way to name a time.

    Attributes:
        said: Text with the values of `_values` in braces.
        draw: Draws a period within some years.
        before: Word before it in a sentence; empty if the text contains one.
    """

    said: str
    draw: Draw
    before: str = "for"

    def text(self, span: Span) -> str:
        """Return the time in words.

        >>> Phrase("the {half_th} half of {year}", halves).text(Span(2023, 2023, 1, 6))
        'the first half of 2023'
        """
        return self.said.format_map(_values(span))


def years(chance: random.Random, first: int, last: int) -> Span:
    """Draw three or four consecutive years, so that at least one is not named."""
    start = chance.randint(first, last - 2)
    return Span(start, min(last, start + chance.randint(2, 3)))


def one_year(chance: random.Random, first: int, last: int) -> Span:
    """Draw one year."""
    return year(chance.randint(first, last))


def since(chance: random.Random, first: int, last: int) -> Span:
    """Draw a year with all later ones."""
    return Span(chance.randint(first + 1, last), LATEST)


def before(chance: random.Random, first: int, last: int) -> Span:
    """Draw all years before one."""
    return Span(EARLIEST, chance.randint(first, last - 1))


def halves(chance: random.Random, first: int, last: int) -> Span:
    """Draw half a year."""
    return _part(chance, first, last, 6)


def quarters(chance: random.Random, first: int, last: int) -> Span:
    """Draw a quarter."""
    return _part(chance, first, last, 3)


def each_quarter(chance: random.Random, first: int, last: int) -> Span:
    """Draw the same quarter of all years."""
    found = _part(chance, first, last, 3)
    return Span(0, 0, found.first_month, found.last_month)


def second_half(chance: random.Random, first: int, last: int) -> Span:
    """Draw the last two quarters of a year."""
    number = chance.randint(first, last)
    return Span(number, number, 7, 12)


def months(chance: random.Random, first: int, last: int) -> Span:
    """Draw a month."""
    return _part(chance, first, last, 1)


def two_months(chance: random.Random, first: int, last: int) -> Span:
    """Draw two consecutive months."""
    number, month = chance.randint(first, last), chance.randint(1, 11)
    return Span(number, number, month, month + 1)


def some_months(chance: random.Random, first: int, last: int) -> Span:
    """Draw four or five consecutive months that are neither a half nor quarters."""
    number, month = chance.randint(first, last), chance.randint(2, 7)
    return Span(number, number, month, month + chance.randint(3, 4))


def _part(chance: random.Random, first: int, last: int, size: int) -> Span:
    number, place = chance.randint(first, last), chance.randrange(12 // size)
    return Span(number, number, place * size + 1, (place + 1) * size)


PHRASES: Mapping[str, Phrase] = MappingProxyType(
    {
        "2021": Phrase("{year}", one_year),
        "2019–2021": Phrase("{year}–{end_year}", years),
        "2019 to 2021": Phrase("{year} to {end_year}", years),
        "FY24": Phrase("FY{yy}", one_year),
        "fiscal 2024": Phrase("fiscal {year}", one_year),
        "since 2020": Phrase("since {year}", since, ""),
        "before 2018": Phrase("before {next_year}", before, ""),
        "H1 2023": Phrase("H{half} {year}", halves),
        "first half of 2023": Phrase("the {half_th} half of {year}", halves),
        "last two quarters of 2022": Phrase("the last two quarters of {year}", second_half),
        "Q3 2022": Phrase("Q{quarter} {year}", quarters),
        "third quarter of 2022": Phrase("the {quarter_th} quarter of {year}", quarters),
        "Q3 in each year": Phrase("Q{quarter} in each year", each_quarter),
        "March 2022": Phrase("{month} {year}", months),
        "03/2022": Phrase("{mm}/{year}", months),
        "March and April 2022": Phrase("{month} and {end_month} {year}", two_months),
        "between March and June 2022": Phrase(
            "between {month} and {end_month} {year}", some_months, ""
        ),
    }
)


def _values(span: Span) -> dict[str, str]:
    half, quarter = (span.first_month - 1) // 6 + 1, (span.first_month - 1) // 3 + 1
    return {
        "year": str(span.first_year),
        "end_year": str(span.last_year),
        "next_year": str(span.last_year + 1),
        "yy": f"{span.first_year % 100:02}",
        "half": str(half),
        "half_th": _TH[half],
        "quarter": str(quarter),
        "quarter_th": _TH[quarter],
        "month": MONTHS[span.first_month - 1],
        "end_month": MONTHS[span.last_month - 1],
        "mm": f"{span.first_month:02}",
    }


# ---- owners


def _misspelt(name: str) -> str:
    """Swap two different letters within the first word.

    >>> _misspelt("Drumlinford Mining"), _misspelt("Holloway")
    ('Durmlinford Mining', 'Hloloway')
    """
    place = next(n for n in range(1, len(name)) if name[n] != name[n + 1])
    return f"{name[:place]}{name[place + 1]}{name[place]}{name[place + 2 :]}"


SPELLINGS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "owner's first word": lambda name: name.split()[0],
        "owner with legal form": lambda name: f"{name} Ltd.",
        "owner in one word": lambda name: name.replace(" ", ""),
        "owner misspelt": _misspelt,
    }
)
"""Other spellings of a name with two or more words, the first with four or more letters."""
