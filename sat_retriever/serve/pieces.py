"""Cells of a sheet for the pages: a piece of it, or the few rows that are shown of a hit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.area import Area, area_of
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.serve.blocks import BlockReader, Cells
from sat_retriever.serve.grid import Grid, Marker, grid_of, narrowed, preview_rows
from sat_retriever.serve.request import (
    PageError,
    cell_of,
    cells_of,
    column_of,
    piece_url,
    places_of,
    row_of,
    sheet_url,
    text_of,
)
from sat_retriever.serve.searchform import SearchForm
from sat_retriever.stages import Told, tell
from sat_retriever.tools.naming import nearest_names

ROWS, COLUMNS = 100, 40  # of one piece
_NEAR_ROWS, _ABOVE, _BESIDE = 40, 5, 1  # in sight from the start; shown before a cell
_MOST_COLUMNS = 8  # of a preview


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a sheet, with the ways to the others.

    Addresses are those of pages, "" at an edge; `next_piece` is that of the next rows alone, to be
    added to the page. `shown` is the range in words, "" without cells.
    """

    grid: Grid
    shown: str = ""
    next_rows: str = ""
    next_piece: str = ""
    before: str = ""
    right: str = ""
    left: str = ""
    cut: bool = False


def record_of(index: SheetIndex, given: Mapping[str, str]) -> SheetRecord:
    """Return the sheet that the parameter `id` names."""
    sheet_id = given.get("id", "")
    text_of(given, "id")
    found = index.records([sheet_id]).get(sheet_id)
    if found is None:
        names = nearest_names(index, sheet_id) if sheet_id.strip() else ()
        near = tuple(each for each in names if index.records([each]))
        raise PageError(404, f"There is no sheet {sheet_id[:200]!r} in the index.", near)
    tell(Told.READ, sheet_id)
    return found


def piece_of(record: SheetRecord, reader: BlockReader, given: Mapping[str, str]) -> Piece:
    """Return the rows from a row on."""
    cells, asked = cells_of(given), SearchForm.of(given).asked
    used = area_of(record.range or "") or Area(1, 1, 1, 1)
    goal = cell_of(given)
    top, left = row_of(given, used.top), column_of(given, used.left)
    if goal and goal[0] >= used.top + _NEAR_ROWS:
        top = goal[0] - _ABOVE
    if goal and goal[1] >= used.left + COLUMNS:
        left = goal[1] - _BESIDE
    wanted = Area(top, left, top + ROWS - 1, left + COLUMNS - 1)
    found = read_cells(record, reader, wanted)
    if found.area is None:
        return Piece(Grid((), ()), cut=found.cut)
    matched = places_of(cells)
    area, used = found.area, found.used or found.area
    here = partial(sheet_url, record.sheet_id, cells=cells, asked=asked)
    after, before = area.bottom + 1, max(used.top, area.top - ROWS)
    right, before_left = area.right + 1, max(used.left, area.left - COLUMNS)
    return Piece(
        grid_of(record, found, matched, asked=goal),
        area.a1(),
        here(row=after, column=left) if after <= used.bottom else "",
        piece_url(record.sheet_id, after, left, cells, asked) if after <= used.bottom else "",
        here(row=before, column=left) if area.top > used.top else "",
        here(row=top, column=right) if right <= used.right else "",
        here(row=top, column=before_left) if area.left > used.left else "",
        found.cut,
    )


def preview_of(index: SheetIndex, reader: BlockReader, given: Mapping[str, str]) -> Grid:
    """Return the first rows of a sheet, and those that match."""
    record = record_of(index, given)
    range_, question = text_of(given, "range"), text_of(given, "q")
    area = area_of(range_.upper()) or area_of(record.main_range or "")
    if area is None:
        raise PageError(400, "The sheet has no known range; open it.")
    matched = places_of(cells_of(given))
    first = next((at for at in matched if area.holds(*at)), (area.top, area.left))
    left = area.left if first[1] < area.left + COLUMNS else first[1]
    right = min(area.right, left + COLUMNS - 1)
    rows = preview_rows(record, area, matched)
    grids = [
        grid_of(record, read_cells(record, reader, each), matched, Marker(question))
        for each in _runs(rows, left, right)
    ]
    letters = next((each.letters for each in grids if each.letters), ())
    return narrowed(Grid(letters, tuple(row for each in grids for row in each.rows)), _MOST_COLUMNS)


def _runs(rows: Sequence[int], left: int, right: int) -> Iterator[Area]:
    """Yield the areas of rows that follow each other."""
    start = 0
    for end in range(1, len(rows) + 1):
        if end == len(rows) or rows[end] > rows[end - 1] + 1:
            yield Area(rows[start], left, rows[end - 1], right)
            start = end


def read_cells(record: SheetRecord, reader: BlockReader, wanted: Area) -> Cells:
    """Return cells of a sheet, or raise a PageError that names no folder of this machine."""
    with reading(record):
        return reader.read(record, wanted)


@contextmanager
def reading(record: SheetRecord) -> Iterator[None]:
    """Tell in words, and without a folder of this machine, why a sheet's file cannot be read."""
    try:
        yield
    except PathNotFoundError as error:
        raise PageError(410, gone(record)) from error
    except InputError as error:
        if not record.path:
            raise PageError(404, "This sheet was indexed without a file.") from error
        raise PageError(409, f"{error}.") from error


def gone(record: SheetRecord) -> str:
    """Return the sentence on a workbook that is no longer there."""
    return f"The workbook of {record.sheet_id!r} is gone; index its folder again."
