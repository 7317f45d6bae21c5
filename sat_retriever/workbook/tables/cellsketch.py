"""A sheet's cells to a sketch, by which its copies are found."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import reduce
from heapq import nsmallest
from itertools import chain
from operator import xor

from sat_retriever.records.area import area_of
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.structure import CellSketch
from sat_retriever.workbook.values.cells import plain_text
from sat_retriever.workbook.values.grid import CellError, Grid, Value

NUMBERS, TEXTS = 48, 16
"""Hashes of a sketch."""
MAX_CELLS = 4_000  # of a sheet that are hashed, about; beyond them, a sample of its rows
_TABLES = 64
_TEXT = 200  # characters of a cell that count
_MOST = 3 * MAX_CELLS  # of a sample that turns out larger, as all its rows have one label
_BITS = 0xFFFFFFFF

Row = Sequence[Value]


def cell_sketch(
    record: SheetRecord, grid: Grid, privacy: Privacy = EVERYTHING
) -> CellSketch | None:
    """Sketch of a sheet's cells without the header rows of its tables; None if it has none.

    An item is a cell with the label of its row: the first text or date in it. Zeros are left
    out, for a form that is not filled in has them everywhere. Of a sheet of more than 4,000
    cells rows are looked at by their labels' hashes, so that the same rows of another version
    are looked at there.

    Args:
        record: The sheet.
        grid: The values its tables were found in.
        privacy: The columns that are left out.
    """
    heads = _header_rows(record, grid)
    kept = _without_skipped(record, grid, privacy)
    rows = [row for place, row in enumerate(kept) if place not in heads]
    cells = sum(map(len, rows))
    step = max(0, (cells - 1).bit_length() - MAX_CELLS.bit_length() + 1) if cells else 0
    numbers, texts = _items(rows, step)
    if step and len(numbers) + len(texts) < NUMBERS:  # few labels, each of many rows
        step = 0
        numbers, texts = _items(rows, step)
    if not numbers and not texts:
        return None
    return CellSketch(
        sheet=record.sheet,
        step=step,
        numbers=len(numbers),
        texts=len(texts),
        number_sketch=tuple(nsmallest(NUMBERS, numbers)),
        text_sketch=tuple(nsmallest(TEXTS, texts)),
        total=reduce(xor, chain(numbers, texts, *_items([grid.rows[n] for n in heads], 0))),
    )


def _without_skipped(record: SheetRecord, grid: Grid, privacy: Privacy) -> Sequence[Row]:
    """The rows of a grid; cells of columns that keep their header alone are empty."""
    if not privacy.skip_columns:
        return grid.rows
    rows = [list(row) for row in grid.rows]
    for table in record.tables:
        skipped = [place for place, each in enumerate(table.columns) if privacy.skips(each.name)]
        area = area_of(table.range) if skipped else None
        if area is None:
            continue
        for number in range(area.top, min(area.bottom, grid.first_row + len(rows) - 1) + 1):
            row = rows[number - grid.first_row]
            columns = [area.left + place for place in skipped]
            if table.transposed:
                hidden = number - area.top in skipped
                columns = list(range(area.left, area.right + 1)) if hidden else []
            for column in columns:
                if column - grid.first_col < len(row):
                    row[column - grid.first_col] = None
    return rows


def _header_rows(record: SheetRecord, grid: Grid) -> set[int]:
    """Positions in the grid of the rows that are headers of tables."""
    found: set[int] = set()
    for table in record.tables[:_TABLES]:
        if table.header_row is not None:
            first = table.header_row - grid.first_row
            found.update(range(max(first, 0), first + table.header_height))
    return {place for place in found if place < len(grid.rows)}


def _items(rows: Sequence[Row], step: int) -> tuple[set[int], set[int]]:
    """Hashes of the items of numbers and of all others in the sampled rows."""
    numbers: set[int] = set()
    texts: set[int] = set()
    mask = (1 << step) - 1
    left = _MOST
    for row in rows:
        label, place = _label(row)
        start = zlib.crc32(label)
        if place < 0 or start & mask:
            continue
        left -= len(row)
        if left < 0:
            break
        for column, value in enumerate(row):
            if value is None or type(value) is CellError:
                continue
            if type(value) in (int, float):
                if value:
                    said = "" if column == place else f"{value:.12g}"
                    numbers.add(_hash(start, said))
            else:
                texts.add(_hash(start, "" if column == place else _text(value)))
    return numbers, texts


def _label(row: Row) -> tuple[bytes, int]:
    """The first text or date of a row, else its first value, and its place; -1 if it is empty."""
    first = -1
    for place, value in enumerate(row):
        if value is None or type(value) is CellError:
            continue
        if type(value) not in (int, float, bool):
            return _text(value).encode("utf-8", "replace"), place
        if first < 0:
            first = place
    return (plain_text(row[first]).encode(), first) if first >= 0 else (b"", -1)


def _text(value: Value) -> str:
    """A value as text that is equal in every format."""
    if type(value) is str:
        return " ".join(value[:_TEXT].split()).casefold()
    return plain_text(value)


def _hash(label: int, value: str) -> int:
    """48 bits: 32 of the value and its row's label, whose CRC is given, and 16 of the label.

    Source: the mixing of MurmurHash3 (Appleby), for CRCs of like texts differ in a few bits.
    """
    mixed = zlib.crc32(value.encode("utf-8", "replace"), label) * 0x85EBCA6B & _BITS
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & _BITS
    return (mixed ^ mixed >> 16) << 16 | label & 0xFFFF
