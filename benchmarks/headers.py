"""Header detection: exact header row, orientation and range, against two naive readers.

    python -m benchmarks.headers --data ../shared/data

Made sheets (known truth; tuning and test differ in seed and in every word) and real
sheets labelled by hand in `header_labels.json`. Weights were chosen on the tuning
parts; `--errors` shows the cases missed there, never those of the other parts.
"""

from __future__ import annotations

import argparse
import json
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
from sat_retriever.types import Table
from sat_retriever.workbook.grid import Area, Grid, TableObject
from sat_retriever.workbook.header import find_tables

LABELS = Path(__file__).with_name("header_labels.json")
SEEDS = {"tuning": 1, "test": 2}
EACH = 24
"""Made sheets a layout: 28 layouts, 672 sheets a part."""

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
    return [_real_case(data, label) for label in labels if label["split"] == split]


def _real_case(data: Path, label: Mapping[str, Any]) -> Case:
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
    name = f"{label['file']}#{label['sheet']}"
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


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument(
        "--errors", action="store_true", help="show tuning cases missed; write nothing"
    )
    options = parser.parse_args()
    console = Console()
    if options.errors:
        _print_errors(console, [*made_cases("tuning"), *real_cases(options.data, "tuning")])
    for dataset, split in (
        ("made_sheets", "tuning"),
        ("made_sheets", "test"),
        ("real_sheets", "tuning"),
        ("real_sheets", "held_out"),
    ):
        if options.errors and split != "tuning":
            continue
        real = dataset == "real_sheets"
        cases = real_cases(options.data, split) if real else made_cases(split)
        found = {method: evaluate(finder, cases) for method, finder in METHODS.items()}
        _print(console, f"{dataset}, {split}", found)
        for method, rows in () if options.errors else found.items():
            metrics = {**accuracies(rows), "layouts": by_layout(rows)}
            result = Result(method, dataset, metrics, split, None if real else SEEDS[split], rows)
            write_result("headers", result, data=[LABELS] if real else [])


if __name__ == "__main__":
    main()
