"""Rows of a table that are no records: units, repeated headers, headings, totals."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import Area
from sat_retriever.records.sheets import LeftOutReason
from sat_retriever.workbook.tables.adjacent import is_prose
from sat_retriever.workbook.tables.layout import Layout
from sat_retriever.workbook.tables.sample import MAX_TEXT
from sat_retriever.workbook.tables.stacked import same_rows
from sat_retriever.workbook.tables.totals import find_totals
from sat_retriever.workbook.values.cells import Cells, Kind, sharp_kind
from sat_retriever.workbook.values.grid import Value

KEYED = 0.9  # least share of records that fill a column left of a heading, which leaves it empty
WIDE = 0.5  # least share of a table's width that a merged heading covers
OTHER_KIND = 0.8  # least share of a column's cells of another kind than a heading in it
LOOKED_AT = 200  # cells of a column whose kind is looked at
JOINT = " / "


def with_left_out(cells: Cells, layout: Layout) -> Layout:
    """A layout with the rows below its header that are no records, and those in doubt.

    A transposed table keeps all of its columns, a page of prose all of its rows.
    """
    if layout.transposed or (not layout.header_height and is_prose(cells, layout.area)):
        return layout
    area, data = layout.area, layout.data
    out = dict(layout.out)
    heads = range(area.top, area.top + layout.header_height)
    repeated = (row for head in heads for row in same_rows(cells, area, data, head))
    out |= dict.fromkeys(repeated, LeftOutReason.REPEATED_HEADER)
    if layout.units is not None:
        units = same_rows(cells, area, data, layout.units, least=1)
        out |= dict.fromkeys((layout.units, *units), LeftOutReason.UNITS)
    sections = find_sections(cells, area, data, out)
    out |= dict.fromkeys(sections, LeftOutReason.SECTION)
    found = find_totals(cells, area, data, out)
    out |= found.totals
    area = _above_remarks(cells, area, found.totals)
    rows = dict(sorted(out.items()))
    return replace(layout, area=area, out=rows, doubtful=tuple(found.doubtful))


def _above_remarks(cells: Cells, area: Area, totals: Collection[int]) -> Area:
    """The area without single texts below its last total: who made it, a footnote."""
    last = max(totals, default=area.bottom)
    part = cells.kinds[last + 1 : area.bottom + 1, area.left : area.right + 1]
    remarks = (part != Kind.EMPTY).sum(axis=1) <= 1
    remarks &= (part <= Kind.TEXT).all(axis=1)
    return replace(area, bottom=last) if remarks.all() else area


def find_sections(cells: Cells, area: Area, data: range, others: Collection[int]) -> list[int]:
    """Grid rows of a table that are headings: a single text, with records below.

    A record of which only the name is known looks the same. A row is a heading if it is merged
    across the table, if its column holds values of another kind, or nothing else, or if it leaves a
    column on its left empty that records fill. Others in the same column then are headings, too.
    Rows without such a sign are headings if the records' names are indented, or if the first record
    of the table is below one, there are two or more, each with records.
    """
    if area.left == area.right:
        return []
    part = cells.kinds[data.start : data.stop, area.left : area.right + 1]
    filled = (part != Kind.EMPTY).sum(axis=1)
    row, col, top, left = cells.merged_in(data, area.columns).T
    below = (row != top) & (col == left) & (cells.kinds[top, left] != Kind.EMPTY)
    np.add.at(filled, row[below] - data.start, 1)  # a merged label counts for each of its rows
    lone = filled == 1
    lone &= (part == Kind.TEXT).any(axis=1)
    rest = [row - data.start for row in others if row in data]
    lone[rest] = False
    records = (filled > 1).copy()
    records[rest] = False
    if not records.any():
        return []
    lone[np.flatnonzero(records)[-1] :] = False  # nothing below
    rows = np.flatnonzero(lone)
    if not len(rows):
        return []
    columns = (part[rows] == Kind.TEXT).argmax(axis=1)
    lacking = (part[records] == Kind.EMPTY).sum(axis=0) > (1 - KEYED) * int(records.sum())
    places = list(zip(rows.tolist(), columns.tolist(), strict=True))
    own = {
        col
        for row, col in places
        if _is_wide(cells, area, data.start + row, area.left + col)
        or (col > 0 and not lacking[:col].all())
        or _is_foreign(cells, data, part, records, (row, col), area.left)
    }
    signed = [row for row, col in places if col in own]  # headings stand in one column
    if not signed and _are_indented(cells, data, (rows, columns), records, area.left):
        signed = rows.tolist()
    if not signed and len(rows) > 1 and _head_all(rows, records):
        signed = rows.tolist()
    return [data.start + row for row in signed]


def section_texts(
    cells: Cells, area: Area, rows: Sequence[int], sections: Collection[int]
) -> list[str | None]:
    """The heading above each record, if any; those directly below each other joined by " / "."""
    found: list[str | None] = []
    heads = sorted(sections)
    text: str | None = None
    place = 0
    for row in rows:
        fresh: list[str] = []
        while place < len(heads) and heads[place] < row:
            fresh.append(_text(cells, area, heads[place]))
            place += 1
        if fresh:
            text = JOINT.join(fresh)
        found.append(text)
    return found


def _text(cells: Cells, area: Area, row: int) -> str:
    line: list[Value] = cells.line(row, area.columns)
    text = next((value for value in line if isinstance(value, str) and value.strip()), "")
    return " ".join(text[: 8 * MAX_TEXT].split())


def _is_wide(cells: Cells, area: Area, row: int, col: int) -> bool:
    right = col
    while right < area.right and cells.anchors.get((row, right + 1)) == (row, col):
        right += 1
    return right > col and right - col + 1 >= WIDE * len(area.columns)


def _is_foreign(
    cells: Cells,
    data: range,
    part: NDArray[np.uint8],
    records: NDArray[np.bool_],
    place: tuple[int, int],
    left: int,
) -> bool:
    """True if the records hold nothing, or values of another kind, in the column of a heading."""
    row, col = place
    held = records & (part[:, col] != Kind.EMPTY)
    rows = np.flatnonzero(held)[:LOOKED_AT]
    if not len(rows):
        return not bool(part[records][:, :col].any())
    values = [cells.value(data.start + each, left + col) for each in rows.tolist()]
    kinds = [sharp_kind(_short(value)) for value in values]
    own = sharp_kind(_short(cells.value(data.start + row, left + col)))
    others = sum(kind not in (own, Kind.TEXT, Kind.ERROR) for kind in kinds)
    return own == Kind.TEXT and others >= OTHER_KIND * len(kinds) and len(kinds) > 1


def _are_indented(
    cells: Cells,
    data: range,
    lone: tuple[NDArray[np.intp], NDArray[np.intp]],
    records: NDArray[np.bool_],
    left: int,
) -> bool:
    """True if headings stand in one column, in which the records' texts begin with blanks."""
    rows, columns = lone
    if len(set(columns.tolist())) > 1:
        return False
    col = left + int(columns[0])
    heads = (cells.value(data.start + row, col) for row in rows[:LOOKED_AT].tolist())
    below = np.flatnonzero(records)[:LOOKED_AT].tolist()
    texts = [cells.value(data.start + row, col) for row in below]
    indents = [len(text) - len(text.lstrip()) for text in texts if isinstance(text, str)]
    most = max(len(head) - len(head.lstrip()) for head in heads if isinstance(head, str))
    return 2 * len(indents) > len(texts) and min(indents) > most


def _short(value: Value) -> Value:
    return value[:MAX_TEXT] if type(value) is str else value


def _head_all(rows: NDArray[np.intp], records: NDArray[np.bool_]) -> bool:
    """True if the rows head all records: the first record is below one, and each has records."""
    first = int(np.flatnonzero(records)[0])
    if rows[0] > first:
        return False
    counts = np.cumsum(records)
    ends = [*rows[1:].tolist(), len(records) - 1]
    sizes = [counts[end] - counts[row] for row, end in zip(rows.tolist(), ends, strict=True)]
    return bool(min(sizes) > 0)
