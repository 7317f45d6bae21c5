"""Find the made sheets that can be joined by the keys of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from sat_retriever.records.links import Link, LinkType
from sat_retriever.synth.book.model import (
    Book,
    Column,
    Combine,
    Recipe,
    Sheet,
    Through,
    Total,
    TotalWhere,
    Value,
)
from sat_retriever.synth.truth.records import sheet_id
from sat_retriever.text.period.periods import Grain, SheetPeriod

_HELD = 0.5  # minimum share of a column's values that a register must have
_MONTHS = {Grain.YEAR: 12, Grain.HALF: 6, Grain.QUARTER: 3, Grain.MONTH: 1}


def true_keys(books: Iterable[Book]) -> list[Link]:
    """Find joins by the keys of columns, without formulas: `join_key`, one per pair of sheets.

    A sheet refers to another by a column with the same `key`. The other sheet is chosen so:

    1. Registers come first: sheets whose column is `unique`, which own the key, if they have at
       least half of the values. A register with a period serves sheets of that period or a part
       of it; one without a period serves all. Registers in the same workbook take precedence.
       A sheet without a period refers to registers with a period only in its own workbook.
    2. If no register serves, a sheet of the same workbook and period replaces it. That sheet
       must have all of the values and a column of words without a key, and sheets of its kind
       must have one row per thing and not gather from others. Only sheets of kinds that name
       things more than once refer to it: of two lists of the same things, neither owns them.

    A list of choices is the register of its entries, for the columns of its workbook with the
    id of the column that it serves, if they name things more than once. Sheets that both refer
    to a third are not linked, nor are two registers.
    """
    held = [use for book in books for use in _uses(book)]
    by_key: dict[str, list[_Use]] = {}
    for use in held:
        by_key.setdefault(use.column.key, []).append(use)
    often = {use.kind for use in held if use.count > len(use.values)}
    found: dict[tuple[str, str], Link] = {}
    for use in held:
        if not use.column.unique:
            for owner in _owners(use, by_key[use.column.key], often):
                link = _link(use, owner)
                found.setdefault((link.source, link.target), link)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Use:
    """A column with a key; `count` cells have a value, `chosen` marks lists of choices."""

    book: str
    sheet: Sheet
    column: Column
    values: frozenset[Value]
    count: int
    chosen: bool = False

    @property
    def period(self) -> SheetPeriod | None:
        return self.sheet.facts.period if self.sheet.facts else None

    @property
    def kind(self) -> tuple[str, str]:
        return (self.sheet.facts.kind if self.sheet.facts else ""), self.column.id

    @property
    def describes(self) -> bool:
        """True if the sheet has a text column without a key."""
        return any(c.style == "text" and not c.key for c in self.sheet.columns)

    @property
    def gathers(self) -> bool:
        summary = bool(self.sheet.facts and self.sheet.facts.summary)
        return summary or any(_totals(cell) for c in self.sheet.columns for cell in c.cells)

    def holds(self, other: _Use, share: float = 1.0) -> bool:
        """True if this share of another column's values occurs here."""
        return len(other.values & self.values) >= max(1.0, share * len(other.values))


def _uses(book: Book) -> Iterator[_Use]:
    chosen = _chosen(book)
    for sheet in book.sheets:
        for column in sheet.columns:
            if column.key:
                yield _use(book, sheet, column)
            elif (sheet.name, column.id) in chosen:
                listed = f"{book.path}/{chosen[sheet.name, column.id]}"
                use = _use(book, sheet, replace(column, key=listed, unique=True))
                yield replace(use, chosen=True)
            elif column.id in chosen.values():
                yield _use(book, sheet, replace(column, key=f"{book.path}/{column.id}"))


def _use(book: Book, sheet: Sheet, column: Column) -> _Use:
    values = [cell for cell in column.cells if isinstance(cell, str | int | float)]
    return _Use(book.path, sheet, column, frozenset(values), len(values))


def _chosen(book: Book) -> dict[tuple[str, str], str]:
    return {
        (choices.at.sheet, choices.source): choices.column
        for sheet in book.sheets
        for choices in sheet.choices
        if choices.at.book in ("", book.path)
    }


def _owners(use: _Use, others: Sequence[_Use], often: Set[tuple[str, str]]) -> list[_Use]:
    elsewhere = [o for o in others if (o.book, o.sheet.name) != (use.book, use.sheet.name)]
    registers = [
        o
        for o in elsewhere
        if o.column.unique and _serves(o, use) and o.holds(use, _HELD)
        if not o.chosen or use.kind in often
    ]
    if registers or use.kind not in often:
        return [o for o in registers if o.book == use.book] or registers
    return [
        other
        for other in elsewhere
        if other.book == use.book and _time(other.period) == _time(use.period)
        if other.kind not in often and other.describes and not other.gathers
        if other.holds(use)
    ]


def _totals(cell: Value | Recipe) -> bool:
    match cell:
        case Combine(_, left, right):
            return _totals(left) or _totals(right)
    return isinstance(cell, Total | TotalWhere | Through)


def _serves(owner: _Use, use: _Use) -> bool:
    if owner.period is None:
        return True
    if use.period is None:
        return owner.book == use.book
    return _covers(owner.period, use.period)


def _covers(whole: SheetPeriod, part: SheetPeriod) -> bool:
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
