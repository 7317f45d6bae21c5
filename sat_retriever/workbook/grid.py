"""A sheet's values as a dense grid, and A1 addresses."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


class CellError(str):
    """An error value such as `#DIV/0!`: text that is not text data."""

    __slots__ = ()


Value = str | int | float | bool | dt.datetime | dt.date | dt.time | dt.timedelta | CellError | None


def column_letters(col: int) -> str:
    """Letters of a 1-based column number.

    >>> column_letters(1), column_letters(28), column_letters(16384)
    ('A', 'AB', 'XFD')
    """
    letters = ""
    while col > 0:
        col, rest = divmod(col - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, 1-based and inclusive: a merge, a table object, a used range."""

    top: int
    left: int
    bottom: int
    right: int

    def a1(self) -> str:
        """The rectangle in A1 form.

        >>> Area(3, 1, 5, 28).a1()
        'A3:AB5'
        """
        return f"{column_letters(self.left)}{self.top}:{column_letters(self.right)}{self.bottom}"


@dataclass(frozen=True, slots=True)
class TableObject:
    """A table the workbook itself declares (Excel's "Format as Table").

    Attributes:
        name: Its display name.
        area: Cells it covers, headers and totals included.
        header_rows: 0 or 1.
        total_rows: 0 or more.
        columns: Declared column names, left to right.
    """

    name: str
    area: Area
    header_rows: int = 1
    total_rows: int = 0
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """Cell values of a sheet's used range, row by row.

    Attributes:
        rows: Values; rows may be shorter than the widest one (missing cells are None).
        first_row: 1-based sheet row of `rows[0]`.
        first_col: 1-based sheet column of `rows[i][0]`.
    """

    rows: list[list[Value]]
    first_row: int = 1
    first_col: int = 1
