"""Header detection: exact header row, orientation and range, against two naive readers.

    python -m benchmarks run headers --data ../shared/data

Made sheets (known truth; tuning and test differ in seed and in every word) and real
sheets labelled by hand in `header_labels.json`. Weights were chosen on the tuning
parts; `--errors` shows the cases missed there, never those of the other parts.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from python_calamine import CalamineWorkbook
from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.made import Sheet, make_sheets
from benchmarks.results import Result, write_result
from sat_retriever.area import Area
from sat_retriever.structure import TableObject
from sat_retriever.types import Table
from sat_retriever.workbook.grid import Grid, Value
from sat_retriever.workbook.header import find_tables

LABELS = Path(__file__).with_name("header_labels.json")
SEEDS = {"tuning": 1, "test": 2}
EACH = 24
"""Made sheets a layout: 28 layouts, 672 sheets a part."""

PARTS = (
    ("made_sheets", "tuning"),
    ("made_sheets", "test"),
    ("real_sheets", "tuning"),
    ("real_sheets", "held_out"),
)

Finder = Callable[[Grid, Sequence[Area], Sequence[TableObject]], tuple[Table, ...]]


@dataclass(frozen=True, slots=True)
class Reading:
    """One right reading of a sheet's main table; a None range is not scored."""

    header_row: int | None
    header_height: int
    transposed: bool
    range: str | None
    num_rows: int | None = None
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A sheet with its right readings and, for made sheets, all of its tables' ranges."""

    name: str
    layout: str
    grid: Grid
    merges: Sequence[Area]
    objects: Sequence[TableObject]
    readings: tuple[Reading, ...]
    ranges: frozenset[str] | None = None


def made_cases(part: str, each: int = EACH) -> list[Case]:
    """Made sheets of the tuning or the test part."""
    sheets = make_sheets(part, SEEDS[part], each)
    return [_made_case(sheet, index % each) for index, sheet in enumerate(sheets)]


def _made_case(sheet: Sheet, index: int) -> Case:
    main = sheet.tables[0]
    reading = Reading(
        main.header_row,
        main.header_height,
        main.transposed,
        main.area.a1(),
        None if sheet.layout == "prose" else main.num_rows,
        main.names,
    )
    ranges = frozenset(truth.area.a1() for truth in sheet.tables)
    name = f"{sheet.layout}-{index}"
    return Case(name, sheet.layout, sheet.grid(), sheet.merges, sheet.objects, (reading,), ranges)


def real_cases(data: Path, split: str) -> list[Case]:
    """Labelled real sheets of one split, read by python-calamine."""
    labels = json.loads(LABELS.read_text(encoding="utf-8"))["sheets"]
    return [
        _real_case(data, label, str(index))
        for index, label in enumerate(labels)
        if label["split"] == split
    ]


def _real_case(data: Path, label: Mapping[str, Any], name: str) -> Case:
    sheet = CalamineWorkbook.from_path(str(data / label["file"])).get_sheet_by_name(label["sheet"])
    first_row, first_col = sheet.start or (0, 0)
    rows = [[None if v == "" else v for v in row] for row in sheet.to_python(skip_empty_area=True)]
    merges = [
        Area(top + 1, left + 1, bottom + 1, right + 1)
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or []
    ]
    readings = [
        Reading(item["header_row"], item["header_height"], item["transposed"], item["range"])
        for item in [label, *label.get("also", [])]
    ]
    grid = Grid(rows, first_row + 1, first_col + 1)
    return Case(name, label["layout"], grid, merges, (), tuple(readings))


def row_1(grid: Grid, merges: Sequence[Area], objects: Sequence[TableObject]) -> tuple[Table, ...]:
    """Naive: row 1 is the header of everything."""
    return _naive(grid, 1)


def first_filled_row(
    grid: Grid, merges: Sequence[Area], objects: Sequence[TableObject]
) -> tuple[Table, ...]:
    """Naive: the first row that is not empty is the header of the used range."""
    filled = (i for i, row in enumerate(grid.rows) if any(value is not None for value in row))
    return _naive(grid, grid.first_row + next(filled, 0))


def _naive(grid: Grid, header_row: int) -> tuple[Table, ...]:
    bottom = grid.first_row + len(grid.rows) - 1
    right = grid.first_col + max(map(len, grid.rows), default=1) - 1
    left = 1 if header_row < grid.first_row else grid.first_col
    area = Area(header_row, left, bottom, right)
    return (Table(area.a1(), header_row, 1, False, bottom - header_row, ()),)


METHODS: dict[str, Finder] = {
    "detected": find_tables,
    "first_filled_row": first_filled_row,
    "row_1": row_1,
}


def score(case: Case, tables: Sequence[Table]) -> dict[str, bool | None]:
    """What is right about the main table found, by the reading that fits it best."""
    if not tables:
        return {"header": False, "orientation": False, "range": False, "exact": False}
    return max((_score_one(case, reading, tables) for reading in case.readings), key=_sum)


def _sum(scores: Mapping[str, bool | None]) -> int:
    return sum(bool(value) for value in scores.values())


