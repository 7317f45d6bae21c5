"""The record of a sheet, made from its grid: its tables, each with its columns, and contents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import Area
from sat_retriever.records.contents import CellText, ContentsPolicy
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.records.sheets import (
    MAX_LEFT_OUT,
    Column,
    LeftOut,
    LeftOutReason,
    SheetRecord,
    Table,
    Visibility,
)
from sat_retriever.records.structure import TableObject
from sat_retriever.workbook.tables.columns import (
    ColumnCells,
    describe_column,
    joint_shown,
    sample_column,
)
from sat_retriever.workbook.tables.contents import ROOM, sheet_contents
from sat_retriever.workbook.tables.header import Placed, find_layouts
from sat_retriever.workbook.tables.layout import Layout
from sat_retriever.workbook.tables.role import NO_SETTING, Setting, form_of, role_of
from sat_retriever.workbook.tables.rowscores import CLEAR
from sat_retriever.workbook.values.cells import (
    MAX_EXAMPLE_LENGTH,
    Cells,
    Kind,
    cells_of,
    header_text,
)
from sat_retriever.workbook.values.grid import Grid
from sat_retriever.workbook.values.numberformat import PLAIN, NumberFormat

MAX_KEPT_COLUMNS = 16_384


@dataclass(frozen=True, slots=True)
class Source:
    """The source of records, the same for all sheets of a workbook."""

    path: str  # POSIX path relative to the root
    workbook: str
    format: str
    content_hash: str
    encoding: str = ""
    unsure_encoding: bool = False  # True if another encoding is almost as likely


def sheet_record(  # noqa: PLR0913 - a sheet, and all that is known of it
    source: Source,
    sheet: str,
    grid: Grid,
    area: Area,
    *,
    visibility: Visibility = Visibility.VISIBLE,
    merges: Sequence[Area] = (),
    table_objects: Sequence[TableObject] = (),
    beside: Sequence[CellText] = (),
    privacy: Privacy = EVERYTHING,
    setting: Setting = NO_SETTING,
    room: int = ROOM,
) -> SheetRecord:
    """The record of one worksheet; its values may end before `area`, its true used range, does."""
    cells = cells_of(grid, merges)
    placed = find_layouts(cells, table_objects)
    tables = describe_tables(cells, placed, privacy)
    layouts = [layout for layout, _ in placed]
    contents = None
    if privacy.contents is ContentsPolicy.ALL:
        contents = sheet_contents(cells, layouts, tables, privacy, room, beside)
    return SheetRecord(
        sheet_id=f"{source.path}#{sheet}",
        sheet=sheet,
        workbook=source.workbook,
        path=source.path,
        columns=tables[0].columns if tables else (),
        num_rows=len(area.rows),
        num_cols=len(area.columns),
        range=area.a1(),
        header_row=tables[0].header_row if tables else None,
        visibility=visibility,
        format=source.format,
        tables=tables,
        content_hash=source.content_hash,
        role=role_of(form_of(cells, layouts, tables, setting), setting),
        contents=contents,
        encoding=source.encoding,
        unsure_encoding=source.unsure_encoding,
    )


def find_tables(
    grid: Grid,
    merges: Sequence[Area] = (),
    table_objects: Sequence[TableObject] = (),
    privacy: Privacy = EVERYTHING,
) -> tuple[Table, ...]:
    """Every table of a sheet, the main one first, the others in reading order.

    Tables that the workbook declares are used unchanged. The rest of the sheet is cut at blank rows
    and columns. Each block's header is the row (or, for forms and transposed records, the first
    column) that contrasts most with its data. A page of prose is one table without headers. A
    table's range includes its header, units and totals, but not titles above or notes below.

    The grid holds the used range; empty strings are None. If no examples may be kept, the result
    has no data cell's value, but headers and units.

    Cost is linear in the number of cells. At most 64 tables (the largest) and 16,384 columns in all
    are kept; see `cells_of` for the limits on the grid.
    """
    cells = cells_of(grid, merges)
    return describe_tables(cells, find_layouts(cells, table_objects), privacy)


def describe_tables(
    cells: Cells, placed: Sequence[Placed], privacy: Privacy = EVERYTHING
) -> tuple[Table, ...]:
    """The tables at some places, each with its columns."""
    room = MAX_KEPT_COLUMNS
    tables: list[Table] = []
    for layout, item in placed:
        table = _table(cells, layout, item, room, privacy)
        room -= len(table.columns)
        tables.append(table)
    return tuple(tables)


def _table(
    cells: Cells, layout: Layout, item: TableObject | None, room: int, privacy: Privacy
) -> Table:
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
    """Some rows of a table that are no records, or in doubt, in sheet addresses."""
    found = []
    for row in rows:
        line = cells.line(row, layout.lines) if kept else []
        text = next((value.strip() for value in line if isinstance(value, str)), "")
        reason = layout.out.get(row, LeftOutReason.TOTAL)
        found.append(LeftOut(row + cells.origin[0], reason, text[:MAX_EXAMPLE_LENGTH]))
    return tuple(found)


def records_of(cells: Cells, layout: Layout, lines: range | None = None) -> NDArray[np.intp]:
    """Places of the records: rows (columns if transposed) with a value that are not left out.

    `lines` are the rows of a transposed table that count; None for all.
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
