"""What a workbook declares about itself beside its cells: the input of link discovery."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.workbook.grid import TableObject

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DefinedName:
    """A name for a range, constant or formula.

    Attributes:
        name: The name.
        text: What it stands for, without a leading "=".
        sheet: Sheet it is valid on; None for the whole workbook.
        hidden: Whether Excel hides it from its name manager.
    """

    name: str
    text: str
    sheet: str | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class SheetTable:
    """A declared table object and the sheet it stands on."""

    sheet: str
    table: TableObject


@dataclass(frozen=True, slots=True)
class PivotSource:
    """Where a pivot table takes its data from.

    Attributes:
        sheet: Sheet that shows the pivot table.
        source_sheet: Sheet that holds the data; None if given by name or external.
        range: A1 range of the data; None if given by name.
        name: Table or defined name of the data; None if given by range.
    """

    sheet: str
    source_sheet: str | None = None
    range: str | None = None
    name: str | None = None


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
        names: Defined names.
        tables: Table objects.
        pivots: Sources of pivot tables.
        externals: Workbooks referred to by formulas.
        hidden: Hidden rows and columns, sheets without any left out.
        date_1904: Whether serial dates count from 1904.
    """

    names: tuple[DefinedName, ...] = ()
    tables: tuple[SheetTable, ...] = ()
    pivots: tuple[PivotSource, ...] = ()
    externals: tuple[External, ...] = ()
    hidden: tuple[HiddenParts, ...] = ()
    date_1904: bool = False
