"""Cell values as kind codes, and as canonical text for headers and examples."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import Area
from sat_retriever.text.numbers import decimal_text
from sat_retriever.workbook.values.grid import CellError, FormatArray, Grid, Places, Value
from sat_retriever.workbook.values.numberformat import PLAIN, NumberFormat

MAX_HEADER_LENGTH = 120
MAX_EXAMPLE_LENGTH = 60
MAX_CELLS = 64_000_000
MAX_COLUMNS = 16_384
MAX_MERGES = 50_000
MAX_COVERED = 400_000  # cells of all merged areas together that are known to belong to one
MAX_WHOLE = 1e15  # whole floats below this are written without a fraction

KindArray = NDArray[np.uint8]


class Code(IntEnum):
    """Numbers that arrays are compared with."""

    # numpy asks for it each time, and an enumeration takes ten microseconds to say that it has
    # none. This is the one that numpy does not call.
    __array_ufunc__ = np.ndarray.__array_ufunc__


class Kind(Code):
    """Kind of a cell's value, as a code that fits a byte."""

    EMPTY = 0
    TEXT = 1
    INTEGER = 2
    NUMBER = 3
    BOOLEAN = 4
    DATE = 5
    TIME = 6
    ERROR = 7
    CODE = 8
    """Text mostly of digits, or an e-mail or web address; used only in sampled rows."""
    UNKNOWN = 9
    """A formula without a saved value."""


class _Kinds(dict[type, int]):
    """Kinds by type of a value; values of other types count as text."""

    def __missing__(self, key: type) -> int:
        return int(Kind.TEXT)


_KINDS = _Kinds(
    {
        type(None): int(Kind.EMPTY),
        str: int(Kind.TEXT),
        int: int(Kind.INTEGER),
        float: int(Kind.NUMBER),
        bool: int(Kind.BOOLEAN),
        dt.datetime: int(Kind.DATE),
        dt.date: int(Kind.DATE),
        dt.time: int(Kind.TIME),
        dt.timedelta: int(Kind.TIME),
        CellError: int(Kind.ERROR),
    }
)

# As plain integers: `sharp_kind` runs for each sampled cell, and enum look-ups are slow.
_EMPTY, _TEXT, _ERROR, _CODE = map(int, (Kind.EMPTY, Kind.TEXT, Kind.ERROR, Kind.CODE))
_DIGIT = re.compile(r"\d")
# Texts that mark a missing value; they count as errors.
GAPS = frozenset("n/a na n.a. nan null none tbd - -- – — ? . .. ... …".split())
_ADDRESS = re.compile(r"^\S+@\S+$|^\S+://\S+$")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Cells:
    """A grid with its kind codes; rows and columns are 0-based inside it."""

    rows: Sequence[Sequence[Value]]
    kinds: KindArray  # kind codes, shape (rows, columns) uint8
    origin: tuple[int, int]  # sheet row and column (1-based) of `kinds[0, 0]`
    # Top left cell of the merge, by each cell that it covers, itself included; 0-based
    anchors: dict[tuple[int, int], tuple[int, int]]
    start: tuple[int, int] = (0, 0)  # row and column of `rows[0][0]` in `kinds`
    # As `Grid.sums`, 0-based
    sums: Mapping[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    # Row and column of each key of `anchors`, then of its value, (cells, 4)
    merged: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 4), dtype=np.int64))
    # Codes of the number formats, of the shape of `kinds`; None if all are 0
    formats: FormatArray | None = None
    shown: Sequence[NumberFormat] = (PLAIN,)  # what the format of each code shows
    # Texts of a delimited file from which the rows were read; None for other formats
    texts: Sequence[Sequence[str]] | None = None

    def value(self, row: int, col: int) -> Value:
        """The value of a cell; None outside the rows."""
        return self.line(row, [col])[0]

    def line(self, row: int, cols: Sequence[int]) -> list[Value]:
        """The values of a row at some columns; None outside the rows."""
        down, right = self.start
        cells = self.rows[row - down] if down <= row < down + len(self.rows) else ()
        stop = right + len(cells)
        return [cells[col - right] if right <= col < stop else None for col in cols]

    def column(self, rows: Sequence[int], col: int) -> list[Value]:
        """The values of a column at some rows, ascending; None outside the rows."""
        held, down, at = self.rows, self.start[0], col - self.start[1]
        if at >= 0 and rows and rows[0] >= down:
            try:
                return [held[row - down][at] for row in rows]
            except IndexError:  # a short row, or one after the last
                pass
        return [self.value(row, col) for row in rows]

    def spread(self, row: int, col: int) -> Value:
        """The value of a cell, or of the merged area that it belongs to."""
        return self.value(*self.anchors.get((row, col), (row, col)))

    def merged_in(self, data: range, lines: range) -> NDArray[np.int64]:
        """Rows of `merged` whose cell lies in some rows and columns."""
        rows, cols = self.merged[:, 0], self.merged[:, 1]
        inside = (rows >= data.start) & (rows < data.stop)
        inside &= (cols >= lines.start) & (cols < lines.stop)
        return self.merged[inside]

    def part(self, area: Area) -> KindArray:
        """The kind codes of a 0-based area."""
        return self.kinds[area.part]

    def area(self, block: Area) -> Area:
        """A 0-based block as 1-based sheet addresses."""
        row, col = self.origin
        return Area(block.top + row, block.left + col, block.bottom + row, block.right + col)


