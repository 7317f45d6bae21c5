"""A sheet's values as a dense grid, with sets of its cells and their number formats."""

from __future__ import annotations

import datetime as dt
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import MAX_COLUMN, MAX_ROW, Area
from sat_retriever.workbook.values.numberformat import PLAIN, NumberFormat

_ROW = 1 << 14  # places per row: columns are 1 to 16,384

Indices = NDArray[np.int64]
MAX_FORMATS = 255

FormatArray = NDArray[np.uint8]


class Places:
    """Some cells of a sheet, up to a given number.

    >>> places = Places(6)
    >>> places.add(3, 2)
    >>> places.fill(Area(1, 1, 2, 2))
    >>> places.fill(Area(9, 9, 99, 99))  # too large: only its first cell is kept
    >>> len(places), places.area
    (6, Area(top=1, left=1, bottom=9, right=9))
    """

    __slots__ = ("_codes", "_room")

    def __init__(self, room: int = 0, cells: Iterable[tuple[int, int]] = ()) -> None:
        self._codes = array("q")
        self._room = room
        for row, col in cells:
            self.add(row, col)

    def __len__(self) -> int:
        return len(self._codes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Places) and self._codes == other._codes

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"Places({list(zip(*map(list, self.indices()), strict=True))})"

    def add(self, row: int, col: int) -> None:
        """Keep one cell, if there is room and it can be on a sheet."""
        if len(self._codes) < self._room and 0 < row <= MAX_ROW and 0 < col <= MAX_COLUMN:
            self._codes.append(row * _ROW + col - 1)

    def fill(self, area: Area) -> None:
        """Keep all cells of an area, or only the first if there is no room for all."""
        width = len(area.columns)
        if area.size > self._room - len(self._codes):
            self.add(area.top, area.left)
            return
        for row in area.rows:
            first = row * _ROW + area.left - 1
            self._codes.extend(range(first, first + width))

    def above(self, last: int) -> Places:
        """The cells in rows up to `last`, inclusive."""
        kept = Places(0)
        kept._codes = array("q", (code for code in self._codes if code < (last + 1) * _ROW))
        return kept

    def indices(self) -> tuple[Indices, Indices]:
        """Rows and columns of the cells, both (n,) int64, counted from 1."""
        codes = np.frombuffer(self._codes, dtype=np.int64)
        return codes // _ROW, codes % _ROW + 1

    @property
    def area(self) -> Area | None:
        """Smallest rectangle of all cells; None without any."""
        if not self._codes:
            return None
        rows, cols = self.indices()
        return Area(int(rows.min()), int(cols.min()), int(rows.max()), int(cols.max()))


NO_PLACES = Places()


class CellFormats:
    """Formats of cells with numbers, nine bytes each: `shown` from code 1 on; 0 is digits only."""

    __slots__ = ("_codes", "_places", "_room", "shown")

    def __init__(self, shown: Sequence[NumberFormat] = (), room: int = 0) -> None:
        self.shown = (PLAIN, *shown)[: MAX_FORMATS + 1]
        self._places, self._codes = array("q"), array("B")
        self._room = room

    def __len__(self) -> int:
        return len(self._places)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CellFormats) and (self._places, self._codes, self.shown) == (
            other._places, other._codes, other.shown
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]  # it grows

    def add(self, row: int, col: int, code: int) -> None:
        """Keep the format of one cell, if there is room and it can be on a sheet."""
        if len(self._places) < self._room and 0 < row <= MAX_ROW and 0 < col <= MAX_COLUMN:
            self._places.append(row * _ROW + col - 1)
            self._codes.append(code)

    def fill(self, area: Area, code: int) -> None:
        """Keep the format of all cells of an area, or only of the first if there is no room."""
        if area.size > self._room - len(self._places):
            self.add(area.top, area.left, code)
            return
        for row in area.rows:
            for col in area.columns:
                self.add(row, col, code)

    def within(self, origin: tuple[int, int], shape: tuple[int, ...]) -> FormatArray | None:
        """Codes of a block, (rows, columns) uint8, None if all are 0; `origin` counts from 1."""
        places = np.frombuffer(self._places, dtype=np.int64)
        rows, cols = places // _ROW - origin[0], places % _ROW + 1 - origin[1]
        inside = (rows >= 0) & (rows < shape[0]) & (cols >= 0) & (cols < shape[1])
        if not inside.any():
            return None
        found = np.zeros(shape, dtype=np.uint8)
        found[rows[inside], cols[inside]] = np.frombuffer(self._codes, dtype=np.uint8)[inside]
        return found


class CellError(str):
    """An error value such as `#DIV/0!`: text that is not text data."""

    __slots__ = ()


Value = str | int | float | bool | dt.datetime | dt.date | dt.time | dt.timedelta | CellError | None


@dataclass(frozen=True, slots=True)
class Grid:
    """Cell values of a sheet's used range, row by row."""

    # Values; rows may be shorter than the widest one (missing cells are None)
    rows: list[list[Value]]
    first_row: int = 1  # 1-based sheet row of `rows[0]`
    first_col: int = 1  # 1-based sheet column of `rows[i][0]`
    # Cells with a formula without a saved value, in sheet addresses; they may lie outside the rows.
    # A value in the rows takes precedence.
    unsaved: Places = field(default_factory=Places)
    # First and last row that a formula sums up in its own column, by its row and column, in sheet
    # addresses
    sums: Mapping[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    formats: CellFormats = field(default_factory=CellFormats)
    # The texts of a delimited file that the rows were read from, field by field; None for other
    # formats, whose cells have types
    texts: Sequence[Sequence[str]] | None = None
