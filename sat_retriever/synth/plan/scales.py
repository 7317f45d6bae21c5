"""Define the sizes of corpora: quotas of sheets or workbooks by category, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from sat_retriever.errors import InputError

MAX_SHEETS = 10_000_000
FIRST_YEAR, LAST_YEAR = 1980, 2039  # the years that two digits in a name can mean
SYNTHETIC = "Synthetic Data"


@dataclass(frozen=True, slots=True)
class Quota:
    """The share of one category in a corpus.

    Attributes:
        houses: Largest number of companies (or markets …) that share it; 0 for as many as it
            needs.
        sheets: Total number of visible sheets; 0 if workbooks are counted.
        books: Total number of workbooks; 0 if sheets are counted.
        by_year: True if the sheets of a house cover as many years as possible; otherwise
            whole workbooks of the last years come first.
        stems: True if sheets are originals of fabricated pairs: only those that answer questions.
        prefix: Text before the names of its files.
        label: Category in the statistics that replaces the category's own; empty for its own.
    """

    category: str
    houses: int = 0
    sheets: int = 0
    books: int = 0
    by_year: bool = False
    stems: bool = False
    prefix: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of a corpus.

    Attributes:
        quotas: Quotas, in the order in which categories are interleaved.
        years: Number of last years to use; 0 for all.
        fabricated: True if a source and a target are made from each sheet, so that the corpus
            has twice as many sheets, with typed placeholders instead of names of films and
            people.
        queries: Number of labelled queries; 0 for as many per sheet as in the paper.
    """

    name: str
    quotas: tuple[Quota, ...]
    years: int = 0
    fabricated: bool = False
    queries: int = 0

    @property
    def sheets(self) -> int | None:
        """The exact number of sheets of the corpus; None if workbooks are counted."""
        if any(quota.books for quota in self.quotas):
            return None
        return sum(quota.sheets for quota in self.quotas) * (2 if self.fabricated else 1)


def _counts(text: str) -> dict[str, int]:
    """Parse "financial 4, sales 5"."""
    parts = (part.split() for part in text.split(","))
    return {category: int(number) for category, number in parts}


def _small(houses: str, books: str) -> Scale:
    shared = _counts(houses)
    counts = _counts(books).items()
    quotas = (Quota(category, shared[category], books=number) for category, number in counts)
    return Scale("small", tuple(quotas), years=2)


def _paper(name: str, queries: int, stems: str) -> Scale:
    """Return a scale of the paper, with the enterprise templates once more as "Synthetic Data"."""
    quotas = [
        Quota(category, _HOUSES[category], n, by_year=category in _BY_YEAR, stems=True)
        for category, n in _counts(stems).items()
    ]
    again = _counts("financial 24, sales 12, stock 8, inventory 12, hr 8, projects 6")
    quotas += [
        Quota(category, 4, n, stems=True, prefix="Synthetic_Data", label=SYNTHETIC)
        for category, n in again.items()
    ]
    return Scale(name, tuple(quotas), fabricated=True, queries=queries)


_BY_YEAR = ("financial", "budget")
_HOUSES = _counts(
    "financial 18, budget 18, sales 4, inventory 4, hr 4, projects 4, stock 4, indices 2, "
    "institutions 18, ratings 1, sentiment 1"
)
_SCALES = (
    _small(
        "financial 2, budget 2, sales 2, inventory 2, hr 2, projects 2, stock 1, indices 1, "
        "institutions 2, ratings 1, sentiment 1",
        "financial 4, budget 4, sales 5, inventory 3, hr 4, projects 4, stock 3, indices 2, "
        "institutions 2, ratings 1, sentiment 1",
    ),
    _paper(
        "paper-614",
        1453,
        "financial 102, sales 16, inventory 48, hr 16, projects 12, stock 16, institutions 18, "
        "indices 6, ratings 2, sentiment 1",
    ),
    _paper(
        "paper-1k",
        1797,
        "financial 142, budget 86, sales 32, inventory 60, hr 32, projects 24, stock 28, "
        "institutions 18, indices 6, ratings 2, sentiment 1",
    ),
)
NAMED: Mapping[str, Scale] = MappingProxyType({scale.name: scale for scale in _SCALES})
"""The scales by name. Source: paper, appendix on data sets, tables of sheets per category;
halved, because each stem gives two sheets."""

WEIGHTS: Mapping[str, int] = MappingProxyType(
    _counts(
        "financial 26, budget 16, inventory 14, sales 10, hr 9, projects 7, stock 6, "
        "institutions 5, indices 3, ratings 2, sentiment 2"
    )
)
"""The number of sheets per category in 100 sheets of any corpus, as in IndustryTab-1K."""

FEWEST_SHEETS_A_YEAR: Mapping[str, int] = MappingProxyType(
    _counts(
        "financial 4, budget 6, sales 10, inventory 48, hr 6, projects 4, stock 6, indices 5, "
        "institutions 6, ratings 2, sentiment 3"
    )
)
"""The minimum number of visible sheets per house and year, by category."""


def scale(text: str) -> Scale:
    """Return the scale of a name, or of a number of sheets; an InputError for any other text.

    >>> scale("paper-1k").sheets, scale("paper-614").sheets, scale("5000").sheets
    (1002, 614, 5000)
    """
    wanted = text.strip().lower()
    if wanted in NAMED:
        return NAMED[wanted]
    number = wanted.replace(",", "").replace("_", "")
    if not (number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= MAX_SHEETS):
        raise InputError(
            f"the scale {text!r} must be {', '.join(NAMED)}, or a number of sheets from 1 "
            f"to {MAX_SHEETS:,}"
        )
    return _of_sheets(int(number))


def _of_sheets(sheets: int) -> Scale:
    """Return quotas by weight; every category has a sheet if there are enough sheets."""
    counts = dict.fromkeys(list(WEIGHTS)[:sheets], 1)
    rest = sheets - len(counts)
    shares = {
        category: rest * weight / sum(WEIGHTS.values()) for category, weight in WEIGHTS.items()
    }
    for category in counts:
        counts[category] += int(shares[category])
    missing = sheets - sum(counts.values())
    for category in sorted(counts, key=lambda name: int(shares[name]) - shares[name])[:missing]:
        counts[category] += 1
    return Scale(str(sheets), tuple(Quota(category, sheets=n) for category, n in counts.items()))


def years(text: str) -> tuple[int, ...]:
    """Return the years of a text, ascending; an InputError for none, or some outside 1980-2039.

    >>> years("2019-2022"), years("2024"), years("2019, 2021")
    ((2019, 2020, 2021, 2022), (2024,), (2019, 2021))
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        if not all(piece.isascii() and piece.isdigit() for piece in (first, last or first)):
            raise InputError(_YEARS_FORM.format(text))
        if dash and not last:
            raise InputError(_YEARS_FORM.format(text))
        span = range(int(first[:6]), int((last or first)[:6]) + 1)
        if not span or span[0] < FIRST_YEAR or span[-1] > LAST_YEAR:
            raise InputError(_YEARS_FORM.format(text))
        found.update(span)
    return tuple(sorted(found))


_YEARS_FORM = (
    "the years {!r} are not of the form 2019-2026, 2024 or 2019,2021, "
    f"ascending and within {FIRST_YEAR}-{LAST_YEAR}"
)


def divided(total: int, parts: int) -> Sequence[int]:
    """Divide a number into `parts` nearly equal parts, larger ones first.

    >>> divided(8, 3)
    [3, 3, 2]
    """
    each, more = divmod(total, parts)
    return [each + (place < more) for place in range(parts)]
