"""A sheet's values as a dense grid."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sat_retriever.workbook.values.cellformats import CellFormats
from sat_retriever.workbook.values.places import Places


class CellError(str):
    """An error value such as `#DIV/0!`: text that is not text data."""

    __slots__ = ()


Value = str | int | float | bool | dt.datetime | dt.date | dt.time | dt.timedelta | CellError | None


@dataclass(frozen=True, slots=True)
class Grid:
    """Cell values of a sheet's used range, row by row.

    Attributes:
        rows: Values; rows may be shorter than the widest one (missing cells are None).
        first_row: 1-based sheet row of `rows[0]`.
        first_col: 1-based sheet column of `rows[i][0]`.
        unsaved: Cells with a formula without a saved value, in sheet addresses; they may lie
            outside the rows. A value in the rows takes precedence.
        sums: First and last row that a formula sums up in its own column, by its row and
            column, in sheet addresses.
        formats: Number formats of its cells, in sheet addresses.
        texts: The texts of a delimited file that the rows were read from, field by field; None for
            other formats, whose cells have types.
    """

    rows: list[list[Value]]
    first_row: int = 1
    first_col: int = 1
    unsaved: Places = field(default_factory=Places)
    sums: Mapping[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    formats: CellFormats = field(default_factory=CellFormats)
    texts: Sequence[Sequence[str]] | None = None
