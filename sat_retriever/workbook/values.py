"""Cell values of a workbook's sheets as grids: python-calamine, or openpyxl where it fails.

This runs inside the capped worker. calamine reads a sheet as one dense block, so it
never gets a sheet whose used range is huge; openpyxl's streaming reader takes that
one, and every file that calamine refuses.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from sat_retriever.types import SkipReason, Visibility
from sat_retriever.workbook.grid import Area, CellError, Grid, Value
from sat_retriever.workbook.limits import Limits, Refused

MAX_TEXT = 2_000
_SHARED_TEXTS = 50_000
_MAX_GAP = 10_000
_MISSING: list[Value] = []
_VISIBLE = {"Hidden": Visibility.HIDDEN, "VeryHidden": Visibility.VERY_HIDDEN}
_OTHER = {
    "ChartSheet": "chart sheet",
    "DialogSheet": "dialog sheet",
    "Vba": "module sheet",
}


class ValuesFailed(Exception):  # noqa: N818 - a signal to try the other reader
    """The reader at hand cannot read this file or sheet."""


@dataclass(frozen=True, slots=True)
class SheetName:
    """A sheet as calamine lists it; `other` is empty for a worksheet."""

    name: str
    visibility: Visibility
    other: str


@dataclass(frozen=True, slots=True)
class SheetValues:
    """Values of one sheet.

    Attributes:
        grid: Its used range, or the first rows of it.
        area: The used range; of the rows read if `cut`. None without a value.
        merges: Merged rectangles.
        cut: Whether reading stopped before the end of the sheet.
    """

    grid: Grid
    area: Area | None
    merges: tuple[Area, ...] = ()
    cut: bool = False


class CalamineReader:
    """Dense grids by python-calamine.

    Its panics are `BaseException`s that are no `Exception`; each is turned into
    `ValuesFailed`. An allocation failure aborts the process: the worker's parent sees to it.
    """

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook
        self._loaded: dict[int, Any] = {}

    @classmethod
    def open(cls, source: Path | BinaryIO) -> CalamineReader:
        """The opened workbook.

        Raises:
            Refused: If the file is encrypted.
            ValuesFailed: If calamine cannot open it.
        """
        import python_calamine

        try:
            return cls(python_calamine.load_workbook(source))
        except python_calamine.PasswordError as error:
            message = "The workbook is encrypted; give its password to read it."
            raise Refused(SkipReason.ENCRYPTED, message) from error
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            raise ValuesFailed(f"{type(error).__name__}: {error}"[:200]) from error

    def sheets(self) -> list[SheetName]:
        """The sheets in tab order."""
        return [
            SheetName(
                meta.name,
                _VISIBLE.get(str(meta.visible).rpartition(".")[2], Visibility.VISIBLE),
                _OTHER.get(str(meta.typ).rpartition(".")[2], ""),
            )
            for meta in self._workbook.sheets_metadata
        ]

    def load(self, index: int) -> None:
        """Parse a sheet now; Python's lock is free meanwhile. `values` takes it from here.

        Raises:
            ValuesFailed: If calamine cannot read the sheet.
        """
        try:
            self._loaded = {index: self._workbook.get_sheet_by_index(index)}
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            raise ValuesFailed(f"{type(error).__name__}: {error}"[:200]) from error

    def values(self, index: int, limits: Limits) -> SheetValues:
        """Values and merges of one sheet.

        The grid ends after `limits.cells` cells; the used range does not.

        Raises:
            ValuesFailed: If calamine cannot read the sheet.
        """
        if index not in self._loaded:
            self.load(index)
        try:
            sheet = self._loaded.pop(index)
            start = sheet.start
            if start is None:
                return SheetValues(Grid([]), None)
            width = max(1, sheet.width)
            # iter_rows begins at the first row of the sheet, but at the used range's column.
            rows = _cleaned(islice(sheet.iter_rows(), start[0], None))
            grid, area = _bounded(rows, (start[0] + 1, start[1] + 1), max(1, limits.cells // width))
            return SheetValues(grid, area, _merges(sheet.merged_cell_ranges or []))
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            raise ValuesFailed(f"{type(error).__name__}: {error}"[:200]) from error


class OpenpyxlReader:
    """Ragged, bounded grids by openpyxl's streaming reader; for any sparse sheet."""

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook

    @classmethod
    def open(cls, file: BinaryIO) -> OpenpyxlReader:
        """The opened workbook.

        Raises:
            ValuesFailed: If openpyxl cannot open it.
        """
        import openpyxl

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return cls(openpyxl.load_workbook(file, read_only=True, data_only=True))
        except MemoryError:
            raise
        except Exception as error:
            raise ValuesFailed(f"{type(error).__name__}: {error}"[:200]) from error

    def sheets(self) -> list[SheetName]:
        """The sheets in tab order."""
        states = {"hidden": Visibility.HIDDEN, "veryHidden": Visibility.VERY_HIDDEN}
        worksheets = {id(sheet) for sheet in self._workbook.worksheets}
        return [
            SheetName(
                sheet.title,
                states.get(sheet.sheet_state, Visibility.VISIBLE),
                "" if id(sheet) in worksheets else "chart sheet",
            )
            for sheet in self._workbook
        ]

    def values(self, index: int, limits: Limits) -> SheetValues:
        """As `CalamineReader.values`, without merges; stops at the limit or at damage.

        Raises:
            ValuesFailed: If not one row can be read.
        """
        sheet = list(self._workbook)[index]
        rows: list[list[Value]] = []
        held = 0
        cut = False
        texts = _Texts()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                sheet.reset_dimensions()
                for cells in sheet.iter_rows():
                    row = _openpyxl_row(cells, texts)
                    held += len(row)
                    if held > limits.cells:
                        cut = True
                        break
                    rows.append(row or _MISSING)
        except MemoryError:
            raise
        except Exception as error:
            cut = True
            if not any(rows):
                raise ValuesFailed(f"{type(error).__name__}: {error}"[:200]) from error
        grid, area = _bounded(iter(rows), (1, 1), len(rows))
        return SheetValues(grid, area, cut=cut)


