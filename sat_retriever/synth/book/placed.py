"""Compute the rows and columns of a sheet's parts from its layout alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sat_retriever.records.area import Area, column_letters
from sat_retriever.synth.book.model import Book, Column, Sheet


@dataclass(frozen=True, slots=True)
class Place:
    """The rows and columns of a sheet's parts, 1-based; 0 for a part that it does not have.

    Attributes:
        first_row: First data row, even if there is none.
        table: True if the table is written as a table object. Excel's table objects have one
            header row of distinct texts directly above their data, so a sheet with groups, units
            or equal headers has none, despite a `table_name`.
    """

    title_row: int
    group_row: int
    header_row: int
    units_row: int
    first_row: int
    num_rows: int
    totals_row: int
    notes_row: int
    left: int
    width: int
    table: bool

    @property
    def last_row(self) -> int:
        """The last data row."""
        return self.first_row + self.num_rows - 1

    @property
    def right(self) -> int:
        """The last column of the table."""
        return self.left + self.width - 1

    @property
    def top(self) -> int:
        """The topmost header row."""
        return self.group_row or self.header_row

    def whole(self) -> Area:
        """Return the area from the topmost header to the last data row or totals row."""
        bottom = self.totals_row or max(self.last_row, self.units_row, self.header_row)
        return Area(self.top, self.left, bottom, self.right)


@dataclass(frozen=True, slots=True)
class Placed:
    """A sheet of a workbook with its place; `numbers` has 1-based column numbers by column id."""

    book: Book
    sheet: Sheet
    place: Place
    numbers: Mapping[str, int]

    def __str__(self) -> str:
        return f"{self.book.path}#{self.sheet.name}"

    def column(self, column_id: str) -> Column:
        """Return the column of an id."""
        if column_id not in self.numbers:
            raise ValueError(f"{self} has no column {column_id!r}; it has {list(self.numbers)}")
        return self.sheet.columns[self.numbers[column_id] - self.place.left]

    def letters(self, column_id: str) -> str:
        """Return the letters of a column."""
        self.column(column_id)
        return column_letters(self.numbers[column_id])

    def row(self, number: int) -> int:
        """Return the 1-based sheet row of a data row counted from 0."""
        if not 0 <= number < self.place.num_rows:
            raise ValueError(f"{self} has {self.place.num_rows} data rows, none is row {number}")
        return self.place.first_row + number


def placed(book: Book, sheet: Sheet) -> Placed:
    """Return the sheet with its place."""
    left = 1 + sheet.layout.first_column
    numbers = {column.id: left + index for index, column in enumerate(sheet.columns)}
    found = Placed(book, sheet, place_of(sheet), numbers)
    if len(numbers) < len(sheet.columns):
        raise ValueError(f"{found} has two columns of the same id: {[c.id for c in sheet.columns]}")
    uneven = [c.id for c in sheet.columns if len(c.cells) != sheet.num_rows]
    if uneven:
        raise ValueError(f"{found}: columns {uneven} do not have {sheet.num_rows} cells")
    return found


def place_of(sheet: Sheet) -> Place:
    """Compute the rows of titles, headers, units, data, totals and notes, and the columns."""
    layout = sheet.layout
    row = title_row = 1 + layout.first_row
    if layout.titles:
        row += len(layout.titles) + (layout.gap if sheet.columns else 0)
    grouped = any(column.group for column in sheet.columns)
    with_units = any(column.unit for column in sheet.columns)
    header_row = row + grouped
    first_row = header_row + 1 + with_units if sheet.columns else row
    end = first_row + sheet.num_rows
    has_totals = bool(sheet.totals)
    return Place(
        title_row=title_row if layout.titles else 0,
        group_row=row if grouped else 0,
        header_row=header_row if sheet.columns else 0,
        units_row=header_row + 1 if with_units else 0,
        first_row=first_row,
        num_rows=sheet.num_rows,
        totals_row=end if has_totals else 0,
        notes_row=end + has_totals + (1 if end > title_row else 0) if layout.notes else 0,
        left=1 + layout.first_column,
        width=len(sheet.columns),
        table=_has_table(sheet) and not grouped and not with_units,
    )


def _has_table(sheet: Sheet) -> bool:
    headers = {column.header.strip().casefold() for column in sheet.columns}
    different = len(headers) == len(sheet.columns) and "" not in headers
    return bool(sheet.table_name) and different and sheet.num_rows > 0