def cells_of(grid: Grid, merges: Sequence[Area]) -> Cells:
    """The grid's cells with one kind code each, including formulas without a saved value.

    Cost is linear in the number of cells. At most 16,384 columns and 50,000 merges are read. If
    the number of rows times the widest row is over 64 million, either the last rows or the
    rightmost columns are left out, whichever loses fewer cells.
    """
    lengths = np.fromiter(map(len, grid.rows), dtype=np.int64, count=len(grid.rows))
    (top, left), extents = _extents(grid, lengths)
    down, right = start = (grid.first_row - top, grid.first_col - left) if grid.rows else (0, 0)
    height, width = _bounds(extents)
    rows = grid.rows[: max(height - down, 0)]
    lengths = lengths[: len(rows)]
    if height == len(rows) > 0 and int(lengths.min()) == int(lengths.max()) == width:
        kinds = kinds_of(chain.from_iterable(rows)).reshape(height, width)
    else:
        kinds = np.zeros((height, width), dtype=np.uint8)
        _scatter(rows, lengths, kinds[down:, right:])
    _mark(grid.unsaved, (top, left), kinds)
    sums = {
        (row - top, col - left): (first - top, last - top)
        for (row, col), (first, last) in grid.sums.items()
    }
    anchors = _anchors(merges, (top, left), kinds.shape)
    flat = np.fromiter(
        chain.from_iterable((*cell, *anchor) for cell, anchor in anchors.items()),
        dtype=np.int64,
        count=4 * len(anchors),
    )
    return Cells(
        rows,
        kinds,
        (top, left),
        anchors,
        start,
        sums,
        flat.reshape(-1, 4),
        grid.formats.within((top, left), kinds.shape),
        grid.formats.shown,
        grid.texts,
    )


def _extents(grid: Grid, lengths: NDArray[np.int64]) -> tuple[tuple[int, int], NDArray[np.int64]]:
    """The first row and column with any cell, and the extent of each row."""
    formulas = grid.unsaved.area
    if formulas is None:
        return (grid.first_row, grid.first_col), lengths
    top, left = formulas.top, formulas.left
    if grid.rows:
        top, left = min(top, grid.first_row), min(left, grid.first_col)
    down = grid.first_row - top if grid.rows else 0
    extents = np.zeros(max(formulas.bottom + 1 - top, down + len(lengths)), dtype=np.int64)
    extents[down : down + len(lengths)] = (lengths + (grid.first_col - left)) * (lengths > 0)
    rows, cols = grid.unsaved.indices()
    np.maximum.at(extents, rows - top, cols - left + 1)
    return (top, left), extents


def _mark(unsaved: Places, origin: tuple[int, int], kinds: KindArray) -> None:
    rows, cols = unsaved.indices()
    rows, cols = rows - origin[0], cols - origin[1]
    inside = (rows < kinds.shape[0]) & (cols < kinds.shape[1])
    rows, cols = rows[inside], cols[inside]
    empty = kinds[rows, cols] == Kind.EMPTY
    kinds[rows[empty], cols[empty]] = Kind.UNKNOWN


