"""Reduce workbooks to some of their sheets, columns and rows, with formulas still correct.

If the recipe of a cell needs a dropped part, the cell keeps its old value as a plain value.
All other formulas stay and are calculated from the parts that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.synth.book.model import (
    Book,
    Column,
    Lookup,
    Own,
    Recipe,
    Sheet,
    SheetAt,
    Take,
    Through,
    Total,
    TotalWhere,
    Value,
)
from sat_retriever.synth.book.placed import Placed, place_of
from sat_retriever.synth.book.rewrite import (
    Cell,
    leaves,
    run,
    whose,
    with_cells,
    with_leaves,
    with_schema,
)
from sat_retriever.synth.calculate.arithmetic import match_key
from sat_retriever.synth.calculate.evaluate import Values

Tab = tuple[str, str]
"""The path of a workbook and the name of a tab."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Columns (ids in any order) and data rows (ascending) of a sheet to keep; None for all."""

    columns: frozenset[str] | None = None
    rows: tuple[int, ...] | None = None


def restricted(books: Sequence[Book], keep: Mapping[Tab, Keep]) -> tuple[Book, ...]:
    """Return the workbooks with only the kept sheets, columns and rows; drop empty workbooks.

    Rows of `Take` and `Through` are renumbered. A recipe becomes a value if it needs a dropped
    sheet or column, if it is a lookup whose row is dropped, or if it is a 3-D sum through sheets
    of which one is dropped or which no longer have the same layout. Totals cover the rows that
    are left. Charts, choices, pivots and totals of dropped parts are dropped. Facts lose dropped
    keys, and a sheet that lost columns gets a new schema. If only hidden sheets are left, the
    first of them is shown, because a workbook needs a visible sheet.
    """
    by_path = {book.path: book for book in books}
    cut = _Cut(by_path, keep, Values(by_path.get))
    return tuple(left for book in books if (left := cut.book(book)) is not None)


def with_values(
    books: Sequence[Book], where: Callable[[Book, Sheet, Recipe], bool]
) -> tuple[Book, ...]:
    """Replace a cell by its plain value if `where` picks a leaf of its recipe."""
    values = Values({book.path: book for book in books}.get)
    return tuple(_with_values(book, where, values) for book in books)


def _with_values(book: Book, where: Callable[[Book, Sheet, Recipe], bool], values: Values) -> Book:
    def pasted(at: Placed, column: Column) -> Column:
        def cell(row: int, recipe: Recipe) -> Cell:
            if any(where(book, at.sheet, leaf) for leaf in leaves(recipe)):
                return values.values(at, column.id)[row]
            return recipe

        return with_cells(column, cell)

    sheets = (
        replace(at.sheet, columns=tuple(pasted(at, column) for column in at.sheet.columns))
        for at in values.add(book)
    )
    return replace(book, sheets=tuple(sheets))


