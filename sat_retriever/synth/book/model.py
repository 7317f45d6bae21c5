"""Describe a workbook before it is a file: columns of values and recipes for formulas.

A recipe names the cells that a cell is calculated from by column ids, not by addresses. The
formula's text, its cached value and the true links all come from the same recipe, so they
cannot disagree. A recipe whose sheet or column was dropped becomes a plain value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from sat_retriever.questions.facts import SheetFacts

Value = str | int | float | bool | date | None
Function = Literal["SUM", "AVERAGE", "COUNT", "MAX", "MIN"]
Operator = Literal["+", "-", "*", "/"]
Style = Literal["text", "integer", "amount", "percent", "date"]


@dataclass(frozen=True, slots=True)
class SheetAt:
    """A reference to a sheet; `book` is the path of another workbook of the corpus, or empty."""

    sheet: str
    book: str = ""


@dataclass(frozen=True, slots=True)
class Own:
    """The cell of the same row in another column of the same sheet."""

    column: str


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Combine:
    """Two numbers combined by an operator; a division by zero gives 0 (written with IF)."""

    operator: Operator
    left: Recipe
    right: Recipe


@dataclass(frozen=True, slots=True)
class Take:
    """One cell, unchanged: `='Q1'!C7`. `row` counts data rows from 0."""

    at: SheetAt
    column: str
    row: int


@dataclass(frozen=True, slots=True)
class Total:
    """A column reduced to one number: `=SUM('Q1'!C5:C20)`."""

    at: SheetAt
    column: str
    function: Function = "SUM"


@dataclass(frozen=True, slots=True)
class TotalWhere:
    """The sum of the rows of a column whose `where` equals this row's `equals`: SUMIFS."""

    at: SheetAt
    column: str
    where: str
    equals: str


@dataclass(frozen=True, slots=True)
class Lookup:
    """The value in `column` of the first row whose `match` equals this row's `key`."""

    at: SheetAt
    key: str
    match: str
    column: str


@dataclass(frozen=True, slots=True)
class Through:
    """The sum of one cell over a run of sheets with the same layout: `=SUM(Jan:Dec!C7)`."""

    first: str
    last: str
    column: str
    row: int


Recipe = Own | Number | Combine | Take | Total | TotalWhere | Lookup | Through


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a sheet's table.

    Attributes:
        id: Name inside the templates ("material_code"); equal ids align between sheets.
        cells: One value or recipe per data row; all columns of a sheet have equally many.
        group: Header above this column and its neighbours in the same group, in a merged cell.
        unit: Text in the units row; empty for none.
        key: Identity of its values, for example "Apex Technologies/employee"; columns with
            equal keys join. Empty for all other columns.
        unique: True if each value occurs once, on the sheet that owns the key.
        placeholder: Noun of typed placeholders for high-cardinality text ("Movie").
        numbers: The numbers that a column of amounts with a unit writes, None for an empty cell;
            empty for every other column.
        measure: Unit that its cells or its header write; empty for every other column.
    """

    id: str
    header: str
    cells: tuple[Value | Recipe, ...]
    style: Style = "text"
    group: str = ""
    unit: str = ""
    key: str = ""
    unique: bool = False
    placeholder: str = ""
    numbers: tuple[int | float | None, ...] = ()
    measure: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """The position of a table and the texts around it.

    Attributes:
        titles: Lines above the table; the first is its title.
        first_row: Number of empty rows at the top.
        first_column: Number of empty columns on the left.
        notes: Lines below the table, after one empty row.
    """

    titles: tuple[str, ...] = ()
    gap: int = 1
    first_row: int = 0
    first_column: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart on a sheet: a column of numbers by a column of names, from any sheet."""

    at: SheetAt
    names: str
    numbers: str


@dataclass(frozen=True, slots=True)
class Choices:
    """A list validation: the cells of a column must be values of another sheet's column."""

    column: str
    at: SheetAt
    source: str


@dataclass(frozen=True, slots=True)
class Pivot:
    """A pivot table beside the sheet's own table, over another sheet of the workbook."""

    at: SheetAt
    rows: str
    numbers: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet with one table.

    Attributes:
        name: Name of the tab, as Excel allows it: at most 31 characters, none of []:*?/
        facts: Facts for questions, without sheet id; None for a sheet that answers no question
            (notes, lists of choices).
        totals: Columns with a total below the last row, and their functions; the first column
            contains `total_label`.
        table_name: Name of its table object; empty for a plain range.
    """

    name: str
    columns: tuple[Column, ...]
    facts: SheetFacts | None = None
    layout: Layout = Layout()
    totals: tuple[tuple[str, Function], ...] = ()
    total_label: str = "Total"
    hidden: bool = False
    table_name: str = ""
    charts: tuple[Chart, ...] = ()
    choices: tuple[Choices, ...] = ()
    pivots: tuple[Pivot, ...] = ()

    @property
    def num_rows(self) -> int:
        """The number of data rows."""
        return len(self.columns[0].cells) if self.columns else 0

    def column(self, column_id: str) -> Column | None:
        """Return the column of an id; None if the sheet has none."""
        return next((column for column in self.columns if column.id == column_id), None)


@dataclass(frozen=True, slots=True)
class Dialect:
    """The style in which a workbook's author writes formulas.

    Attributes:
        lookup: Function for lookups; INDEX/MATCH replaces VLOOKUP if the result is to the left of
            the key.
        ranges: Reference to a column: `$C$5:$C$20`, `C:C`, a defined name, or a table's column.
            Areas replace names and tables where these are impossible, and in other workbooks.
    """

    lookup: Literal["vlookup", "index_match", "xlookup"] = "vlookup"
    ranges: Literal["area", "column", "name", "table"] = "area"
    colour: str = "DDEBF7"
    font: str = "Calibri"


@dataclass(frozen=True, slots=True)
class Book:
    """One workbook.

    Attributes:
        path: POSIX path in the corpus's folder, ending in .xlsx.
        category: Category of the published statistics, for example "Inventory Products".
        sheets: Its sheets in tab order, at least one of them visible.
        convention: Name of the naming convention of its path.
    """

    path: str
    category: str
    sheets: tuple[Sheet, ...]
    dialect: Dialect = field(default_factory=Dialect)
    convention: str = ""

    def sheet(self, name: str) -> Sheet | None:
        """Return the sheet of a name; None if there is none."""
        return next((sheet for sheet in self.sheets if sheet.name == name), None)
