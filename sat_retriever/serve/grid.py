"""Cells laid out as a table: letters above, numbers at the side, headers and matches marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sat_retriever.records.area import Area, Place, area_of, column_letters
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.serve.blocks import Cells
from sat_retriever.serve.marking import Segment, whole
from sat_retriever.tools.cells import cell_text
from sat_retriever.workbook.window import CellValue

Mark = Callable[[str], list[Segment]]


@dataclass(frozen=True, slots=True)
class GridCell:
    """One cell.

    Attributes:
        parts: Its text.
        numeric: True for a number, which is shown at the right.
        header: True if it names a column.
        matched: True if it is one of the cells that the question matches.
    """

    parts: list[Segment]
    numeric: bool = False
    header: bool = False
    matched: bool = False


@dataclass(frozen=True, slots=True)
class GridRow:
    """One row: its number on the sheet, its cells, and True if it holds a matched cell."""

    number: int
    cells: tuple[GridCell, ...]
    matched: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """Some rows of a sheet with the letters of their columns."""

    letters: tuple[str, ...]
    rows: tuple[GridRow, ...]


def grid_of(
    record: SheetRecord,
    cells: Cells,
    matched: Sequence[Place] = (),
    mark: Mark | None = None,
) -> Grid:
    """Lay out cells of a sheet.

    Args:
        record: The sheet, whose tables tell which rows are headers.
        cells: The cells.
        matched: Row and column of the cells that match the question.
        mark: Marks words in the other cells; None marks nothing there.
    """
    if cells.area is None:
        return Grid((), ())
    area, places = cells.area, frozenset(matched)
    headers = header_areas(record)
    rows = []
    for number, values in enumerate(cells.rows, start=area.top):
        shown = tuple(
            _cell(value, (number, column), headers, places, mark)
            for column, value in enumerate(values, start=area.left)
        )
        rows.append(GridRow(number, shown, any(each.matched for each in shown)))
    letters = tuple(column_letters(each) for each in range(area.left, area.right + 1))
    return Grid(letters, tuple(rows))


def header_areas(record: SheetRecord) -> list[Area]:
    """Return the places of all headers: rows, or columns of transposed tables."""
    found = []
    for table in record.tables:
        place = area_of(table.range)
        if place is None:
            continue
        if table.transposed:
            found.append(Area(place.top, place.left, place.bottom, place.left))
        elif table.header_row is not None:
            last = table.header_row + max(table.header_height, 1) - 1
            found.append(Area(table.header_row, place.left, last, place.right))
    return found


def _cell(
    value: CellValue,
    place: Place,
    headers: Sequence[Area],
    matched: frozenset[Place],
    mark: Mark | None,
) -> GridCell:
    text = cell_text(value)
    hit = place in matched and bool(text)
    parts = whole(text, marked=hit) if hit or mark is None or not text else mark(text)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return GridCell(parts, number, any(each.holds(*place) for each in headers), hit)
