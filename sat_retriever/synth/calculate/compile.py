"""Compile a workbook's recipes to cells: a formula's text and value come from one tree."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sat_retriever.records.area import Area
from sat_retriever.synth.book.model import Book, Column, Function, SheetAt, Value
from sat_retriever.synth.book.placed import Placed
from sat_retriever.synth.calculate.arithmetic import number, numbers_in
from sat_retriever.synth.calculate.evaluate import RECIPES, Values
from sat_retriever.synth.calculate.formula_text import Formulas

LABELS, ALL = "Row Labels", "Grand Total"  # Excel's own labels


@dataclass(frozen=True, slots=True)
class PivotTable:
    """A pivot table as Excel shows it: ascending names with their sums, then the grand total."""

    source: Placed
    rows: str
    numbers: str
    items: tuple[tuple[str | int | float, int | float], ...]
    area: Area

    @property
    def caption(self) -> str:
        """The header of the sums."""
        return f"Sum of {self.source.column(self.numbers).header}"

    @property
    def total(self) -> int | float:
        """The grand total."""
        return sum(value for _, value in self.items)

    def lines(self) -> list[tuple[str | int | float, str | int | float]]:
        """Return its cells, row by row."""
        return [(LABELS, self.caption), *self.items, (ALL, self.total)]


def pivot_tables(values: Values, at: Placed) -> tuple[PivotTable, ...]:
    """Return the pivot tables to the right of a sheet's own table, side by side.

    A source needs one row of distinct headers directly above its data: a pivot table of a sheet
    with a units row or equal headers is left out.
    """
    found: list[PivotTable] = []
    left = at.place.right + 2
    for pivot in at.sheet.pivots:
        source = values.sheet(at, pivot.at)
        names, numbers = (values.values(source, x) for x in (pivot.rows, pivot.numbers))
        if not _can_be_source(source) or pivot.rows == pivot.numbers:
            continue
        items = _items(source, list(names), list(numbers))
        top = at.place.header_row
        area = Area(top, left, top + len(items) + 1, left + 1)
        found.append(PivotTable(source, pivot.rows, pivot.numbers, items, area))
        left += 3
    return tuple(found)


def _can_be_source(source: Placed) -> bool:
    headers = {column.header.strip().casefold() for column in source.sheet.columns}
    plain = len(headers) == len(source.sheet.columns) and "" not in headers
    return plain and bool(source.place.num_rows) and not source.place.units_row


def _items(
    source: Placed, names: list[Value], numbers: list[Value]
) -> tuple[tuple[str | int | float, int | float], ...]:
    sums: dict[str | int | float, int | float] = {}
    written: dict[str, str] = {}  # Excel ignores the letter case of names
    for name, value in zip(names, numbers, strict=True):
        if name in (None, "") or not isinstance(name, str | int | float):
            raise ValueError(f"{source}: a pivot table needs texts or numbers, not {name!r}")
        item = written.setdefault(name.casefold(), name) if isinstance(name, str) else name
        sums[item] = sums.get(item, 0) + sum(numbers_in([value]))
    return tuple(sorted(sums.items(), key=lambda item: _order(item[0])))


def _order(name: str | int | float) -> tuple[bool, float, str]:
    """Return a sort key: numbers before texts, both ascending."""
    text = isinstance(name, str)
    return text, 0.0 if text else float(number(name)), str(name).casefold()


_TABLE_NAME = re.compile(r"[^\W\d][\w.]{2,}")
_LIKE_ADDRESS = re.compile(r"[A-Za-z]{1,3}[0-9]+|[Rr][0-9]+[Cc][0-9]+")


@dataclass(frozen=True, slots=True)
class CompiledColumn:
    """The cells of one column.

    Attributes:
        values: Value of each data row; "" and None are empty.
        formulas: Formula of each data row without "="; empty if there is none.
        function: Function of the totals row; None for none.
    """

    values: tuple[Value, ...]
    formulas: tuple[str, ...]
    function: Function | None = None
    total: int | float = 0


@dataclass(frozen=True, slots=True)
class CompiledSheet:
    """A sheet with its cells; `choices` has column and source text of each list of choices."""

    at: Placed
    columns: tuple[CompiledColumn, ...]
    choices: tuple[tuple[str, str], ...] = ()
    pivots: tuple[PivotTable, ...] = ()


@dataclass(frozen=True, slots=True)
class External:
    """Another workbook that formulas refer to; `cells` are (tab, 1-based row, column, value)."""

    path: str
    tabs: tuple[str, ...]
    cells: tuple[tuple[str, int, int, Value], ...]


@dataclass(frozen=True, slots=True)
class CompiledBook:
    """A workbook ready to be written.

    Attributes:
        names: Defined names and their references, without "=".
        externals: Other workbooks; `[1]` in a formula is the first.
    """

    book: Book
    sheets: tuple[CompiledSheet, ...]
    names: tuple[tuple[str, str], ...] = ()
    externals: tuple[External, ...] = ()
    values: Values = field(default_factory=lambda: Values(lambda _path: None), repr=False)


def compiled(
    book: Book, books: Callable[[str], Book | None], values: Values | None = None
) -> CompiledBook:
    """Compile the workbook: the value of every cell and the text of every formula.

    `books` finds another workbook by its path. Share `values` among workbooks that refer to each
    other, so that each cell is calculated once.
    """
    values = values or Values(books)
    sheets = values.add(book)
    _check(sheets)
    calculated = [
        [tuple(values.values(at, column.id)) for column in at.sheet.columns] for at in sheets
    ]
    formulas = Formulas(values)
    done = tuple(
        _sheet(at, columns, formulas) for at, columns in zip(sheets, calculated, strict=True)
    )
    names = tuple(sorted(formulas.names.items()))
    return CompiledBook(book, done, names, _externals(sheets, formulas), values)


def _check(sheets: list[Placed]) -> None:
    path = sheets[0].book.path if sheets else "a workbook without sheets"
    if all(at.sheet.hidden for at in sheets):
        raise ValueError(f"{path}: at least one sheet must be visible")
    tables = [at.sheet.table_name for at in sheets if at.place.table]
    for name in tables:
        if not _TABLE_NAME.fullmatch(name) or _LIKE_ADDRESS.fullmatch(name):
            raise ValueError(f"{path}: {name!r} cannot be the name of a table")
    if len({name.casefold() for name in tables}) < len(tables):
        raise ValueError(f"{path}: two tables have the same name: {tables}")


def _sheet(at: Placed, columns: list[tuple[Value, ...]], formulas: Formulas) -> CompiledSheet:
    functions = dict(at.sheet.totals)
    unknown = set(functions) - set(at.numbers)
    if unknown:
        raise ValueError(f"{at} has totals of columns that it does not have: {sorted(unknown)}")
    first = at.sheet.columns[0].id if at.sheet.columns else ""
    done = []
    for column, values in zip(at.sheet.columns, columns, strict=True):
        function = functions.get(column.id) if column.id != first else None
        total = formulas.values.total(at, column.id, function) if function else 0
        done.append(CompiledColumn(values, _formulas(at, column, formulas), function, total))
    pivots = pivot_tables(formulas.values, at)
    return CompiledSheet(at, tuple(done), _choices(at, formulas), pivots)


def _formulas(at: Placed, column: Column, formulas: Formulas) -> tuple[str, ...]:
    return tuple(
        formulas.text(at, column, row, cell) if isinstance(cell, RECIPES) else ""
        for row, cell in enumerate(column.cells)
    )


def _choices(at: Placed, formulas: Formulas) -> tuple[tuple[str, str], ...]:
    found = []
    for each in at.sheet.choices:
        at.column(each.column)
        _must_be_own(at, each.at, "a list of choices")
        found.append((each.column, formulas.choices(at, each.at, each.source)))
    for shown in (*(chart.at for chart in at.sheet.charts), *(x.at for x in at.sheet.pivots)):
        _must_be_own(at, shown, "a chart or pivot table")
    return tuple(found)


def _must_be_own(own: Placed, at: SheetAt, what: str) -> None:
    if at.book and at.book != own.book.path:
        raise ValueError(f"{own}: {what} cannot show another workbook, {at.book}")


def _externals(sheets: list[Placed], formulas: Formulas) -> tuple[External, ...]:
    found = []
    for path, columns in formulas.external.items():
        cells: dict[tuple[int, int, int], tuple[str, int, int, Value]] = {}
        tabs: tuple[str, ...] = ()
        for (sheet, column), rows in columns.items():
            target = formulas.values.sheet(sheets[0], SheetAt(sheet, path))
            tabs = tabs or tuple(each.name for each in target.book.sheets)
            values = formulas.values.values(target, column)
            for row in range(len(values)) if rows is None else sorted(rows):
                place = (target.row(row), target.numbers[column])
                cells[tabs.index(sheet), *place] = (sheet, *place, values[row])
        found.append(External(path, tabs, tuple(cells[key] for key in sorted(cells))))
    return tuple(found)
