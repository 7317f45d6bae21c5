"""Number formats of a sheet's cells, as far as they show more than digits."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import MAX_COLUMN, MAX_ROW
from sat_retriever.workbook.values.numberformat import PLAIN, NumberFormat

MAX_FORMATS = 255
_ROW = 1 << 14  # places per row: columns are 1 to 16,384

FormatArray = NDArray[np.uint8]


class CellFormats:
    """Formats of cells with a number, in nine bytes each.

    Attributes:
        shown: The formats, from code 1 on; a cell of code 0 shows its digits only.
    """

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

    def within(self, origin: tuple[int, int], shape: tuple[int, ...]) -> FormatArray | None:
        """Codes of a block of cells, shape (rows, columns) uint8; None if all are 0.

        Args:
            origin: Sheet row and column of its first cell, 1-based.
            shape: Its numbers of rows and columns.
        """
        places = np.frombuffer(self._places, dtype=np.int64)
        rows, cols = places // _ROW - origin[0], places % _ROW + 1 - origin[1]
        inside = (rows >= 0) & (rows < shape[0]) & (cols >= 0) & (cols < shape[1])
        if not inside.any():
            return None
        found = np.zeros(shape, dtype=np.uint8)
        found[rows[inside], cols[inside]] = np.frombuffer(self._codes, dtype=np.uint8)[inside]
        return found