def with_errors(grid: Grid, errors: Sequence[tuple[int, int, str]]) -> Grid:
    """The grid with error values put where calamine left a gap.

    An error far below the last row is left out: the grid was cut before it.
    """
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
        if rows[index] is _MISSING:
            rows[index] = []
        row = rows[index]
        row.extend([None] * (col - left + 1 - len(row)))
        row[col - left] = CellError(text)
    return Grid(rows, top, left)


class _Texts(dict[str, str | None]):
    """Cell text → the text that is kept: cut, None if empty, and shared by equal cells.

    Any header detection can afford the length it is cut to: a file of 2 MB can hold
    twenty thousand cells that all are the same string of 1 MB.
    """

    def __missing__(self, text: str) -> str | None:
        kept = text[:MAX_TEXT] or None
        if len(self) < _SHARED_TEXTS and len(text) <= MAX_TEXT:
            self[text] = kept
        return kept


def _cleaned(rows: Iterable[list[Any]]) -> Iterator[list[Value]]:
    texts = _Texts()
    for row in rows:
        yield [texts[value] if type(value) is str else value for value in row]


def _openpyxl_row(cells: Sequence[Any], texts: _Texts) -> list[Value]:
    row: list[Value] = []
    for cell in cells:
        value = cell.value
        if isinstance(value, str):
            value = CellError(value) if cell.data_type == "e" else texts[value]
        row.append(value)
    while row and row[-1] is None:
        row.pop()
    return row


def _bounded(
    rows: Iterator[list[Value]], origin: tuple[int, int], max_rows: int
) -> tuple[Grid, Area | None]:
    """(the trimmed grid of at most `max_rows` rows, true used range of all rows)."""
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
    """First and last index of a value in the row; None if there is none."""
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


def _merges(ranges: Iterable[tuple[tuple[int, int], tuple[int, int]]]) -> tuple[Area, ...]:
    return tuple(Area(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1) for start, end in ranges)
