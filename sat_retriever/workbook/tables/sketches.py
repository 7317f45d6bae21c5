"""Sketches of a sheet's cells and columns, by which its copies and joins are found."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from heapq import nsmallest
from itertools import chain
from operator import xor

from sat_retriever.links.join.sketches import value_hash
from sat_retriever.records.area import Area, area_of
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.sheets import ColumnType, SheetRecord, Table
from sat_retriever.records.structure import SKETCH_SIZE, CellSketch, ColumnProfile
from sat_retriever.workbook.values.cells import plain_text
from sat_retriever.workbook.values.grid import CellError, Grid, Value

NUMBERS, TEXTS = 48, 16  # hashes of a sketch
MAX_CELLS = 4_000  # of a sheet that are hashed, about; beyond them, a sample of its rows
_TABLES = 64
_TEXT = 200  # characters of a cell that count
_MOST = 3 * MAX_CELLS  # of a sample that turns out larger, as all its rows have one label
_BITS = 0xFFFFFFFF

Row = Sequence[Value]
MAX_PROFILES = 4_000  # per workbook; a profile has about 6 KB
MAX_PROFILES_OF_SHEET = 64
MAX_ROWS = 5_000
MAX_KEY = 64  # longest text that counts as a key
_KEY_TYPES = (ColumnType.INTEGER, ColumnType.TEXT, ColumnType.DATE)
_MAX_INTEGER = 10**18
_WHOLE = re.compile(r"(-?\d+)\.0+")


def cell_sketch(
    record: SheetRecord, grid: Grid, privacy: Privacy = EVERYTHING
) -> CellSketch | None:
    """Sketch of a sheet's cells without the header rows of its tables; None if it has none.

    An item is a cell with the label of its row: the first text or date in it. Zeros are left
    out, for a form that is not filled in has them everywhere. Of a sheet of more than 4,000
    cells rows are looked at by their labels' hashes, so that the same rows of another version
    are looked at there.
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
                columns = list(area.columns) if hidden else []
            for column in columns:
                if column - grid.first_col < len(row):
                    row[column - grid.first_col] = None
    return rows


def _header_rows(record: SheetRecord, grid: Grid) -> set[int]:
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
                if not value:
                    continue
                found, said = numbers, "" if column == place else f"{value:.12g}"
            else:
                found, said = texts, "" if column == place else _text(value)
            # 48 bits: 32 of the value and its row's label, and 16 of the label. Source: the mixing
            # of MurmurHash3 (Appleby), for CRCs of like texts differ in a few bits.
            mixed = zlib.crc32(said.encode("utf-8", "replace"), start) * 0x85EBCA6B & _BITS
            mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & _BITS
            found.add((mixed ^ mixed >> 16) << 16 | start & 0xFFFF)
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


def column_profiles(
    record: SheetRecord, grid: Grid, privacy: Privacy = EVERYTHING
) -> list[ColumnProfile]:
    """Profiles of a sheet's columns that could be keys: whole numbers, texts, dates.

    The first 5,000 data rows of a table are read. Columns with fewer than two distinct values,
    columns of long texts, and columns of transposed tables have no profile. There are at most 64,
    table by table, left to right.
    """
    found: list[ColumnProfile] = []
    for position, table in enumerate(record.tables):
        area = None if table.transposed else area_of(table.range)
        if area is None:
            continue
        rows = _data_rows(table, area, grid)
        for column, described in enumerate(table.columns):
            if described.type not in _KEY_TYPES or privacy.skips(described.name):
                continue
            profile = _profile(record.sheet, (position, column), _cells(rows, grid, area, column))
            if profile is not None:
                found.append(profile)
                if len(found) == MAX_PROFILES_OF_SHEET:
                    return found
    return found


def key_text(value: Value) -> str:
    """The normalized text of a value, for comparison between sheets; "" if it cannot be a key.

    >>> key_text(1), key_text(1.0), key_text(" 1 "), key_text("1.0")
    ('1', '1', '1', '1')
    >>> key_text("  North  WEST "), key_text("007"), key_text("x" * 65)
    ('north west', '007', '')
    """
    if type(value) is str:
        text = " ".join(value[: 4 * MAX_KEY].split()).casefold()
        if text[-2:-1] in (".", "0") and (whole := _WHOLE.fullmatch(text)):
            text = whole[1]
        return text if len(text) <= MAX_KEY else ""
    if type(value) is int:
        return str(value) if abs(value) < _MAX_INTEGER else ""
    return "" if isinstance(value, CellError) else plain_text(value)


def _data_rows(table: Table, area: Area, grid: Grid) -> Sequence[Sequence[Value]]:
    top = area.top + table.header_height - grid.first_row
    top += _are_units(table, area, grid, top)
    bottom = min(area.bottom + 1 - grid.first_row, top + MAX_ROWS)
    return grid.rows[max(top, 0) : max(bottom, 0)]


def _are_units(table: Table, area: Area, grid: Grid, row: int) -> bool:
    """True if a row of the grid holds the units of a table; they may have other sources."""
    if not 0 <= row < len(grid.rows):
        return False
    cells = zip(table.columns, grid.rows[row][area.left - grid.first_col :], strict=False)
    return any(column.unit is not None and column.unit == value for column, value in cells)


def _cells(rows: Sequence[Sequence[Value]], grid: Grid, area: Area, column: int) -> list[Value]:
    index = area.left + column - grid.first_col
    return [row[index] for row in rows if index < len(row)] if index >= 0 else []


def _profile(sheet: str, place: tuple[int, int], cells: list[Value]) -> ColumnProfile | None:
    counts = Counter(cells)
    del counts[None]
    values = others = 0
    texts: set[str] = set()
    for cell, count in counts.items():
        text = key_text(cell)
        if text:
            texts.add(text)
            values += count
        elif not isinstance(cell, CellError):
            others += count
    if len(texts) < 2 or others > values:
        return None
    hashes = {value_hash(text) for text in texts}
    sketch = tuple(nsmallest(SKETCH_SIZE, hashes))
    return ColumnProfile(sheet, *place, values, len(texts), sketch)
