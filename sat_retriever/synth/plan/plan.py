"""Divide a corpus into units of work, and choose the sheets to keep of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from types import MappingProxyType

from sat_retriever.errors import InputError
from sat_retriever.synth.book.model import Book, Combine, Lookup, Sheet, Take, Total, TotalWhere
from sat_retriever.synth.categories import CATEGORIES, Owner, category
from sat_retriever.synth.house.house import House
from sat_retriever.synth.plan.scales import FEWEST_SHEETS_A_YEAR, Quota, Scale, divided
from sat_retriever.synth.words.pools import pairs
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.synth.words.wordfiles import sign

OWNER_WORDS: Mapping[Owner, tuple[str, str]] = MappingProxyType(
    {
        "companies": ("company_first_words", "company_business_words"),
        "markets": ("cities", "market_words"),
        "institutions": ("company_first_words", "institution_words"),
        "sources": ("company_first_words", "source_words"),
    }
)
"""The two lists whose pairs of words name further houses when an owner's list is used up."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The work of one worker: the workbooks of one category of one house.

    Attributes:
        sheets: Number of visible sheets to keep; 0 if workbooks are counted.
        books: Number of workbooks to keep; 0 if sheets are counted.
    """

    category: str
    house: House
    years: tuple[int, ...]
    quota: Quota
    sheets: int = 0
    books: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a corpus; one too large for its `companies` uses more."""

    scale: Scale
    years: tuple[int, ...]
    companies: int
    seed: int
    vocabulary: Vocabulary

    def units(self) -> Iterator[Unit]:
        """Yield the units: the first of each category, then the second of each, and so on."""
        if self.companies < 1 or not self.years:
            raise InputError(
                f"a corpus needs at least one company and one year, not {self.companies} and "
                f"{len(self.years)}"
            )
        shares = []  # the contribution of each house to each quota, at least 1
        for quota in self.scale.quotas:
            total = quota.books or quota.sheets
            shares.append(divided(total, min(self._houses(quota), total)))
        names = {owner: self._names(owner, shares) for owner in OWNER_WORDS}
        for place in range(max(map(len, shares))):
            for quota, parts in zip(self.scale.quotas, shares, strict=True):
                if place < len(parts):
                    owner = category(quota.category).owner
                    yield self._unit(quota, names[owner][place], place, parts[place])

    def _names(self, owner: Owner, shares: Sequence[Sequence[int]]) -> Sequence[str]:
        needed = (
            len(parts)
            for quota, parts in zip(self.scale.quotas, shares, strict=True)
            if CATEGORIES[quota.category].owner == owner
        )
        return tuple(islice(house_names(owner, self.vocabulary), max(needed, default=0)))

    def _houses(self, quota: Quota) -> int:
        """Return the number of houses of a quota: companies as requested, more if needed."""
        owned = category(quota.category).owner == "companies"
        if quota.books:
            return min(quota.houses, self.companies) if owned else quota.houses
        most = min(FEWEST_SHEETS_A_YEAR[quota.category] * len(self._years()), _MOST)
        needed = -(-quota.sheets // most)
        wanted = quota.houses or -(-quota.sheets // _USUAL)
        return max(needed, min(wanted, self.companies) if owned else wanted)

    def _years(self) -> tuple[int, ...]:
        return self.years[-self.scale.years :]

    def _unit(self, quota: Quota, name: str, place: int, share: int) -> Unit:
        house = House(name, self.seed, self.vocabulary, quota.prefix)
        years = self._years()
        if quota.books:
            return Unit(quota.category, house, years, quota, books=share)
        span = len(years)
        if not quota.by_year:
            span = min(span, -(-share // FEWEST_SHEETS_A_YEAR[quota.category]))
        last = len(years) - place % (len(years) - span + 1)
        return Unit(quota.category, house, years[last - span : last], quota, sheets=share)


_USUAL = 8  # usual number of sheets per house and category
_MOST = 64  # largest number: many houses teach more than many sheets of a few


def house_names(owner: Owner, vocabulary: Vocabulary) -> Iterator[str]:
    """Yield names of houses without end: first the list, then pairs of words.

    Names differ in more than letter case, blanks and signs, so paths made of them differ.
    """
    known = vocabulary.lists[owner]
    yield from known
    taken = {sign(name) for other in OWNER_WORDS for name in vocabulary.lists[other]}
    first, second = (vocabulary.lists[name] for name in OWNER_WORDS[owner])
    for name in pairs(first, second, House(owner, 0, vocabulary).chance("names")):
        if sign(name) not in taken:
            yield name


def kept(unit: Unit, books: Sequence[Book]) -> dict[str, tuple[str, ...]]:
    """Choose the tabs to keep in the workbooks of a unit, by path, in their order.

    Later years take precedence, and a workbook is followed by those that it refers to. Hidden
    sheets of a kept workbook are kept, except for stems, and are not counted.
    """
    ordered = _latest_first(books)
    if unit.books:
        chosen = {book.path for book in ordered[: unit.books]}
        return {b.path: tuple(s.name for s in b.sheets) for b in books if b.path in chosen}
    sheets = [
        (book.path, sheet)
        for book in ordered
        for sheet in sorted(book.sheets, key=lambda sheet: sheet.facts is None)
        if not sheet.hidden
    ]
    if unit.quota.stems:
        sheets = [(path, sheet) for path, sheet in sheets if sheet.facts is not None]
    if unit.quota.by_year:
        sheets = _a_year_each(sheets)
    found = {(path, sheet.name) for path, sheet in sheets[: unit.sheets]}
    paths = {path for path, _ in found}
    return {
        book.path: tuple(
            sheet.name
            for sheet in book.sheets
            if (sheet.hidden and not unit.quota.stems) or (book.path, sheet.name) in found
        )
        for book in books
        if book.path in paths
    }


def _latest_first(books: Sequence[Book]) -> list[Book]:
    """Sort workbooks by year, latest first; each is followed by those that it refers to."""
    by_path = {book.path: book for book in books}
    places = {book.path: place for place, book in enumerate(books)}
    ordered: dict[str, Book] = {}
    for book in sorted(books, key=lambda book: (-_year(book.sheets), -places[book.path])):
        ordered.setdefault(book.path, book)
        found = sorted(_referred(book) & places.keys(), key=lambda path: -places[path])
        for path in found:
            ordered.setdefault(path, by_path[path])
    return list(ordered.values())


def _referred(book: Book) -> set[str]:
    cells = [c for sheet in book.sheets for column in sheet.columns for c in column.cells]
    found: set[str] = set()
    while cells:
        match cells.pop():
            case Combine(left=left, right=right):
                cells += [left, right]
            case Take(at=at) | Total(at=at) | TotalWhere(at=at) | Lookup(at=at) if at.book:
                found.add(at.book)
    return found


def _year(sheets: Sequence[Sheet]) -> int:
    found = (s.facts.period.year for s in sheets if s.facts is not None and s.facts.period)
    return max(found, default=0)


def _a_year_each(ordered: Sequence[tuple[str, Sheet]]) -> list[tuple[str, Sheet]]:
    """Sort sheets so that the first of all years come before the second ones."""
    counts: dict[int, count[int]] = {}
    keyed = [
        (next(counts.setdefault(year, count())), -year, place)
        for place, (_, sheet) in enumerate(ordered)
        for year in (_year([sheet]),)
    ]
    return [ordered[place] for _, _, place in sorted(keyed)]