class _Cut:
    """The kept parts of some workbooks, and the values of their cells before the cut."""

    def __init__(self, books: Mapping[str, Book], keep: Mapping[Tab, Keep], values: Values) -> None:
        self._books, self._keep, self._values = books, keep, values
        self._new_rows: dict[Tab, Mapping[int, int]] = {}
        self._first_rows: dict[tuple[Tab, str], Mapping[object, int]] = {}

    def book(self, book: Book) -> Book | None:
        """Return the kept part of a workbook; None if nothing is kept."""
        placed = [at for at in self._values.add(book) if (book.path, at.sheet.name) in self._keep]
        sheets = [self._sheet(at) for at in placed]
        if not sheets:
            return None
        if all(sheet.hidden for sheet in sheets):
            sheets[0] = replace(sheets[0], hidden=False)
        return replace(book, sheets=tuple(sheets))

    def _sheet(self, at: Placed) -> Sheet:
        book, sheet = at.book, at.sheet
        columns = tuple(self._column(at, column) for column in self._kept_columns(book, sheet))
        ids = [column.id for column in columns]
        # The first column has the label of the totals.
        totals = tuple((column, how) for column, how in sheet.totals if column in ids[1:])

        def there(where: SheetAt, *needed: str) -> bool:
            return self._has(whose(book, where), *needed)

        return replace(
            sheet,
            columns=columns,
            facts=_facts(sheet, columns),
            totals=totals,
            charts=tuple(c for c in sheet.charts if there(c.at, c.names, c.numbers)),
            choices=tuple(c for c in sheet.choices if c.column in ids and there(c.at, c.source)),
            pivots=tuple(p for p in sheet.pivots if there(p.at, p.rows, p.numbers)),
        )

    def _column(self, at: Placed, column: Column) -> Column:
        def cell(row: int, recipe: Recipe) -> Cell:
            if all(self._stays(at, leaf, row) for leaf in leaves(recipe)):
                return with_leaves(recipe, lambda leaf: self._renumbered(at.book, leaf))
            return self._values.values(at, column.id)[row]

        rows = self._rows((at.book.path, at.sheet.name))
        kept = frozenset(rows)
        cells: tuple[Cell, ...] = with_cells(
            column, lambda row, recipe: cell(row, recipe) if row in kept else None
        ).cells
        return replace(column, cells=tuple(cells[row] for row in rows))

    def _kept_columns(self, book: Book, sheet: Sheet) -> tuple[Column, ...]:
        wanted = self._keep[book.path, sheet.name].columns
        return tuple(c for c in sheet.columns if wanted is None or c.id in wanted)

    def _rows(self, tab: Tab) -> Mapping[int, int]:
        if tab not in self._new_rows:
            sheet = self._books[tab[0]].sheet(tab[1])
            rows = self._keep[tab].rows
            kept = rows if rows is not None else range(sheet.num_rows if sheet else 0)
            self._new_rows[tab] = {old: new for new, old in enumerate(kept)}
        return self._new_rows[tab]

    def _has(self, tab: Tab, *columns: str) -> bool:
        keep = self._keep.get(tab)
        return keep is not None and (keep.columns is None or keep.columns.issuperset(columns))

    def _stays(self, at: Placed, leaf: Recipe, row: int) -> bool:
        if not all(self._has(tab, *columns) for tab, *columns in _needs(at, leaf)):
            return False
        match leaf:
            case Take(where, _, number):
                return number in self._rows(whose(at.book, where))
            case Lookup():
                return self._found(at, leaf, row)
            case Through():
                return self._is_run(at.book, leaf)
        return True

    def _found(self, at: Placed, lookup: Lookup, row: int) -> bool:
        """True if the row that a lookup finds is kept, or if it finds none."""
        tab = whose(at.book, lookup.at)
        if (tab, lookup.match) not in self._first_rows:
            keys = self._values.values(self._values.sheet(at, lookup.at), lookup.match)
            first: dict[object, int] = {}
            for number, value in enumerate(keys):
                first.setdefault(_key(value), number)
            self._first_rows[tab, lookup.match] = first
        key = _key(self._values.values(at, lookup.key)[row])
        found = self._first_rows[tab, lookup.match].get(key)
        return found is None or found in self._rows(tab)

    def _is_run(self, book: Book, through: Through) -> bool:
        """True if all sheets of a 3-D sum are kept and have the cell in the same place."""
        sheets = run(book, through)
        places = set()
        for sheet in sheets:
            tab = (book.path, sheet.name)
            if not self._has(tab, through.column) or through.row not in self._rows(tab):
                return False
            columns = self._kept_columns(book, sheet)
            place = place_of(replace(sheet, columns=columns))
            column = place.left + [column.id for column in columns].index(through.column)
            places.add((place.first_row + self._rows(tab)[through.row], column))
        return len(places) == 1

    def _renumbered(self, book: Book, leaf: Recipe) -> Recipe:
        if isinstance(leaf, Take):
            return replace(leaf, row=self._rows(whose(book, leaf.at))[leaf.row])
        if isinstance(leaf, Through):
            return replace(leaf, row=self._rows((book.path, leaf.first))[leaf.row])
        return leaf


def _needs(at: Placed, leaf: Recipe) -> tuple[tuple[Tab, *tuple[str, ...]], ...]:
    own = (at.book.path, at.sheet.name)
    match leaf:
        case Own(column):
            return ((own, column),)
        case Take(where, column) | Total(where, column):
            return ((whose(at.book, where), column),)
        case TotalWhere(where, column, match, equals):
            return (whose(at.book, where), column, match), (own, equals)
        case Lookup(where, key, match, column):
            return (whose(at.book, where), column, match), (own, key)
    return ()


def _key(value: Value) -> object:
    """Return the key that a lookup compares; None for an empty cell, which is never found."""
    return None if value is None else match_key(value)


def _facts(sheet: Sheet, columns: Sequence[Column]) -> SheetFacts | None:
    if sheet.facts is None or len(columns) == len(sheet.columns):
        return sheet.facts
    ids = {column.id for column in columns}
    owners = [column.id for column in sheet.columns if column.key]
    keys = sheet.facts.keys
    if len(owners) == len(keys):  # spoken names are in the order of their columns
        keys = tuple(name for name, owner in zip(keys, owners, strict=True) if owner in ids)
    return with_schema(replace(sheet.facts, keys=keys), columns)
