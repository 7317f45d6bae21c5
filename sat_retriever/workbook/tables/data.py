"""The data of a table, column by column, as JSON values with the types that JSON lacks."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.jsonform import Json, to_json
from sat_retriever.records.sheets import SUMS, LeftOutReason
from sat_retriever.records.structure import TableObject
from sat_retriever.workbook.messages import Window
from sat_retriever.workbook.tables.header import find_layouts
from sat_retriever.workbook.tables.layout import Layout
from sat_retriever.workbook.tables.leftout import section_texts
from sat_retriever.workbook.tables.records import describe_tables, left_out_of, records_of, shown_in
from sat_retriever.workbook.values.cells import Cells, Kind
from sat_retriever.workbook.values.grid import CellError, Value
from sat_retriever.workbook.values.window import other_text, plain_value

MERGED_SHARE = 0.5  # least merged cells of a column of labels for each cell of its own
_AT_ONCE = 50_000  # cells of a message
# Letters of types that JSON lacks, and of all others.
MOMENT, TIME, DURATION, ERROR, PLAIN = "dtue."
_LETTERS = {
    dt.datetime: MOMENT, dt.date: MOMENT, dt.time: TIME, dt.timedelta: DURATION, CellError: ERROR,
}  # fmt: skip
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})


def table_messages(
    cells: Cells, declared: Sequence[TableObject], wanted: Window, *, cut: bool
) -> Iterator[Json]:
    """Yield a description of one table of a sheet, then its data; nothing without such a table.

    A cell that a merged area covers is empty, as it is on the screen, whatever the file stores. A
    label that is merged over several rows counts for each of them.

    A message of data holds for some records the values of each column, and one letter a value if
    a value has a type that JSON lacks: dates and times are ISO text, durations are seconds. "texts"
    are those of a delimited file where a value of the column looks otherwise, else None.
    """
    placed = find_layouts(cells, declared)
    if wanted.table is None or wanted.table >= len(placed):
        return
    layout, _ = placed[wanted.table]
    if wanted.totals:
        out = {row: why for row, why in layout.out.items() if why not in SUMS}
        kept = sorted({*layout.doubtful, *(layout.out.keys() - out.keys())})
        layout = replace(layout, out=out, doubtful=tuple(kept))  # so that they are told
    row, col = cells.origin
    first_line, first_record = (row, col) if layout.transposed else (col, row)
    lines = list(layout.lines)
    records: list[int] = records_of(cells, layout).tolist()
    kept = records[: max(1, wanted.most // max(1, len(lines)))]
    covered = _covered(cells, layout)
    taken = set(kept)
    ends_below = layout.area.bottom == cells.kinds.shape[0] - 1
    yield {
        "table": {
            "table": to_json(describe_tables(cells, placed[: wanted.table + 1])[-1]),
            "first_line": lines[0] + first_line,
            "records": [place + first_record for place in kept],
            "left_out": to_json(left_out_of(cells, layout, list(layout.out))),
            "doubtful": to_json(left_out_of(cells, layout, layout.doubtful)),
            "sections": _sections(cells, layout, kept),
            "shown": [to_json(shown_in(cells, layout, line)) for line in lines],
            "unsaved": int((cells.kinds[layout.block] == Kind.UNKNOWN).sum()),
            "repeated": sum(
                row in taken for (row, _), value in covered.items() if value is not None
            ),
            "cut": cut and ends_below,
            "more": len(kept) < len(records),
        }
    }
    step = max(1, _AT_ONCE // max(1, len(lines)))
    written = replace(cells, rows=cells.texts or ())  # the fields of a delimited file
    for start in range(0, len(kept), step):
        columns = _columns(cells, layout, lines, kept[start : start + step])
        _fill(columns, covered, lines, kept[start : start + step], transposed=layout.transposed)
        told = [_encoded(column) for column in columns]
        if cells.texts is not None:
            fields = _columns(written, layout, lines, kept[start : start + step])
            for each, column, texts in zip(told, columns, fields, strict=True):
                others = list(map(other_text, texts, column))
                each.update({"texts": others} if any(others) else {})
        yield {"data": told}


def _columns(
    cells: Cells, layout: Layout, lines: Sequence[int], records: Sequence[int]
) -> list[list[Value]]:
    if layout.transposed:
        return [cells.line(line, records) for line in lines]
    rows = (cells.line(record, lines) for record in records)
    return [list(column) for column in zip(*rows, strict=True)]


def _sections(cells: Cells, layout: Layout, records: Sequence[int]) -> list[str | None] | None:
    heads = [row for row, why in layout.out.items() if why is LeftOutReason.SECTION]
    return section_texts(cells, layout.area, records, heads) if heads else None


def _covered(cells: Cells, layout: Layout) -> dict[tuple[int, int], Value]:
    """The values of the covered cells of merged areas: that of its label, or none.

    A label is a text or a date that is merged over rows, in the first column that it covers. A
    number is one only left of all columns with a cell of its own in each row; elsewhere it is an
    amount, which counts once.
    """
    rows, columns = layout.data, layout.lines
    if layout.transposed:
        rows, columns = columns, rows
    found: dict[tuple[int, int], Value] = {}
    merged = cells.merged_in(rows, columns)
    labels = _label_columns(cells, merged, rows, columns)
    for row, col, top, left in merged.tolist():
        if (row, col) == (top, left):
            continue
        value = cells.value(top, left) if col == left and top in rows else None
        amount = isinstance(value, (int, float, dt.timedelta)) and col not in labels
        found[row, col] = None if amount or layout.transposed else value
    return found


def _label_columns(cells: Cells, merged: NDArray[np.int64], rows: range, columns: range) -> range:
    """The first columns of a table up to one in which most cells are not merged over rows."""
    over_rows = merged[(merged[:, 1] == merged[:, 3]) & (merged[:, 0] != merged[:, 2])]
    counts = np.bincount(over_rows[:, 1] - columns.start, minlength=len(columns))
    own = (cells.kinds[rows.start : rows.stop, columns.start : columns.stop] != 0).sum(axis=0)
    stop = int(np.argmax(counts <= MERGED_SHARE * own)) if len(columns) else 0
    return range(columns.start, columns.start + stop)


def _fill(
    columns: list[list[Value]],
    covered: Mapping[tuple[int, int], Value],
    lines: Sequence[int],
    records: Sequence[int],
    *,
    transposed: bool,
) -> None:
    """Set the values of covered cells, given by row and column of the sheet's grid."""
    if not covered:
        return
    places = {record: number for number, record in enumerate(records)}
    first, last = lines[0], lines[-1]
    for (row, col), value in covered.items():
        line, record = (row, col) if transposed else (col, row)
        if first <= line <= last and record in places:
            columns[line - first][places[record]] = value


def _encoded(column: Sequence[Value]) -> Json:
    """Some values of a column, and their letters if one of them needs one."""
    types = set(map(type, column))
    if types <= _AS_THEY_ARE:
        return {"values": list(column)}
    if types.isdisjoint(_LETTERS):
        return {"values": [plain_value(value) for value in column]}
    letters = "".join(_LETTERS.get(type(value), PLAIN) for value in column)
    return {"values": [_value(value) for value in column], "letters": letters}


def _value(value: Value) -> str | int | float | bool | None:
    return value.total_seconds() if isinstance(value, dt.timedelta) else plain_value(value)
