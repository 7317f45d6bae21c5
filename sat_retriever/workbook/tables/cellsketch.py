"""A sheet's cells to a sketch, by which its copies are found."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from heapq import nsmallest

from sat_retriever.records.area import Area, area_of
from sat_retriever.records.copies import CellSketch
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.workbook.values.cells import plain_text
from sat_retriever.workbook.values.grid import CellError, Grid, Value

NUMBERS, TEXTS = 48, 16
"""Hashes of a sketch."""
MAX_CELLS = 20_000  # of a sheet that are hashed, about; beyond them, a sample of its rows
_TABLES = 8
_TEXT = 200  # characters of a cell that count
_MOST = 3 * MAX_CELLS  # of a sample that turns out larger, as all its rows have one label

Row = Sequence[Value]


def cell_sketch(record: SheetRecord, grid: Grid) -> CellSketch | None:
    """Sketch of a sheet's cells below its headers; None if it has none.

    An item is a cell with the label of its row: the first text or date in it. Zeros are left
    out, for a form that is not filled in has them everywhere. Of a sheet of more than 20,000
    cells rows are looked at by their labels' hashes, so that the same rows of another version
    are looked at there.

    Args:
        record: The sheet.
        grid: The values its tables were found in.
    """
    parts = [_rows(grid, area, skip) for area, skip in _areas(record)]
    cells = sum(len(part) * len(part[0]) for part in parts if part)
    step = max(0, (cells - 1).bit_length() - MAX_CELLS.bit_length() + 1) if cells else 0
    numbers, texts = _items(parts, step)
    if step and len(numbers) + len(texts) < NUMBERS:  # few labels, each of many rows
        step = 0
        numbers, texts = _items(parts, step)
    if not numbers and not texts:
        return None
    return CellSketch(
        sheet=record.sheet,
        step=step,
        numbers=len(numbers),
        texts=len(texts),
        number_sketch=tuple(nsmallest(NUMBERS, numbers)),
        text_sketch=tuple(nsmallest(TEXTS, texts)),
    )


def _areas(record: SheetRecord) -> Iterator[tuple[Area, int]]:
    """Tables with the rows above their data; the whole sheet if it has none."""
    for table in record.tables[:_TABLES]:
        if area := area_of(table.range):
            yield area, 0 if table.transposed else table.header_height
    if not record.tables and record.range and (area := area_of(record.range)):
        yield area, 0


def _rows(grid: Grid, area: Area, skip: int) -> list[Row]:
    top, bottom = area.top + skip - grid.first_row, area.bottom + 1 - grid.first_row
    left, right = area.left - grid.first_col, area.right + 1 - grid.first_col
    return [row[max(left, 0) : max(right, 0)] for row in grid.rows[max(top, 0) : max(bottom, 0)]]


def _items(parts: Sequence[Sequence[Row]], step: int) -> tuple[set[int], set[int]]:
    """Hashes of the items of numbers and of all others in the sampled rows."""
    numbers: set[int] = set()
    texts: set[int] = set()
    mask = (1 << step) - 1
    left = _MOST
    for part in parts:
        for row in part:
            label, place = _label(row)
            mark = zlib.crc32(label) & 0xFFFF
            if place < 0 or mark & mask:
                continue
            left -= len(row)
            if left < 0:
                return numbers, texts
            for column, value in enumerate(row):
                if value is None or column == place or type(value) is CellError:
                    continue
                if type(value) in (int, float):
                    if value:
                        numbers.add(_hash(label, f"{value:.12g}", mark))
                else:
                    texts.add(_hash(label, _text(value), mark))
            if type(row[place]) is str:
                texts.add(_hash(label, "", mark))
            elif type(row[place]) in (int, float):
                numbers.add(_hash(label, "", mark))
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


def _hash(label: bytes, value: str, mark: int) -> int:
    content = b"%s\x1f%s" % (label, value.encode("utf-8", "replace"))
    return int.from_bytes(hashlib.blake2b(content, digest_size=4).digest()) << 16 | mark
