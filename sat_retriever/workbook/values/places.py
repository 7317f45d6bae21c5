"""Sets of a sheet's cells, stored by place in eight bytes each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import MAX_COLUMN, MAX_ROW, Area

_ROW = 1 << 14  # places per row: columns are 1 to 16,384

Indices = NDArray[np.int64]


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
        width = area.right - area.left + 1
        if width * (area.bottom - area.top + 1) > self._room - len(self._codes):
            self.add(area.top, area.left)
            return
        for row in range(area.top, area.bottom + 1):
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