def _bounds(lengths: NDArray[np.int64]) -> tuple[int, int]:
    height, width = len(lengths), min(int(lengths.max(initial=0)), MAX_COLUMNS)
    if height * width <= MAX_CELLS:
        return height, width
    fewer_rows, fewer_cols = MAX_CELLS // width, max(MAX_CELLS // height, 1)
    if int(lengths[:fewer_rows].sum()) >= int(np.minimum(lengths, fewer_cols).sum()):
        return fewer_rows, width
    return min(height, MAX_CELLS // fewer_cols), fewer_cols


def kinds_of(values: Iterable[Value]) -> KindArray:
    """The kind code of each value by its type alone, so that all texts have one kind."""
    return np.frombuffer(bytearray(map(_KINDS.__getitem__, map(type, values))), dtype=np.uint8)


def _scatter(rows: Sequence[Sequence[Value]], lengths: NDArray[np.int64], kinds: KindArray) -> None:
    width = kinds.shape[1]
    held = np.arange(width) < lengths[:, None]
    kinds[: len(rows)][held] = kinds_of(chain.from_iterable(islice(row, width) for row in rows))


def _anchors(
    merges: Sequence[Area], origin: tuple[int, int], shape: tuple[int, ...]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Top left cell of the merge by each cell that it covers, with a limit on the work."""
    anchors: dict[tuple[int, int], tuple[int, int]] = {}
    for merge in merges[:MAX_MERGES]:
        top, left = merge.top - origin[0], merge.left - origin[1]
        bottom = min(merge.bottom - origin[0], shape[0] - 1)
        right = min(merge.right - origin[1], shape[1] - 1)
        room = MAX_COVERED - len(anchors)
        if top < 0 or left < 0 or room <= 0 or bottom < top or right < left:
            continue
        wide = min(right - left + 1, room)
        for row in range(top, min(bottom, top + room // wide - 1) + 1):
            for col in range(left, left + wide):
                anchors[row, col] = (top, left)
    return anchors


def sharp_kind(value: Value) -> int:
    """Kind of one value, with codes and addresses distinguished from words.

    >>> Kind(sharp_kind("04656-2020")).name, Kind(sharp_kind("ISIC 05")).name
    ('CODE', 'TEXT')
    """
    kind = _KINDS[type(value)]
    if kind != _TEXT or not isinstance(value, str):
        return kind
    text = value.strip()
    if not text:
        return _EMPTY
    if text.lower() in GAPS:
        return _ERROR
    digits = len(_DIGIT.findall(value))
    if digits and digits > len(_LETTER.findall(value)):
        return _CODE
    return _CODE if ("@" in value or "://" in value) and _ADDRESS.search(value) else kind


def plain_text(value: Value) -> str:
    """A value as text independent of the locale; "" for an empty cell.

    >>> plain_text(2020.0), plain_text(True), plain_text(dt.datetime(2024, 1, 2))
    ('2020', 'true', '2024-01-02')
    """
    match value:
        case str():
            text = " ".join(value[: 8 * MAX_HEADER_LENGTH].split())
        case None:
            text = ""
        case bool():
            text = "true" if value else "false"
        case float():
            whole = value.is_integer() and abs(value) < MAX_WHOLE
            text = str(int(value)) if whole else decimal_text(value)
        case dt.datetime():
            midnight = not (value.hour or value.minute or value.second or value.microsecond)
            text = value.date().isoformat() if midnight else value.isoformat(" ", "seconds")
        case dt.date() | dt.time():
            text = value.isoformat()
        case dt.timedelta():
            text = _duration(value)
        case _:
            text = str(value)
    return text


def _duration(value: dt.timedelta) -> str:
    seconds = int(value.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    return f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def header_text(value: Value) -> str:
    r"""A canonical header: one line, stripped, at most 120 characters; no errors.

    >>> header_text(" Unit\n price "), header_text(2020.0), header_text(CellError("#N/A"))
    ('Unit price', '2020', '')
    """
    return "" if isinstance(value, CellError) else plain_text(value)[:MAX_HEADER_LENGTH].rstrip()
