"""Discovery of a sheet's tables: their ranges, and their header rows or columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import Area
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.sheets import MAX_LEFT_OUT, Column, LeftOut, LeftOutReason, Table
from sat_retriever.records.structure import TableObject
from sat_retriever.workbook.tables.adjacent import (
    continues_below,
    continues_beside,
    is_lone,
    is_prose,
)
from sat_retriever.workbook.tables.columns import (
    ColumnCells,
    describe_column,
    joint_shown,
    sample_column,
)
from sat_retriever.workbook.tables.irregular import is_irregular
from sat_retriever.workbook.tables.layout import Layout, read_layout
from sat_retriever.workbook.tables.leftout import with_left_out
from sat_retriever.workbook.tables.regions import Rules, find_blocks, trim
from sat_retriever.workbook.tables.rowscores import CLEAR
from sat_retriever.workbook.tables.stacked import split_stacked
from sat_retriever.workbook.tables.sumsbelow import sums_up
from sat_retriever.workbook.values.cells import (
    MAX_EXAMPLE_LENGTH,
    Cells,
    Kind,
    cells_of,
    header_text,
)
from sat_retriever.workbook.values.grid import Grid
from sat_retriever.workbook.values.numberformat import PLAIN, NumberFormat

MAX_TABLES = 64
MAX_KEPT_COLUMNS = 16_384
MIN_CELLS = 2
MIN_HEADED_ROWS = 3
"""Least data rows of a header that counts against an irregular sheet."""
REMARK_CELLS = 4
REMARK_SHARE = 3
Placed = tuple[Layout, TableObject | None]
"""Where a table stands, and its declaration, if the workbook has one."""
HEADERLESS_SHARE = 0.5
"""Share of its size that a table without a header has in the choice of the main table."""


def find_tables(
    grid: Grid,
    merges: Sequence[Area] = (),
    table_objects: Sequence[TableObject] = (),
    privacy: Privacy = EVERYTHING,
) -> tuple[Table, ...]:
    """Every table of a sheet, the main one first, the others in reading order.

    Tables that the workbook declares are used unchanged. The rest of the sheet is cut at blank
    rows and columns. Each block's header is the row (or, for forms and transposed records, the
    first column) that contrasts most with its data. A page of prose is one table without
    headers. A table's range includes its header, units and totals, but not titles above or
    notes below.

    Cost is linear in the number of cells. At most 64 tables (the largest) and 16,384 columns in
    all are kept; see `cells_of` for the limits on the grid.

    Args:
        grid: Values of the used range; empty strings are None.
        merges: Merged areas, in sheet addresses.
        table_objects: Tables declared by the workbook, in sheet addresses.
        privacy: Which examples may be kept. If none, the result has no data cell's value, but
            headers and units.

    Returns:
        The tables; empty for an empty grid.
    """
    cells = cells_of(grid, merges)
    return describe_tables(cells, find_layouts(cells, table_objects), privacy)


def find_layouts(cells: Cells, table_objects: Sequence[TableObject]) -> list[Placed]:
    """Where every table of a sheet stands; see `find_tables`.

    Args:
        cells: The sheet.
        table_objects: Tables declared by the workbook, in sheet addresses.
    """
    declared = _declared(cells, table_objects)
    known = [layout for layout, _ in declared]
    sizes = [_cell_count(cells, layout.area) for layout in known]
    found = [*declared, *((each, None) for each in _found(_blank_out(cells, known), sizes))]
    ranked = sorted(found, key=lambda placed: -_weight(cells, placed[0]))[:MAX_TABLES]
    ranked = [(with_left_out(cells, layout), item) for layout, item in ranked]
    return ranked[:1] + sorted(
        ranked[1:], key=lambda placed: (placed[0].area.top, placed[0].area.left)
    )


def describe_tables(
    cells: Cells, placed: Sequence[Placed], privacy: Privacy = EVERYTHING
) -> tuple[Table, ...]:
    """The tables at some places, each with its columns.

    Args:
        cells: The sheet.
        placed: Where its tables stand.
        privacy: Which examples may be kept.
    """
    room = MAX_KEPT_COLUMNS
    tables: list[Table] = []
    for layout, item in placed:
        table = _table(cells, layout, item, room, privacy)
        room -= len(table.columns)
        tables.append(table)
    return tuple(tables)


def _declared(cells: Cells, objects: Sequence[TableObject]) -> list[Placed]:
    """Layouts of the declared tables that lie inside the grid."""
    found: list[Placed] = []
    for item in objects[:MAX_TABLES]:
        top, left = item.area.top - cells.origin[0], item.area.left - cells.origin[1]
        bottom = min(item.area.bottom - cells.origin[0], cells.kinds.shape[0] - 1)
        right = min(item.area.right - cells.origin[1], cells.kinds.shape[1] - 1)
        if top < 0 or left < 0 or bottom < top or right < left:
            continue
        height = min(item.header_rows, bottom - top + 1)
        totals = min(item.total_rows, bottom - top + 1 - height)
        area = Area(top, left, bottom, right)
        out = dict.fromkeys(range(bottom + 1 - totals, bottom + 1), LeftOutReason.TOTAL)
        found.append((Layout(area, height, out=out, score=2.0), item))
    return found


def _blank_out(cells: Cells, layouts: Sequence[Layout]) -> Cells:
    """The cells, with those of declared tables marked as empty."""
    if not layouts:
        return cells
    kinds = cells.kinds.copy()
    for layout in layouts:
        area = layout.area
        kinds[area.top : area.bottom + 1, area.left : area.right + 1] = Kind.EMPTY
    return replace(cells, kinds=kinds)


def _found(cells: Cells, declared: Sequence[int]) -> list[Layout]:
    """Layouts of undeclared tables; `declared` has the filled cells of each declared one."""
    alone = not declared
    whole = trim(cells.kinds, Area(0, 0, cells.kinds.shape[0] - 1, cells.kinds.shape[1] - 1))
    if whole is None:
        return []
    if alone and is_prose(cells, whole):
        return [Layout(whole)]
    rules = Rules(
        below=lambda above, block: (
            continues_below(cells, above, block) or sums_up(cells, above, block)
        ),
        beside=lambda left, block: continues_beside(cells, left, block),
        lone=lambda block: is_lone(cells, block),
        whole=lambda block: is_prose(cells, block),
    )
    layouts = [
        layout
        for block in find_blocks(cells.kinds, rules, _bridges(cells))
        if _cell_count(cells, block) >= MIN_CELLS
        for layout in _layouts(cells, block)
    ]
    largest = max((*declared, *(_cell_count(cells, layout.area) for layout in layouts)), default=0)
    if alone and _is_irregular(cells, whole, layouts):
        return [Layout(whole)]
    layouts = [layout for layout in layouts if not _is_remark(cells, layout, largest)]
    return layouts or ([Layout(whole)] if alone else [])


def _bridges(cells: Cells) -> list[Area]:
    """Merged cells beside others in their row: not titles, so part of one table with them."""
    found: dict[tuple[int, int], int] = {}
    for (row, col), anchor in cells.anchors.items():
        if row == anchor[0]:
            found[anchor] = max(col, found.get(anchor, 0))
    filled = (cells.kinds != Kind.EMPTY).sum(axis=1) if found else np.zeros(0, dtype=np.int64)
    return [
        Area(row, left, row, right)
        for (row, left), right in found.items()
        if right > left and cells.kinds[row, left] != Kind.EMPTY and filled[row] > 1
    ]


def _is_irregular(cells: Cells, whole: Area, layouts: Sequence[Layout]) -> bool:
    """True if the found tables are scattered pieces of one irregular sheet."""
    size = (whole.bottom - whole.top + 1) * (whole.right - whole.left + 1)
    pieces = [_cell_count(cells, layout.area) for layout in layouts]
    headed = [
        layout.header_height > 0
        and layout.area.bottom - layout.area.top - layout.header_height + 1 >= MIN_HEADED_ROWS
        for layout in layouts
    ]
    return is_irregular(pieces, headed, _cell_count(cells, whole), size)


def _layouts(cells: Cells, block: Area) -> list[Layout]:
    """Layouts of the one table of a block, or of the tables stacked in it; prose is one table."""
    if is_prose(cells, block):
        return [Layout(block)]
    layout = read_layout(cells, block)
    parts = [] if layout.transposed else split_stacked(cells, block)
    return [read_layout(cells, part) for part in parts] if len(parts) > 1 else [layout]


def _is_remark(cells: Cells, layout: Layout, largest: int) -> bool:
    """True if a block beside a larger one is a note, a title or a date, not a table."""
    area = layout.area
    count = _cell_count(cells, area)
    headed = 0 < layout.header_height <= area.bottom - area.top and not layout.transposed
    headed = headed and area.right > area.left
    small = count <= REMARK_CELLS and not headed
    if count * REMARK_SHARE <= largest and (small or _is_text(cells, layout)):
        return True
    return area.left == area.right and count < largest and _is_text(cells, layout)


def _is_text(cells: Cells, layout: Layout) -> bool:
    """True if a headerless block is prose, or one column of texts only."""
    if layout.header_height:
        return False
    area = layout.area
    part = cells.kinds[area.top : area.bottom + 1, area.left : area.right + 1]
    lone = part.shape[1] == 1 and bool((part <= Kind.TEXT).all())
    return lone or is_prose(cells, area)


def _cell_count(cells: Cells, area: Area) -> int:
    part = cells.kinds[area.top : area.bottom + 1, area.left : area.right + 1]
    return int(np.count_nonzero(part))


def _weight(cells: Cells, layout: Layout) -> float:
    """Weight in the choice of the main table: filled cells, half if headerless or one record."""
    one = layout.transposed and layout.area.right - layout.area.left <= layout.header_height
    share = HEADERLESS_SHARE if one or not layout.header_height else 1.0
    return _cell_count(cells, layout.area) * share


def _table(
    cells: Cells, layout: Layout, item: TableObject | None, room: int, privacy: Privacy
) -> Table:
    """The record of one layout, with at most `room` columns."""
    area, lines = layout.area, layout.lines[:room]
    columns = [_column(cells, layout, line, item, privacy) for line in lines]
    header_row = area.top + cells.origin[0] if layout.header_height else None
    told = list(layout.out)[:MAX_LEFT_OUT]
    doubtful = [row for row in layout.doubtful if row in told or row not in layout.out]
    return Table(
        range=cells.area(area).a1(),
        header_row=None if layout.transposed else header_row,
        header_height=0 if layout.transposed else layout.header_height,
        transposed=layout.transposed,
        num_rows=len(records_of(cells, layout, lines)),
        columns=tuple(columns),
        name=item.name if item else None,
        left_out=left_out_of(cells, layout, told, kept=privacy.literals),
        num_left_out=len(layout.out),
        doubtful=left_out_of(cells, layout, doubtful[:MAX_LEFT_OUT], kept=privacy.literals),
    )


def left_out_of(
    cells: Cells, layout: Layout, rows: Sequence[int], *, kept: bool = True
) -> tuple[LeftOut, ...]:
    """Some rows of a table that are no records, or in doubt, in sheet addresses.

    Args:
        cells: The sheet.
        layout: The table.
        rows: Grid rows.
        kept: True if their texts may be kept.
    """
    found = []
    for row in rows:
        line = cells.line(row, layout.lines) if kept else []
        text = next((value.strip() for value in line if isinstance(value, str)), "")
        reason = layout.out.get(row, LeftOutReason.TOTAL)
        found.append(LeftOut(row + cells.origin[0], reason, text[:MAX_EXAMPLE_LENGTH]))
    return tuple(found)


def records_of(cells: Cells, layout: Layout, lines: range | None = None) -> NDArray[np.intp]:
    """Places of the records: rows (columns if transposed) with a value that are not left out.

    Args:
        cells: The sheet.
        layout: Where the table stands.
        lines: Rows of a transposed table that count; None for all.
    """
    data = layout.data
    if layout.transposed:
        rows = lines or layout.lines
        held = cells.kinds[rows.start : rows.stop, data.start : data.stop].any(axis=0)
    else:
        columns = layout.lines
        held = cells.kinds[data.start : data.stop, columns.start : columns.stop].any(axis=1)
        held = held & ~np.isin(np.arange(data.start, data.stop), list(layout.out))
    found: NDArray[np.intp] = np.flatnonzero(held) + data.start
    return found


def _column(
    cells: Cells,
    layout: Layout,
    line: int,
    item: TableObject | None,
    privacy: Privacy,
) -> Column:
    """One column of a table (one row of a transposed one)."""
    data = layout.data
    if layout.transposed:
        kinds = cells.kinds[line, data.start : data.stop]
        header = [(line, layout.area.left + i) for i in range(layout.header_height)]
    else:
        kinds = cells.kinds[data.start : data.stop, line]
        header = [(layout.area.top + i, line) for i in range(layout.header_height)]
    if layout.out and not layout.transposed:
        kinds = kinds.copy()
        kinds[[row - data.start for row in layout.out if row in data]] = Kind.EMPTY
    found, unseen = sample_column(kinds)
    places = (found + data.start).tolist()
    values = cells.line(line, places) if layout.transposed else cells.column(places, line)
    kept = privacy.keeps_header(transposed=layout.transposed, clear=layout.score >= CLEAR)
    name = _joined(cells, header) if kept else ""
    position = line - layout.area.left
    if not name and item and position < len(item.columns):
        name = header_text(item.columns[position])
    unit = header_text(cells.value(layout.units, line)) if layout.units is not None else ""
    held = ColumnCells(kinds[found], values, unseen, shown_in(cells, layout, line))
    return describe_column(name, held, unit or None, privacy)


def shown_in(cells: Cells, layout: Layout, line: int) -> NumberFormat:
    """What the number formats of a table's column show."""
    if cells.formats is None:
        return PLAIN
    data = slice(layout.data.start, layout.data.stop)
    place = (line, data) if layout.transposed else (data, line)
    return joint_shown(cells.kinds[place], cells.formats[place], cells.shown)


def _joined(cells: Cells, header: Sequence[tuple[int, int]]) -> str:
    """Header cells joined top-down, with merged cells spread and repetitions left out."""
    parts: list[str] = []
    for row, col in header:
        text = header_text(cells.spread(row, col))
        if text and (not parts or parts[-1] != text):
            parts.append(text)
    return header_text(" / ".join(parts))
