"""Assign a house's sheets to workbooks, and choose the columns of its sheets."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any, Literal

from sat_retriever.synth.book.build import Cells, Kind, book, with_totals
from sat_retriever.synth.book.model import Book, Column, Recipe, Sheet, SheetAt, Style
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

Mode = Literal["each", "together", "kind", "year"]
Filed = tuple[str, When | None, Sheet]
"""A sheet with the id of its kind and its period."""


@dataclass(frozen=True, slots=True)
class Place:
    """The path of a sheet's workbook, and the name of its tab."""

    book: str
    sheet: str

    def at(self, own: Place) -> SheetAt:
        """Return the reference to this sheet from the sheet at `own`."""
        return SheetAt(self.sheet, "" if self.book == own.book else self.book)


@dataclass(frozen=True, slots=True)
class Filing:
    """The distribution of a house's sheets of one category over workbooks.

    Attributes:
        mode: "each" = a workbook per kind and period; "together" = a workbook per period, one tab
            per kind; "kind" = a workbook per kind and year, one tab per period; "year" = a
            workbook per year with all kinds and periods.
        beside: Kinds that are kept in another kind's workbook, by id.
    """

    house: House
    category: str
    mode: Mode
    beside: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, house: House, category: str, *modes: Mode, beside: Mapping[str, str] | None = None
    ) -> Filing:
        """Draw the house's mode; a mode that is named twice is twice as likely."""
        return cls(house, category, house.chance(category, "filing").choice(modes), beside or {})

    def chance(self, *purpose: object) -> random.Random:
        """Return a stream of random numbers for one purpose of this category."""
        return self.house.chance(self.category, *purpose)

    def has(self, *habit: object, share: float = 0.5) -> bool:
        """True if the house has a habit that this share of houses has."""
        return either(self.house, self.category, *habit, share=share)

    def page(self, kind: str, when: When | None, rows: int, *, summary: bool = False) -> Page:
        """Return the sheet of a kind and period, still without columns."""
        return Page(self.house, self.category, kind, self, when, rows, summary)

    def binder(self, kind: str, when: When | None) -> tuple[str, When | None]:
        """Return subject and period of the workbook with a sheet."""
        subject = Kind(self.house, self.category, self.beside.get(kind, kind)).subject()
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
        return Place(path, Kind(self.house, self.category, kind).tab(apart))

    def bound(self, sheets: Iterable[Filed]) -> Iterator[Book]:
        """Yield the workbooks of these sheets, in order of their first sheets."""
        binders: dict[tuple[str, When | None], list[Sheet]] = {}
        for kind, when, sheet in sheets:
            binders.setdefault(self.binder(kind, when), []).append(sheet)
        for (subject, when), inside in binders.items():
            yield book(self.house, self.category, subject, when, inside)


@dataclass(frozen=True, slots=True)
class Page(Kind):
    """One sheet in the making: its kind and period, and its number of data rows."""

    filing: Filing
    when: When | None
    rows: int
    summary: bool

    def column(
        self,
        column: str,
        cells: Cells | Recipe,
        style: Style = "text",
        *,
        group: str = "",
        key: str = "",
        unique: bool = False,
    ) -> Column:
        """Make a column as `Kind` does; one recipe is repeated in all rows."""
        repeated = [cells] * self.rows if isinstance(cells, Recipe) else cells
        return Kind.column(self, column, repeated, style, group=group, key=key, unique=unique)

    def at(self, kind: str, when: When | None) -> SheetAt:
        """Refer from here to the sheet of another kind or period."""
        return self.filing.place(kind, when).at(self.filing.place(self.id, self.when))

    def filed(
        self,
        columns: Sequence[Column],
        optional: Collection[str] | None = None,
        *,
        head: int = 1,
        groups: Mapping[str, Sequence[str]] = MappingProxyType({}),
        totals: Sequence[str] = (),
        **changes: Any,
    ) -> Filed:
        """Make the sheet.

        Args:
            columns: All columns, in the usual order.
            optional: Ids of columns that the house may drop; None keeps all of them in order.
            head: Number of first columns that keep their place.
            groups: Adjacent columns that the house may put below a common header.
            totals: Columns with a sum below the last row.
            changes: Other attributes of the sheet.
        """
        if optional is not None:
            columns = arranged(self, columns, optional, head=head)
        for group, ids in groups.items():
            columns = grouped(self, columns, group, *ids)
        name = self.filing.place(self.id, self.when).sheet
        sheet = self.sheet(columns, self.when, name=name, summary=self.summary)
        if totals:
            sheet = with_totals(sheet, *totals)
        return self.id, self.when, replace(sheet, **changes)


def arranged(
    kind: Kind, columns: Sequence[Column], optional: Collection[str] = (), *, head: int = 1
) -> tuple[Column, ...]:
    """Arrange columns as the house does: drop optional ones, shuffle text columns.

    The result is the same for all sheets of a kind, which 3-D sums and sibling periods need. No
    recipe may name an optional column. The first `head` columns keep their place.
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
    """Put the columns of `ids`, which are adjacent, below a common header if the house does so."""
    if kind.chance("groups").random() >= 0.35:
        return tuple(columns)
    header = kind.header(group)
    return tuple(replace(c, group=header) if c.id in ids else c for c in columns)


def either(house: House, *purpose: object, share: float = 0.5) -> bool:
    """True if a house has a habit that this share of houses has."""
    return house.chance("habit", *purpose).random() < share


def changed(filed: Filed, change: Callable[..., Sheet], *arguments: str) -> Filed:
    """Change the sheet of a filed sheet."""
    return filed[0], filed[1], change(filed[2], *arguments)


def tabled(sheet: Sheet, name: str) -> Sheet:
    """Make the table of a sheet a table object, if it has a single header row and no totals."""
    plain = all(not column.group and not column.unit for column in sheet.columns)
    return replace(sheet, table_name=name) if plain and not sheet.totals else sheet
