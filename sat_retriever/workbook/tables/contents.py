"""The cells of a sheet and its tables to the texts by which it is found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import column_letters
from sat_retriever.records.contents import CellText, SheetContents, TableContents, TextKind
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.sheets import ColumnType, Table
from sat_retriever.workbook.tables.adjacent import is_prose
from sat_retriever.workbook.tables.identifying import LookUp, fair_sample, identifying, text_costs
from sat_retriever.workbook.tables.layout import Layout
from sat_retriever.workbook.tables.notes import (
    BESIDE_ROOM,
    caption_of,
    in_order,
    texts_beside,
    texts_outside,
)
from sat_retriever.workbook.values.cells import Cells, Kind, KindArray
from sat_retriever.workbook.values.grid import Value

# Bytes of the labels and values of a sheet together: some 5,000 names, of every row of most
# sheets. With the notes a record's message stays below 300 KiB.
ROOM = 128 << 10
# Bytes of the labels and values of a workbook: those of its first hundred sheets in full, and
# ever less of each one behind them, since a hostile file has 10,000 sheets.
MAX_CONTENTS = 16 << 20
# Columns side by side that may name a table's rows, such as region, country and town.
MAX_LABEL_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class _Line:
    """One column of a table (one row of a transposed one), and its texts by position."""

    table: int
    labels: bool
    texts: dict[str, int]
    line: int
    start: int


def sheet_contents(
    cells: Cells,
    layouts: Sequence[Layout],
    tables: Sequence[Table],
    privacy: Privacy,
    room: int = ROOM,
    beside: Sequence[CellText] = (),
) -> SheetContents:
    """Notes, captions, row labels and values of a sheet, texts beside its cells, within bounds.

    A page of prose has notes alone. Where not all fits, every column keeps a fair sample of its
    texts from all of its rows. An eighth of the room is kept for the texts `beside`: of comments,
    shapes and charts.
    """
    prose = [not each.header_height and is_prose(cells, each.area) for each in layouts]
    areas = [each.area for each, page in zip(layouts, prose, strict=True) if not page]
    notes = texts_outside(cells, areas)
    more = [each for each in beside if not privacy.hides(each, tables)]
    more = texts_beside(more, min(BESIDE_ROOM, room // 8), (note.text for note in notes))
    captions = []
    for layout, page in zip(layouts, prose, strict=True):
        caption = None if page else caption_of(notes, cells, layout.area)
        captions.append(caption)
        notes = [note for note in notes if note is not caption]
    lines = [
        line
        for number, (layout, table) in enumerate(zip(layouts, tables, strict=True))
        if not prose[number]
        for line in _lines(cells, number, layout, table, privacy)
    ]
    kept = fair_sample([list(line.texts) for line in lines], room)
    found: list[tuple[list[CellText], list[CellText]]] = [([], []) for _ in layouts]
    for line, positions in zip(lines, kept, strict=True):
        found[line.table][not line.labels].extend(
            _cell_texts(cells, layouts[line.table], line, positions)
        )
    own = [CellText(_a1(cells, note.row, note.col), note.text) for note in notes]
    return SheetContents(
        tuple(in_order([*own, *more])),
        tuple(
            TableContents(
                None if top is None else CellText(_a1(cells, top.row, top.col), top.text),
                tuple(labels),
                tuple(values),
            )
            for top, (labels, values) in zip(captions, found, strict=True)
        ),
    )


def contents_size(contents: SheetContents | None) -> int:
    """Bytes of the labels and values, and of texts that no cell holds, as `room` counts them."""
    if contents is None:
        return 0
    texts = [each.text for table in contents.tables for each in (*table.labels, *table.values)]
    texts += (each.text for each in contents.notes if each.kind is not TextKind.CELL)
    return int(text_costs(texts).sum())


def _lines(
    cells: Cells, number: int, layout: Layout, table: Table, privacy: Privacy
) -> list[_Line]:
    area = layout.area
    first = area.top if layout.transposed else area.left
    start = layout.data.start
    labels = _label_columns(cells, layout, table)
    seen: set[str] = set()
    lines = []
    for position, column in enumerate(table.columns):
        if privacy.skips(column.name):
            continue
        texts = identifying(column.name, *_data(cells, layout, first + position, start))
        if position not in labels:
            texts = {text: place for text, place in texts.items() if text not in seen}
            seen.update(texts)
        if texts:
            lines.append(_Line(number, position in labels, texts, first + position, start))
    return lines


def _label_columns(cells: Cells, layout: Layout, table: Table) -> range:
    """Positions of the first columns with texts in most cells, which name a table's rows.

    Their texts may be numbers, as those of persons are.
    """
    part = cells.kinds[layout.block]
    part = part.T if layout.transposed else part
    filled = (part != Kind.EMPTY).sum(axis=0)
    written = 2 * (part == Kind.TEXT).sum(axis=0) > filled
    texts = [
        column.type is ColumnType.TEXT or bool(own)
        for column, own in zip(table.columns, written.tolist(), strict=False)
    ]
    if True not in texts:
        return range(0)
    first = texts.index(True)
    stop = first
    while stop < len(texts) and texts[stop] and stop - first < MAX_LABEL_COLUMNS:
        stop += 1
    return range(first, stop)


def _data(cells: Cells, layout: Layout, line: int, start: int) -> tuple[KindArray, LookUp]:
    """Kinds of a table's column from its first data cell on, totals included, and its values."""
    area = layout.area
    if layout.transposed:
        kinds = cells.kinds[line, start : area.right + 1]
        return kinds, lambda places: cells.line(line, (places + start).tolist())
    kinds = cells.kinds[start : area.bottom + 1, line]
    down, value = start - cells.start[0], itemgetter(line - cells.start[1])

    def look_up(places: NDArray[np.intp]) -> Iterable[Value]:
        if len(places) and places[-1] - places[0] == len(places) - 1:  # nearly every long column
            return map(value, cells.rows[places[0] + down : places[-1] + down + 1])
        return map(value, map(cells.rows.__getitem__, (places + down).tolist()))

    return kinds, look_up


def _cell_texts(
    cells: Cells, layout: Layout, line: _Line, positions: Sequence[int]
) -> list[CellText]:
    texts = list(line.texts.items())
    found = []
    for position in positions:
        text, place = texts[position]
        at = line.start + place
        row, col = (line.line, at) if layout.transposed else (at, line.line)
        found.append(CellText(_a1(cells, row, col), text))
    return found


def _a1(cells: Cells, row: int, col: int) -> str:
    return f"{column_letters(col + cells.origin[1])}{row + cells.origin[0]}"
