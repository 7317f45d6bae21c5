"""Made sheets that can be joined, by the keys of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sat_retriever.links.period.periods import Grain, SheetPeriod
from sat_retriever.synth.model import Book, Column, Sheet, Value
from sat_retriever.synth.truth.records import sheet_id
from sat_retriever.types import Link, LinkType

_HELD = 0.5  # share of a column's values that the owner must have at least
_MONTHS = {Grain.YEAR: 12, Grain.HALF: 6, Grain.QUARTER: 3, Grain.MONTH: 1}


def true_keys(books: Iterable[Book]) -> list[Link]:
    """Joins that hold although no formula shows them: `join_key`, one a pair of sheets.

    A sheet refers to another by a column whose `key` is that of a column there, which has
    half of its values or more, once each. Which one:

    1. It refers to registers, where the column is `unique`: the sheets that own the key.
       A register about a time serves sheets about that time or a part of it; one about no
       time serves all. Those in the own workbook go before all others, and sheets that
       are about no time refer to registers about some time only there.
    2. Where no register serves, a sheet of the own workbook and of the same time that has
       one row for each thing stands in, if it does not gather from other sheets. Only
       columns that name things more than once refer to it: of two lists of the same
       things neither owns them.

    Sheets that both refer to a third are not linked, nor are two registers.

    Args:
        books: Workbooks that may refer to each other, all that one house's category has.
    """
    held = [use for book in books for use in _uses(book)]
    by_key: dict[str, list[_Use]] = {}
    for use in held:
        by_key.setdefault(use.column.key, []).append(use)
    found: dict[tuple[str, str], Link] = {}
    for use in held:
        if not use.column.unique:
            for owner in _owners(use, by_key[use.column.key]):
                link = _link(use, owner)
                found.setdefault((link.source, link.target), link)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Use:
    """A column with a key, and where it is.

    Attributes:
        book: Path of its workbook.
        sheet: Its sheet.
        column: Itself.
        values: Its different values that are written as they are.
        count: Cells with such a value.
    """

    book: str
    sheet: Sheet
    column: Column
    values: frozenset[Value]
    count: int

    @property
    def period(self) -> SheetPeriod | None:
        return self.sheet.facts.period if self.sheet.facts else None

    @property
    def once(self) -> bool:
        """Whether each value stands there once."""
        return self.count == len(self.values)

    def holds(self, other: _Use) -> bool:
        """Whether enough of the values of another column are found here."""
        return len(other.values & self.values) >= max(1, _HELD * len(other.values))


def _uses(book: Book) -> Iterator[_Use]:
    for sheet in book.sheets:
        for column in sheet.columns:
            if column.key:
                values = [cell for cell in column.cells if isinstance(cell, str | int | float)]
                yield _Use(book.path, sheet, column, frozenset(values), len(values))


def _owners(use: _Use, others: Sequence[_Use]) -> list[_Use]:
    """The columns it refers to, of those with its key."""
    elsewhere = [
        other
        for other in others
        if (other.book, other.sheet.name) != (use.book, use.sheet.name) and other.holds(use)
    ]
    registers = [o for o in elsewhere if o.column.unique and _serves(o, use)]
    near = [owner for owner in registers if owner.book == use.book]
    if registers or use.once:
        return near or registers
    return [
        other
        for other in elsewhere
        if other.once
        and other.book == use.book
        and _time(other.period) == _time(use.period)
        and not (other.sheet.facts and other.sheet.facts.summary)
    ]


def _serves(owner: _Use, use: _Use) -> bool:
    """Whether a register is of the right time for a sheet."""
    if owner.period is None:
        return True
    if use.period is None:
        return owner.book == use.book
    return _covers(owner.period, use.period)


def _covers(whole: SheetPeriod, part: SheetPeriod) -> bool:
    """Whether a period is the other one or contains it."""
    if _time(whole) == _time(part) or whole.year != part.year:
        return _time(whole) == _time(part)
    longer, shorter = _MONTHS.get(whole.grain, 0), _MONTHS.get(part.grain, 0)
    if not shorter or longer <= shorter:
        return False
    first = (max(1, part.part) - 1) * shorter
    return first // longer == max(1, whole.part) - 1


def _time(period: SheetPeriod | None) -> tuple[object, ...]:
    return (period.grain, period.year, period.part) if period else ()


def _link(use: _Use, owner: _Use) -> Link:
    ends = sheet_id(use.book, use.sheet.name), sheet_id(owner.book, owner.sheet.name)
    evidence = f"{use.column.header} -> {owner.column.header}"
    return Link(*ends, LinkType.JOIN_KEY.value, 1.0, evidence)
