"""Measure header detection: exact header row, orientation and range, against naive readers.

    python -m benchmarks run headers --data ../shared/data

There are made sheets (known truth; tuning and test differ in seed and in every word) and real
sheets labelled by hand in `header_labels.json`: cells read by python-calamine, or whole files read
by the library, which knows formulas without saved values. Weights were chosen on the tuning parts.
`--errors` shows the misses there, never those of other parts.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from python_calamine import CalamineWorkbook

from benchmarks.reading.header_records import record_answers
from benchmarks.reading.header_scoring import (
    LABELS,
    TUNING,
    Answer,
    Reading,
    Truth,
    accuracies,
    grouped,
    intervals,
    labelled,
    readings_of,
    score,
    scored,
)
from benchmarks.reading.sheets import Sheet, make_sheets
from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from sat_retriever.records.area import Area
from sat_retriever.records.sheets import Table
from sat_retriever.records.structure import TableObject
from sat_retriever.workbook.tables.records import find_tables
from sat_retriever.workbook.values.grid import Grid, Value

SEEDS = {"tuning": 1, "test": 2}
EACH = 24
"""Made sheets a layout: 28 layouts, 672 sheets a part."""

PARTS = (
    ("made_sheets", "tuning"),
    ("made_sheets", "test"),
    ("real_sheets", "tuning"),
    ("real_sheets", "held_out"),
    ("real_files", "more_tuning"),
    ("real_files", "more_held_out"),
)

Finder = Callable[[Grid, Sequence[Area], Sequence[TableObject]], tuple[Table, ...]]


@dataclass(frozen=True, slots=True)
class Case:
    """A sheet's truth and its cells."""

    truth: Truth
    grid: Grid
    merges: Sequence[Area]
    objects: Sequence[TableObject]


def made_cases(part: str, each: int = EACH) -> list[Case]:
    """Return made sheets of the tuning or the test part."""
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
    truth = Truth(f"{sheet.layout}-{index}", sheet.layout, (reading,), ranges)
    return Case(truth, sheet.grid(), sheet.merges, sheet.objects)


def real_cases(data: Path, split: str) -> list[Case]:
    """Return labelled real sheets of one split, read by python-calamine."""
    return [_real_case(data, label, name) for name, label in labelled(split)]


def _real_case(data: Path, label: Mapping[str, Any], name: str) -> Case:
    sheet = CalamineWorkbook.from_path(str(data / label["file"])).get_sheet_by_name(label["sheet"])
    first_row, first_col = sheet.start or (0, 0)
    rows = [[None if v == "" else v for v in row] for row in sheet.to_python(skip_empty_area=True)]
    merges = [
        Area(top + 1, left + 1, bottom + 1, right + 1)
        for (top, left), (bottom, right) in sheet.merged_cell_ranges or []
    ]
    truth = Truth(name, label["layout"], readings_of(label))
    return Case(truth, Grid(rows, first_row + 1, first_col + 1), merges, ())


def row_1(grid: Grid, merges: Sequence[Area], objects: Sequence[TableObject]) -> tuple[Table, ...]:
    """Take row 1 as the header of everything (naive)."""
    return _naive(grid, 1)


def first_filled_row(
    grid: Grid, merges: Sequence[Area], objects: Sequence[TableObject]
) -> tuple[Table, ...]:
    """Take the first row that is not empty as the header of the used range (naive)."""
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


def evaluate(finder: Finder, cases: Iterable[Case]) -> list[dict[str, Any]]:
    """Return one row a case: its layout and its scores."""
    return scored(_found(finder, cases))


def _found(finder: Finder, cases: Iterable[Case]) -> list[Answer]:
    return [(case.truth, finder(case.grid, case.merges, case.objects)) for case in cases]


def answers(data: Path, dataset: str, split: str) -> dict[str, list[Answer]]:
    """Return every method's tables of every sheet of a part."""
    if dataset == "real_files":
        return record_answers(data, split)
    cases = made_cases(split) if dataset == "made_sheets" else real_cases(data, split)
    return {method: _found(finder, cases) for method, finder in METHODS.items()}


def shown_parts(*, errors: bool) -> list[tuple[str, str]]:
    """Return data sets and splits to measure; only tuning parts if misses are shown."""
    return [(dataset, split) for dataset, split in PARTS if not errors or split in TUNING]


def _print_errors(found: Sequence[Answer]) -> None:
    for truth, tables in found:
        scores = score(truth, tables)
        if False not in scores.values():
            continue
        wrong = [name for name, right in scores.items() if right is False]
        console.print(f"[bold]{truth.name}[/] wrong: {', '.join(wrong)}", highlight=False)
        console.print(f"  right {truth.readings[0]}", markup=False, highlight=False)
        for table in tables[:4]:
            head = f"{table.range} row {table.header_row} height {table.header_height}"
            names = [column.name[:16] for column in table.columns][:9]
            turned = "transposed " if table.transposed else ""
            text = f"  found {turned}{head}, {table.num_rows} rows {names}"
            console.print(text, markup=False, highlight=False)


def seconds_for_deep_grid(rows: int = 100_000, cols: int = 20) -> float:
    """Return the best of three times for one deep grid of texts, numbers and dates."""
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


def of_sheets(
    dataset: str, split: str, found: Mapping[str, list[dict[str, Any]]]
) -> Iterator[Result]:
    """Yield the result of each method; of made sheets only missed ones are listed."""
    made = dataset == "made_sheets"
    for method, rows in found.items():
        metrics = {"sheets": len(rows), **accuracies(rows), "layouts": grouped(rows, "layout")}
        kept = [row for row in rows if False in row.values()] if made else rows
        kept = kept if method == "detected" else []
        seed, data = (SEEDS[split], []) if made else (None, [LABELS])
        yield Result(method, dataset, metrics, split, seed, kept, data)


def of_files(
    dataset: str, split: str, found: Mapping[str, list[dict[str, Any]]]
) -> Iterator[Result]:
    """Yield two results of each method, with intervals: all sheets, and uncalculated ones."""
    for method, rows in found.items():
        empty = [row for row in rows if row["formulas"] != "saved"]
        for name, some in ((dataset, rows), (f"{dataset}_uncalculated", empty)):
            metrics = {
                "sheets": len(some),
                "workbooks": len({row["workbook"] for row in some}),
                **accuracies(some),
                **intervals(some),
                "layouts": grouped(some, "layout"),
                "formulas": grouped(some, "formulas"),
            }
            kept = some if method == "detected" else []
            yield Result(method, name, metrics, split, None, kept, [LABELS])


@suite("headers", "data", errors=option(False, "show tuning misses; write nothing"))
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    for dataset, split in shown_parts(errors=options.errors):
        found = answers(options.data, dataset, split)
        if options.errors:
            _print_errors(found["detected"])
            continue
        rows = {method: scored(answer) for method, answer in found.items()}
        yield from (of_files if dataset == "real_files" else of_sheets)(dataset, split, rows)
    if not options.errors:
        metrics = {"seconds": seconds_for_deep_grid(), "rows": 100_000, "columns": 20}
        yield Result("detected", "deep_grid", metrics)
