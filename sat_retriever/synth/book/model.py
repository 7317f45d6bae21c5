"""A workbook before it is a file: columns of values, and recipes for what is computed.

A recipe says what a cell takes from where, by column ids and not by addresses. From the
same recipe come the formula's text, its cached value, and the true links, so the three
cannot disagree; a recipe whose sheet or column was dropped becomes a plain value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from sat_retriever.questions.facts import SheetFacts

Value = str | int | float | bool | date | None
Function = Literal["SUM", "AVERAGE", "COUNT", "MAX", "MIN"]
Style = Literal["text", "integer", "amount", "percent", "date"]


@dataclass(frozen=True, slots=True)
class SheetAt:
    """A sheet to take from.

    Attributes:
        sheet: Name of the tab.
        book: Path of another workbook of the corpus; empty for the own one.
    """

    sheet: str
    book: str = ""


@dataclass(frozen=True, slots=True)
class Own:
    """The same row's cell in another column of the own sheet."""

    column: str


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Combine:
    """Two numbers combined; a division by zero gives 0 (written with IF)."""

    operator: Literal["+", "-", "*", "/"]
    left: Recipe
    right: Recipe


@dataclass(frozen=True, slots=True)
class Take:
    """One cell as it is: `='Q1'!C7`. `row` counts data rows from 0."""

    at: SheetAt
    column: str
    row: int


@dataclass(frozen=True, slots=True)
class Total:
    """A column in one number: `=SUM('Q1'!C5:C20)`."""

    at: SheetAt
    column: str
    function: Function = "SUM"


@dataclass(frozen=True, slots=True)
class TotalWhere:
    """The sum of those rows of a column whose `where` equals the own row's `equals`: SUMIFS."""

    at: SheetAt
    column: str
    where: str
    equals: str


@dataclass(frozen=True, slots=True)
class Lookup:
    """`column` of the first row whose `match` equals the own row's `key`."""

    at: SheetAt
    key: str
    match: str
    column: str


@dataclass(frozen=True, slots=True)
class Through:
    """One cell summed through a run of sheets of equal layout: `=SUM(Jan:Dec!C7)`."""

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
        header: What the sheet shows.
        cells: One value or recipe a data row; all columns of a sheet have equally many.
        style: How its cells are formatted.
        group: Header above this and its neighbours of the same group, in a merged cell.
        unit: Text of the units row; empty without.
        key: What its values identify, for example "Apex Technologies/employee"; columns
            of equal keys join. Empty for all others.
        unique: Whether each value stands here once: the sheet that owns the key.
        placeholder: Noun of typed placeholders for high-cardinality text ("Movie").
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


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a table stands.

    Attributes:
        titles: Lines above the table; the first one is its title.
        gap: Empty rows between titles and header.
        first_row: Rows left empty above everything.
        first_column: Columns left empty on the left.
        notes: Lines below the table, after one empty row.
    """

    titles: tuple[str, ...] = ()
    gap: int = 1
    first_row: int = 0
    first_column: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart on a sheet: one column of numbers against one of names, of some sheet."""

    at: SheetAt
    names: str
    numbers: str


@dataclass(frozen=True, slots=True)
class Choices:
    """A column whose cells must be one of another sheet's column (a list validation)."""

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
        name: Name of the tab as Excel allows it: at most 31 characters, none of []:*?/
        columns: Its table, left to right.
        facts: What questions can ask for, without sheet id; None for a sheet that
            answers no question (notes, lists of choices).
        layout: Where the table stands.
        totals: Columns with a total below the last row, and how; the first column
            holds `total_label`.
        total_label: Text of the totals row, for example "Total".
        hidden: Whether Excel hides it.
        table_name: Name of its table object; empty for a plain range.
        charts: Charts beside the table.
        choices: List validations.
        pivots: Pivot tables.
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
        """Number of data rows."""
        return len(self.columns[0].cells) if self.columns else 0

    def column(self, column_id: str) -> Column | None:
        """The column of an id; None if the sheet has none."""
        return next((column for column in self.columns if column.id == column_id), None)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a workbook's author writes formulas.

    Attributes:
        lookup: Function for lookups; VLOOKUP gives way to INDEX/MATCH where it cannot look
            to the left.
        ranges: How a column is named: `$C$5:$C$20`, `C:C`, a defined name, or a table's
            column (of the own workbook; otherwise and elsewhere by area).
        colour: Fill of headers as RRGGBB.
        font: Name of the font.
    """

    lookup: Literal["vlookup", "index_match", "xlookup"] = "vlookup"
    ranges: Literal["area", "column", "name", "table"] = "area"
    colour: str = "DDEBF7"
    font: str = "Calibri"


@dataclass(frozen=True, slots=True)
class Book:
    """One workbook.

    Attributes:
        path: POSIX path below the corpus's folder, ending in .xlsx.
        category: Category of the published statistics, for example "Inventory Products".
        sheets: Its sheets in tab order, at least one visible.
        dialect: How its formulas are written.
        convention: Name of the naming convention that named it.
    """

    path: str
    category: str
    sheets: tuple[Sheet, ...]
    dialect: Dialect = field(default_factory=Dialect)
    convention: str = ""

    def sheet(self, name: str) -> Sheet | None:
        """The sheet of a name; None if there is none."""
        return next((sheet for sheet in self.sheets if sheet.name == name), None)
