"""Assign a house's sheets to workbooks, and choose the columns of its sheets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

from sat_retriever.synth.book.build import Kind, book
from sat_retriever.synth.book.model import Book, Column, Sheet, SheetAt
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

Mode = Literal["each", "together", "kind", "year"]
Filed = tuple[str, When | None, Sheet]
"""A sheet with the id of its kind and its period."""


@dataclass(frozen=True, slots=True)
class Place:
    """A sheet's workbook and tab.

    Attributes:
        book: Path of the workbook.
        sheet: Name of the tab.
    """

    book: str
    sheet: str

    def at(self, own: Place) -> SheetAt:
        """Return the reference to this sheet from the sheet at `own`."""
        return SheetAt(self.sheet, "" if self.book == own.book else self.book)


@dataclass(frozen=True, slots=True)
class Filing:
    """The distribution of a house's sheets of one category over workbooks.

    Attributes:
        house: The house.
        category: Category id.
        mode: "each" = a workbook per kind and period; "together" = a workbook per period, one tab
            per kind; "kind" = a workbook per kind and year, one tab per period; "year" = a
            workbook per year with all kinds and periods.
        beside: Kinds that are kept in another kind's workbook, by id.
    """

    house: House
    category: str
    mode: Mode
    beside: Mapping[str, str] = field(default_factory=dict)

    def kind(self, kind: str) -> Kind:
        """Return a kind of the category."""
        return Kind(self.house, self.category, kind)

    def binder(self, kind: str, when: When | None) -> tuple[str, When | None]:
        """Return subject and period of the workbook with a sheet."""
        subject = self.kind(self.beside.get(kind, kind)).subject()
        if when is None:
            return subject, None
        if self.mode == "each":
            return subject, when
        if self.mode == "together":
            return "", when
        return (subject if self.mode == "kind" else ""), When(when.year)

    def place(self, kind: str, when: When | None) -> Place:
        """Return workbook and tab for the sheet of a kind and period."""
        subject, bound_when = self.binder(kind, when)
        apart = when if when is not None and bound_when != when else None
        path = self.house.path(self.category, subject, bound_when)
        return Place(path, self.kind(kind).tab(apart))

    def sheet(
        self,
        kind: str,
        when: When | None,
        columns: Sequence[Column],
        *,
        summary: bool = False,
    ) -> Filed:
        """Make a sheet of a kind at its place."""
        name = self.place(kind, when).sheet
        return kind, when, self.kind(kind).sheet(columns, when, name=name, summary=summary)

    def bound(self, sheets: Iterable[Filed]) -> Iterator[Book]:
        """Yield the workbooks of these sheets, in order of their first sheets."""
        binders: dict[tuple[str, When | None], list[Sheet]] = {}
        for kind, when, sheet in sheets:
            binders.setdefault(self.binder(kind, when), []).append(sheet)
        for (subject, when), inside in binders.items():
            yield book(self.house, self.category, subject, when, inside)


def arranged(
    kind: Kind, columns: Sequence[Column], optional: Collection[str] = (), *, head: int = 1
) -> tuple[Column, ...]:
    """Arrange columns as the house does: drop optional ones, shuffle text columns.

    The result is the same for all sheets of a kind, which 3-D sums and sibling periods need.

    Args:
        kind: The kind of the sheets.
        columns: All columns, in the usual order.
        optional: Ids of columns that may be dropped; no recipe may name them.
        head: Number of first columns that keep their place.
    """
    chance = kind.chance("columns")
    kept = [column for column in columns if column.id not in optional or chance.random() < 0.65]
    if chance.random() < 0.5:
        return tuple(kept)
    tail: list[Column] = []
    for free, run in groupby(kept[head:], key=_is_free):
        found = list(run)
        tail += chance.sample(found, len(found)) if free else found
    return (*kept[:head], *tail)


def _is_free(column: Column) -> bool:
    return column.style == "text" and not column.group


def grouped(kind: Kind, columns: Sequence[Column], group: str, *ids: str) -> tuple[Column, ...]:
    """Put columns below a common header if the house does so.

    Args:
        kind: The kind of the sheet.
        columns: All columns; those of `ids` are adjacent.
        group: Column id of the common header in the kind's words.
        ids: Ids of the columns below it.
    """
    if kind.chance("groups").random() >= 0.35:
        return tuple(columns)
    header = kind.header(group)
    return tuple(replace(c, group=header) if c.id in ids else c for c in columns)


def either(house: House, *purpose: object, share: float = 0.5) -> bool:
    """True if a house has a habit that this share of houses has."""
    return house.chance("habit", *purpose).random() < share


def noted(sheet: Filed, change: Callable[[Sheet], Sheet]) -> Filed:
    """Change the sheet of a filed sheet."""
    return sheet[0], sheet[1], change(sheet[2])


def tabled(sheet: Sheet, name: str) -> Sheet:
    """Make the table of a sheet a table object, if it has a single header row and no totals."""
    plain = all(not column.group and not column.unit for column in sheet.columns)
    return replace(sheet, table_name=name) if plain and not sheet.totals else sheet
