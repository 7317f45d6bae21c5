"""Small tables written as text, each row with what a reader is told about it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sat_retriever.records.area import Area
from sat_retriever.workbook.tables.header import find_layouts
from sat_retriever.workbook.tables.records import describe_tables, records_of
from sat_retriever.workbook.values.cells import cells_of
from sat_retriever.workbook.values.grid import Grid, Value

_DURATION = re.compile(r"(\d+):(\d\d)h")
DOUBTFUL = "?"


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of one table.

    Attributes:
        range: Its address.
        records: Sheet rows of its records.
        left_out: Reason by sheet row of each row that is no record.
        doubtful: Sheet rows of records that may be none.
        names: Names of its columns.
    """

    range: str
    records: list[int]
    left_out: dict[int, str]
    doubtful: list[int]
    names: list[str]


def value_of(text: str) -> Value:
    """The value of a written cell: a number, a duration ("1:30h"), a day, else a text.

    A text in quotes keeps its blanks, and is no number.
    """
    text = text.strip()
    if text[:1] == '"':
        return text.strip('"')
    if found := _DURATION.fullmatch(text):
        return dt.timedelta(hours=int(found[1]), minutes=int(found[2]))
    for convert in (float, dt.datetime.fromisoformat):
        try:
            return convert(text)
        except ValueError:
            continue
    return text or None


def written(text: str) -> tuple[list[list[Value]], dict[int, str]]:
    """Rows of a table written as text, and what stands behind "#" by row number."""
    rows, said = [], {}
    for number, line in enumerate(text.strip("\n").splitlines(), start=1):
        cells, _, remark = line.partition(" #")
        rows.append([value_of(cell) for cell in cells.split("|")])
        if remark.strip():
            said[number] = remark.strip()
    return rows, said


def told(grid: Grid, merges: Sequence[Area] = ()) -> list[Told]:
    """What is told of each table of a grid, the main one first."""
    cells = cells_of(grid, merges)
    placed = find_layouts(cells, ())
    return [
        Told(
            table.range,
            [row + grid.first_row for row in records_of(cells, layout).tolist()],
            {row + grid.first_row: str(why) for row, why in layout.out.items()},
            [row + grid.first_row for row in layout.doubtful],
            [column.name for column in table.columns],
        )
        for table, (layout, _) in zip(describe_tables(cells, placed), placed, strict=True)
    ]


def remarks(tables: Sequence[Told]) -> dict[int, str]:
    """Rows left out and doubtful rows of some tables, as `written` has them."""
    found = {row: why for table in tables for row, why in table.left_out.items()}
    for row in (row for table in tables for row in table.doubtful):
        found[row] = f"{found[row]} {DOUBTFUL}" if row in found else DOUBTFUL
    return dict(sorted(found.items()))
