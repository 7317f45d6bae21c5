"""Small tables drawn as text, and what a reader is told of each of their rows."""

from __future__ import annotations

import datetime as dt
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass

from sat_retriever.records.area import Area
from sat_retriever.workbook.tables.header import find_layouts
from sat_retriever.workbook.tables.records import describe_tables, records_of
from sat_retriever.workbook.values.cells import cells_of
from sat_retriever.workbook.values.grid import Grid, Value
from tests.places import ROOT

_DURATION = re.compile(r"(\d+):(\d\d)h")
DRAWINGS = ROOT / "tests/workbook/tables/drawings.txt"


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


def written(text: str) -> list[list[Value]]:
    """Rows of a table written as text."""
    lines = text.strip("\n").splitlines()
    return [[value_of(cell) for cell in line.split("|")] for line in lines]


def drawings() -> dict[str, str]:
    """The drawn tables by what they show."""
    _, *parts = DRAWINGS.read_text("utf-8").split("\n## ")
    return dict(part.split("\n", 1) for part in parts)


def drawn(text: str) -> tuple[Grid, list[Area], dict[int, str]]:
    """A drawn table, its merged cells, and what is told of each filled row."""
    lines = [line.partition(" #") for line in text.strip("\n").splitlines()]
    rows = [[value_of(cell) for cell in cells.split("|")] for cells, _, _ in lines]
    merges = []
    for number, row in enumerate(rows, start=1):
        if "<" in row:
            merges.append(Area(number, row.index("<"), number, len(row)))
            rows[number - 1] = [None if cell == "<" else cell for cell in row]
    said = {
        number: remark.strip() or ("record" if number > 1 else "header")
        for number, (cells, _, remark) in enumerate(lines, start=1)
        if cells.strip(" |")
    }
    return Grid(rows), merges, said


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


def remarks(grid: Grid, tables: Sequence[Told]) -> dict[int, str]:
    """What is told of each filled row, as `drawn` has it."""
    found = {number: "outside" for number, row in enumerate(grid.rows, start=1) if any(row)}
    for table in tables:
        rows = dict.fromkeys(table.records, "record") | table.left_out
        top = int(table.range.split(":")[0].lstrip(string.ascii_uppercase))
        found |= dict.fromkeys(found.keys() & range(top, min(rows)), "header") | rows
        found |= {row: f"{rows[row]} ?" for row in table.doubtful}
    return found