def _score_one(case: Case, reading: Reading, tables: Sequence[Table]) -> dict[str, bool | None]:
    main = tables[0]
    orientation = main.transposed == reading.transposed
    header = (
        orientation
        and main.header_row == reading.header_row
        and main.header_height == reading.header_height
    )
    ranged = None if reading.range is None else main.range == reading.range
    scores: dict[str, bool | None] = {
        "header": header,
        "orientation": orientation,
        "range": ranged,
        "exact": header and ranged is not False,
    }
    if reading.names is not None:
        scores["names"] = tuple(column.name for column in main.columns) == reading.names
        scores["num_rows"] = reading.num_rows is None or main.num_rows == reading.num_rows
        scores["all_ranges"] = frozenset(table.range for table in tables) == case.ranges
    return scores


def evaluate(finder: Finder, cases: Iterable[Case]) -> list[dict[str, Any]]:
    """One row a case: its layout and what was right."""
    rows = []
    for case in cases:
        tables = finder(case.grid, case.merges, case.objects)
        rows.append({"case": case.name, "layout": case.layout, **score(case, tables)})
    return rows


def accuracies(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Share of right cases by feature, over those where it is defined."""
    names = dict.fromkeys(key for row in rows for key in row if key not in ("case", "layout"))
    return {
        name: round(mean(row[name] for row in rows if row.get(name) is not None), 4)
        for name in names
    }


def by_layout(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Accuracies of each layout, with the number of sheets."""
    groups = defaultdict(list)
    for row in rows:
        groups[row["layout"]].append(row)
    return {name: {"sheets": len(group), **accuracies(group)} for name, group in groups.items()}


def _print(console: Console, title: str, found: Mapping[str, list[dict[str, Any]]]) -> None:
    table = RichTable(title=title)
    columns = list(accuracies(found["detected"]))
    for name in ("", "sheets", *columns):
        table.add_column(name, justify="right" if name else "left")
    for method, rows in found.items():
        values = accuracies(rows)
        table.add_row(method, str(len(rows)), *(f"{values[name]:.3f}" for name in columns))
    table.add_section()
    for layout, values in by_layout(found["detected"]).items():
        cells = (f"{values[name]:.2f}" if name in values else "–" for name in columns)
        table.add_row(layout, str(int(values["sheets"])), *cells)
    console.print(table)


def _print_errors(console: Console, cases: Sequence[Case]) -> None:
    for case in cases:
        tables = find_tables(case.grid, case.merges, case.objects)
        scores = score(case, tables)
        if False not in scores.values():
            continue
        wrong = [name for name, right in scores.items() if right is False]
        right = case.readings[0]
        console.print(f"[bold]{case.name}[/] wrong: {', '.join(wrong)}", highlight=False)
        console.print(f"  right {right}", markup=False, highlight=False)
        for table in tables[:4]:
            head = f"{table.range} row {table.header_row} height {table.header_height}"
            names = [column.name[:16] for column in table.columns][:9]
            turned = "transposed " if table.transposed else ""
            text = f"  found {turned}{head}, {table.num_rows} rows {names}"
            console.print(text, markup=False, highlight=False)


def seconds_for_deep_grid(rows: int = 100_000, cols: int = 20) -> float:
    """Best of three times for one deep grid of texts, numbers and dates."""
    day = dt.datetime(2024, 1, 1)
    values: list[list[Value]] = [[f"column {col}" for col in range(cols)]]
    for row in range(rows):
        line: list[Value] = [float(row * col) for col in range(cols)]
        line[0], line[1] = f"item {row % 97}", day
        values.append(line)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        find_tables(Grid(values))
        times.append(time.perf_counter() - start)
    return round(min(times), 4)


def _write(dataset: str, split: str, found: Mapping[str, list[dict[str, Any]]]) -> None:
    """One result file a method; of made sheets only the missed ones are listed."""
    made = dataset == "made_sheets"
    for method, rows in found.items():
        metrics = {"sheets": len(rows), **accuracies(rows), "layouts": by_layout(rows)}
        kept = [row for row in rows if False in row.values()] if made else rows
        kept = kept if method == "detected" else []
        result = Result(method, dataset, metrics, split, SEEDS[split] if made else None, kept)
        write_result("headers", result, data=[] if made else [LABELS])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--errors", action="store_true", help="show tuning misses; write nothing")
    options = parser.parse_args(arguments)
    console = Console()
    for dataset, split in PARTS:
        if options.errors and split != "tuning":
            continue
        made = dataset == "made_sheets"
        cases = made_cases(split) if made else real_cases(options.data, split)
        if options.errors:
            _print_errors(console, cases)
        found = {method: evaluate(finder, cases) for method, finder in METHODS.items()}
        _print(console, f"{dataset}, {split}", found)
        if not options.errors:
            _write(dataset, split, found)
    if not options.errors:
        seconds = seconds_for_deep_grid()
        console.print(f"find_tables on 100,000 x 20 cells: {seconds} s")
        metrics = {"seconds": seconds, "rows": 100_000, "columns": 20}
        write_result("headers", Result("detected", "deep_grid", metrics))
