"""Declared structure of a workbook beside its records: the input of link discovery."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from sat_retriever.records.area import Area

SKETCH_SIZE = 128
Span = tuple[int, int]

RawFormula = tuple[str, str, str | None, str]
"""A cell's formula: its address, text without "=", filled range or None, and kind."""


@dataclass(frozen=True, slots=True)
class DefinedName:
    """A name for a range, constant or formula.

    Attributes:
        text: Formula text that it stands for, without a leading "=".
        sheet: Sheet it is valid on; None for the whole workbook.
        hidden: True if Excel hides it from its name manager.
    """

    name: str
    text: str
    sheet: str | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class TableObject:
    """A table that the workbook itself declares (Excel's "Format as Table").

    Attributes:
        area: Cells it covers, headers and totals included.
        header_rows: 0 or 1.
        columns: Declared names, left to right.
    """

    name: str
    area: Area
    header_rows: int = 1
    total_rows: int = 0
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A declared table object and its sheet."""

    sheet: str
    table: TableObject


class SourceKind(StrEnum):
    """Parts of a sheet that take their data from elsewhere, other than formulas of cells."""

    PIVOT = "pivot"
    CHART = "chart"
    VALIDATION = "validation"
    CONSOLIDATION = "consolidation"


@dataclass(frozen=True, slots=True)
class DataSource:
    """The data source of a pivot table, chart, list of choices or consolidation.

    Attributes:
        sheet: Sheet that shows it.
        text: As in a formula, without "=": `'Q1 data'!$A$1:$D$9`, a defined name or a table.
        place: Place on the sheet: a range, or the name of a chart or pivot table.
    """

    sheet: str
    kind: SourceKind
    text: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class External:
    """Another workbook that formulas refer to as `[index]`."""

    index: int
    target: str


@dataclass(frozen=True, slots=True)
class HiddenParts:
    """Hidden rows and columns of a sheet as 1-based inclusive spans."""

    sheet: str
    rows: tuple[Span, ...] = ()
    cols: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Structure:
    """Declared structure of a workbook; empty for formats that are read by value only.

    Attributes:
        hidden: Sheets without hidden rows or columns are left out.
        date_1904: True if serial dates count from 1904.
        tabs: All its sheets in tab order, also those that gave no record.
    """

    names: tuple[DefinedName, ...] = ()
    tables: tuple[SheetTable, ...] = ()
    sources: tuple[DataSource, ...] = ()
    externals: tuple[External, ...] = ()
    hidden: tuple[HiddenParts, ...] = ()
    date_1904: bool = False
    tabs: tuple[str, ...] = ()


class Use(StrEnum):
    """Use of the referenced cells by a formula."""

    VALUE = "value"
    AGGREGATE = "aggregate"
    LOOKUP = "lookup"


@dataclass(frozen=True, slots=True)
class Reference:
    """A sheet, name or table that formulas of a sheet take values from.

    Formulas of one sheet that use the same target in the same way are one reference.

    Attributes:
        sheet: Sheet that holds the formulas.
        cell: First cell with such a formula, in sheet order.
        formula: Its text without "=", cut to 200 characters.
        cells: Number of such cells; a filled range counts with all its cells.
        workbook: Another workbook as the formula names it: the index of an `External`, or a file
            name; empty for the sheet's own.
        first: Sheet name, unquoted; the first one of a 3-D range; empty for a name or table.
        last: Last sheet of a 3-D range; empty for a single sheet.
        name: Defined name or table.
        area: First range referred to, as written, without its sheet: "$B$2:$B$9", "A:C".
    """

    sheet: str
    use: Use
    cell: str
    formula: str
    cells: int = 1
    workbook: str = ""
    first: str = ""
    last: str = ""
    name: str = ""
    area: str = ""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """Sketch of the values of a table's column, used to find joins; it holds no value.

    Attributes:
        table: Position in the record's `tables`.
        column: Position in the table's `columns`.
        values: Number of sampled cells that have a value.
        distinct: Number of different values among them.
        sketch: The `SKETCH_SIZE` smallest hashes (32 bits) of those values, ascending.
    """

    sheet: str
    table: int
    column: int
    values: int
    distinct: int
    sketch: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CellSketch:
    """Sketch of a sheet's cells, by which copies are found; it holds no value.

    An item is a cell together with the label of its row. Its hash has 48 bits: the lower 16 are
    of the label alone, so that sketches of samples of rows can be compared.

    Attributes:
        step: Rows were looked at whose label's hash is a multiple of 2 ** step.
        numbers: Number of different items of numbers that were seen.
        texts: Number of those of texts, dates and truth values.
        number_sketch: The smallest hashes of items of numbers, ascending.
        text_sketch: Those of the other items, likewise.
        total: All hashes as one number, those of headers too; equal cells give equal totals.
    """

    sheet: str
    step: int
    numbers: int
    texts: int
    number_sketch: tuple[int, ...] = ()
    text_sketch: tuple[int, ...] = ()
    total: int = 0
