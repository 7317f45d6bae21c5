"""Sketches of the values of a table's columns, used to find joins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from heapq import nsmallest

from sat_retriever.links.join.sketches import value_hash
from sat_retriever.records.area import Area, area_of
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.sheets import ColumnType, SheetRecord, Table
from sat_retriever.records.structure import SKETCH_SIZE, ColumnProfile
from sat_retriever.workbook.values.cells import plain_text
from sat_retriever.workbook.values.grid import CellError, Grid, Value

MAX_PROFILES = 4_000  # per workbook; a profile has about 6 KB
MAX_PROFILES_OF_SHEET = 64
MAX_ROWS = 5_000
MAX_KEY = 64
"""Longest text that counts as a key."""
_KEY_TYPES = (ColumnType.INTEGER, ColumnType.TEXT, ColumnType.DATE)
_MAX_INTEGER = 10**18
_WHOLE = re.compile(r"(-?\d+)\.0+")


def column_profiles(
    record: SheetRecord, grid: Grid, privacy: Privacy = EVERYTHING
) -> list[ColumnProfile]:
    """Profiles of a sheet's columns that could be keys: whole numbers, texts, dates.

    The first 5,000 data rows of a table are read. Columns with fewer than two distinct values,
    columns of long texts, and columns of transposed tables have no profile.

    Args:
        record: The sheet.
        grid: The values in which its tables were found.
        privacy: The columns that are left out.

    Returns:
        At most 64 profiles, table by table, left to right.
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
    """Rows of the grid with a table's first records."""
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
    """The profile of one column; None if it cannot be a key."""
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
