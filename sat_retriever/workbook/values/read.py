"""The values of a sheet as both readers return them, within limits and with error values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sat_retriever.records.area import Area
from sat_retriever.records.sheets import SkipReason, Visibility
from sat_retriever.workbook.values.grid import CellError, Grid, Value

MAX_TEXT = 2_000
MISSING: list[Value] = []  # one shared empty row, because a sparse sheet can have a million of them
_SHARED_TEXTS = 50_000
_MAX_GAP = 10_000


class ValuesFailed(Exception):  # noqa: N818 - a signal to try the other reader
    """A reader cannot read this file or sheet."""

    @classmethod
    def because(cls, error: BaseException | None) -> ValuesFailed:
        """The failure without the foreign message, which may quote cell values."""
        return cls(f"the reader stops with {type(error).__name__}")


@dataclass(frozen=True, slots=True)
class ListedSheet:
    """A sheet as listed by its workbook."""

    name: str
    visibility: Visibility = Visibility.VISIBLE
    # Kind of a sheet without cells, such as "chart sheet"; empty for a sheet with cells, including
    # an old macro sheet
    other: str = ""
    part: str = ""  # part of the package with its cells; empty if unknown


def sheet_indices(sheets: Sequence[ListedSheet]) -> dict[str, int]:
    """Position of each sheet by its name; the first one if a name occurs twice.

    >>> sheet_indices([ListedSheet(name) for name in "aba"])
    {'a': 0, 'b': 1}
    """
    indices: dict[str, int] = {}
    for index, sheet in enumerate(sheets):
        indices.setdefault(sheet.name, index)
    return indices


@dataclass(frozen=True, slots=True)
class SheetValues:
    """Values of one sheet."""

    grid: Grid  # its used range, or the first rows of it
    area: Area | None  # the used range, only of the rows read if `cut`; None without a value
    merges: tuple[Area, ...] = ()
    # Reason why reading stopped before the end of the sheet: `TOO_LARGE`, `TIMEOUT` or `DAMAGED`;
    # None if it did not
    cut: SkipReason | None = None
    lost: int = 0  # number of cells that are left empty because they cannot be read

    @property
    def shortened(self) -> bool:
        """True if the grid ends before the used range does."""
        last = self.grid.first_row + len(self.grid.rows) - 1
        return self.area is not None and last < self.area.bottom


def with_errors(grid: Grid, errors: Sequence[tuple[int, int, str]]) -> Grid:
    """The grid with error values in the gaps that calamine leaves, up to where it was cut."""
    if not errors:
        return grid
    places = [(row, col) for row, col, _text in errors]
    first_row, first_col = (grid.first_row, grid.first_col) if grid.rows else places[0]
    top = min(first_row, *(row for row, _col in places))
    left = min(first_col, *(col for _row, col in places))
    pad: list[Value] = [None] * (first_col - left)
    rows: list[list[Value]] = [[] for _ in range(top, first_row)]
    rows += [pad + row for row in grid.rows] if pad else grid.rows
    for row_number, col, text in errors:
        index = row_number - top
        if index > len(rows) + _MAX_GAP:
            continue
        rows.extend([] for _ in range(len(rows), index + 1))
        if rows[index] is MISSING:
            rows[index] = []
        row = rows[index]
        row.extend([None] * (col - left + 1 - len(row)))
        row[col - left] = CellError(text)
    return Grid(rows, top, left)


class Texts(dict[str, str | None]):
    """Kept texts by cell text: cut, None if blank, and shared by equal cells.

    The cut bounds the cost of header detection: a file of 2 MB can have twenty thousand cells
    with the same string of 1 MB.
    """

    def __missing__(self, text: str) -> str | None:
        kept = None if not text or text.isspace() else text[:MAX_TEXT]
        if len(self) < _SHARED_TEXTS and len(text) <= MAX_TEXT:
            self[text] = kept
        return kept


def bounded(
    rows: Iterator[list[Value]], origin: tuple[int, int], max_rows: int
) -> tuple[Grid, Area | None]:
    """Trim rows to (grid of at most `max_rows` rows, true used range of all rows)."""
    kept: list[list[Value]] = []
    top = bottom = 0
    left, right = 1 << 31, 0
    for number, row in enumerate(rows, start=1):
        used = _used(row)
        if used is not None:
            top = top or number
            bottom = number
            left = min(left, used[0])
            right = max(right, used[1])
        if top and number - top < max_rows:
            kept.append(row)
    if not top:
        return Grid([]), None
    del kept[bottom - top + 1 :]
    if left:
        kept = [row[left:] for row in kept]
    first_row, first_col = origin
    area = Area(top + first_row - 1, left + first_col, bottom + first_row - 1, right + first_col)
    return Grid(kept, area.top, area.left), area


def _used(row: list[Value]) -> tuple[int, int] | None:
    last = len(row) - 1
    if last >= 0 and row[0] is not None and row[last] is not None:
        return 0, last
    while last >= 0 and row[last] is None:
        last -= 1
    if last < 0:
        return None
    first = 0
    while row[first] is None:
        first += 1
    return first, last
