"""Where a house keeps which sheet, and which columns its sheets have."""

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
        """The same as a formula on the sheet at `own` names it."""
        return SheetAt(self.sheet, "" if self.book == own.book else self.book)


@dataclass(frozen=True, slots=True)
class Filing:
    """How a house distributes the sheets of one category over workbooks.

    Attributes:
        house: The house.
        category: Category id.
        mode: "each" = a workbook a kind and period; "together" = a workbook a period, one tab
            a kind; "kind" = a workbook a kind and year, one tab a period; "year" = a workbook
            a year with all kinds and periods.
        beside: Kinds kept in the workbook of another kind, by id.
    """

    house: House
    category: str
    mode: Mode
    beside: Mapping[str, str] = field(default_factory=dict)

    def kind(self, kind: str) -> Kind:
        """A kind of the category."""
        return Kind(self.house, self.category, kind)

    def binder(self, kind: str, when: When | None) -> tuple[str, When | None]:
        """Subject and period of the workbook that holds a sheet."""
        subject = self.kind(self.beside.get(kind, kind)).subject()
        if when is None:
            return subject, None
        if self.mode == "each":
            return subject, when
        if self.mode == "together":
            return "", when
        return (subject if self.mode == "kind" else ""), When(when.year)

    def place(self, kind: str, when: When | None) -> Place:
        """Where the sheet of a kind and period is."""
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
        """A sheet of a kind at its place."""
        name = self.place(kind, when).sheet
        return kind, when, self.kind(kind).sheet(columns, when, name=name, summary=summary)

    def bound(self, sheets: Iterable[Filed]) -> Iterator[Book]:
        """The workbooks of these sheets, in the order their first sheets come."""
        binders: dict[tuple[str, When | None], list[Sheet]] = {}
        for kind, when, sheet in sheets:
            binders.setdefault(self.binder(kind, when), []).append(sheet)
        for (subject, when), inside in binders.items():
            yield book(self.house, self.category, subject, when, inside)


def arranged(
    kind: Kind, columns: Sequence[Column], optional: Collection[str] = (), *, head: int = 1
) -> tuple[Column, ...]:
    """The columns as the house has them: some left out, texts in another order.

    The same for all sheets of a kind, as 3-D sums and sibling periods need.

    Args:
        kind: Whose.
        columns: All columns, in the usual order.
        optional: Ids of columns a house may do without: no recipe may name them.
        head: So many first columns stay where they are.
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
    """The columns, some of them below a common header where the house writes one.

    Args:
        kind: Whose.
        columns: All columns; those of `ids` stand side by side.
        group: Column id of the common header in the kind's words.
        ids: Columns below it.
    """
    if kind.chance("groups").random() >= 0.35:
        return tuple(columns)
    header = kind.header(group)
    return tuple(replace(c, group=header) if c.id in ids else c for c in columns)


def either(house: House, *purpose: object, share: float = 0.5) -> bool:
    """Whether a house has a habit that this share of houses has."""
    return house.chance("habit", *purpose).random() < share


def noted(sheet: Filed, change: Callable[[Sheet], Sheet]) -> Filed:
    """A filed sheet with something added."""
    return sheet[0], sheet[1], change(sheet[2])


def tabled(sheet: Sheet, name: str) -> Sheet:
    """The sheet with its table as a table object, where its header is a single row."""
    plain = all(not column.group and not column.unit for column in sheet.columns)
    return replace(sheet, table_name=name) if plain and not sheet.totals else sheet
