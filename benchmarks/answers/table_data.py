"""Tables as data: every cell beside openpyxl's reading of it, and the time of a long table.

    python -m benchmarks run table_data [--data DIR] [--work DIR] [--rows 100000]

Every table of every xlsx of `eps` and of 300 made sheets is loaded as a user loads it, and each of
its cells is compared with openpyxl's (values, not formulas; texts up to 2,000 characters). Numbers
are equal as numbers: a spreadsheet does not tell 5 from 5.0. A cell of blanks is empty. The long
table has 20 columns of texts, numbers, dates and booleans; times are medians of three, of openpyxl
one.
"""

from __future__ import annotations

import datetime as dt
import random
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import openpyxl

from benchmarks.general.corpora import HELD_OUT
from benchmarks.progress import track
from benchmarks.related.made import made_workbooks
from benchmarks.results import Result
from benchmarks.runner import Options, suite
from benchmarks.speed.turns import median_seconds
from sat_retriever.errors import InputError
from sat_retriever.workbook.read import read_workbook
from sat_retriever.workbook.typed import TableData, load_table, read_table_data
from sat_retriever.workbook.values.grid import CellError
from sat_retriever.workbook.values.read import MAX_TEXT

_MADE = 300  # sheets


def compared(files: Iterable[Path]) -> Counter[str]:
    """Return the numbers of sheets, tables and cells that were compared, and of differences."""
    found: Counter[str] = Counter()
    for file in files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts that openpyxl leaves out
            book = openpyxl.load_workbook(file, data_only=True)
        for record in read_workbook(file, contents="names", links=False, formulas=False).records:
            found["sheets"] += 1
            for place, table in enumerate(record.tables):
                found["tables"] += 1
                try:
                    data = read_table_data(file, record.sheet, place)
                except InputError:
                    found["unreadable"] += 1
                    continue
                found["other_place"] += data.table.range != table.range
                found.update(_cells(data, book[record.sheet]))
        book.close()
    return found


def _cells(data: TableData, sheet: Any) -> Counter[str]:
    """Return the numbers of cells of one table, and of those that openpyxl reads otherwise.

    A cell under a merged label may have that.
    """
    found: Counter[str] = Counter()
    labels = _labels(sheet)
    for line, column in enumerate(data.columns, start=data.first_line):
        for at, own in zip(data.records, column, strict=True):
            row, col = (line, at) if data.table.transposed else (at, line)
            cell = sheet.cell(row, col)
            theirs = cell.value
            if cell.data_type == "e":
                theirs = CellError(theirs)
            elif isinstance(theirs, str):
                theirs = theirs[:MAX_TEXT] if theirs.strip() else None
            if theirs is None and own is not None:
                theirs = labels.get((row, col))
            found["cells"] += 1
            found["differences"] += _kind(own) is not _kind(theirs) or own != theirs
    return found


def _labels(sheet: Any) -> dict[tuple[int, int], object]:
    """Return the value of each cell in the first column of a merged area."""
    return {
        (row, area.min_col): sheet.cell(area.min_row, area.min_col).value
        for area in sheet.merged_cells.ranges
        for row in range(area.min_row, area.max_row + 1)
    }


def _kind(value: object) -> type:
    return int if type(value) is float else type(value)


def write_long(file: Path, rows: int) -> None:
    """Write a workbook with one long table of 20 columns, five of each type."""
    import xlsxwriter

    rng = random.Random(0)
    with xlsxwriter.Workbook(str(file), {"constant_memory": True}) as book:
        sheet, day = book.add_worksheet("Long"), book.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write_row(0, 0, [f"{kind} {n}" for n in range(5) for kind in _KINDS])
        for row in range(1, rows + 1):
            for n in range(5):
                sheet.write_string(row, 4 * n, f"Town {rng.randrange(500)}")
                sheet.write_number(row, 4 * n + 1, round(rng.random() * 1000, 2))
                moment = dt.datetime(2020, 1, 1) + dt.timedelta(days=rng.randrange(2000))
                sheet.write_datetime(row, 4 * n + 2, moment, day)
                sheet.write_boolean(row, 4 * n + 3, rng.random() < 0.5)


_KINDS = ("Town", "Amount", "Day", "Paid")


def speed(file: Path) -> dict[str, float | int]:
    """Return the seconds of loading a long table, and of pandas with both readers."""
    import pandas as pd

    record = read_workbook(file, contents="names", links=False, formulas=False).records[0]
    table = load_table(file, record)
    seconds = {
        "seconds": median_seconds(lambda: load_table(file, record), 3),
        "to_pandas_s": median_seconds(table.to_pandas, 3),
        "pandas_calamine_s": median_seconds(lambda: pd.read_excel(file, engine="calamine"), 3),
        "pandas_openpyxl_s": median_seconds(lambda: pd.read_excel(file, engine="openpyxl"), 1),
    }
    rounded = {name: round(each, 2) for name, each in seconds.items()}
    return {"rows": len(table), "columns": len(table.columns), **rounded}


@suite("table_data", "data", "work", rows=100_000)
def main(options: Options) -> Iterator[Result]:
    """Compare and time."""
    made = made_workbooks(90, HELD_OUT, options.work / "made", sheets=_MADE, questions=10)
    assert made.root is not None
    for name, folder in (("eps", options.data / "eps"), ("made_300", made.root)):
        files = sorted(folder.rglob("*.xls[xm]"))
        found = compared(track(files, name))
        metrics = {"files": len(files), "unreadable": 0, "other_place": 0, **found}
        yield Result("typed", name, metrics, data=[folder])
    long = options.work / f"long-{options.rows}.xlsx"
    if not long.exists():
        write_long(long, options.rows)
    yield Result("time", f"long_{options.rows}", speed(long))
