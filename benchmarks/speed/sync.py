"""Time to find out that no workbook, or one, has changed.

    python -m benchmarks run sync [--workbooks 1000] [--work .cache/sync]

One thousand real .xlsx files are written and indexed once; then `sync` runs again on the
same folder: unchanged, with one workbook changed, and with every file hashed (`verify`).
Each is repeated and the median reported, as library call in a warm process and as a
whole `sat index` process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import xlsxwriter

from benchmarks.progress import track
from benchmarks.results import Result
from benchmarks.runner import Options, suite
from benchmarks.speed.turns import median_seconds
from sat_retriever import SheetIndex

REPEATS = 5


def write_workbook(path: Path, number: int, *, rows: int = 40) -> None:
    """Write a small workbook of two sheets with a title row, headers and a formula."""
    with xlsxwriter.Workbook(path) as book:
        for name in ("Sales", "Summary"):
            sheet = book.add_worksheet(name)
            sheet.write(0, 0, f"{name} {number}")
            sheet.write_row(2, 0, ("Date", "Region", "Product", "Quantity", "Amount"))
            for row in range(rows):
                sheet.write_row(3 + row, 0, (f"2024-01-{row % 28 + 1:02}", f"R{row % 5}",
                                             f"P{number}", row, row * 1.5))  # fmt: skip
            sheet.write_formula(3 + rows, 4, f"=SUM(E4:E{3 + rows})", value=0)


def make_corpus(folder: Path, count: int) -> None:
    """Write workbooks in folders of fifty, old enough for their times to be trusted."""
    shutil.rmtree(folder, ignore_errors=True)
    past = time.time() - 3600
    for number in track(range(count), "writing workbooks"):
        path = folder / f"team{number // 50:03}" / f"report_{number:04}.xlsx"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_workbook(path, number)
        os.utime(path, (past, past))


@suite("sync", "work", workbooks=1000)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    folder, file = options.work / "corpus", options.work / "sync.sat"
    make_corpus(folder, options.workbooks)
    file.unlink(missing_ok=True)
    index = SheetIndex.create(file)
    first = index.sync(folder)
    versions = iter(range(10_000, 20_000))

    def change_one() -> None:
        write_workbook(folder / "team000" / "report_0007.xlsx", next(versions))

    def in_process(*extra: str) -> None:
        command = [sys.executable, "-m", "sat_retriever", "index", str(folder), "--index"]
        subprocess.run([*command, str(file), *extra], check=True, capture_output=True)

    def unchanged() -> None:
        report = index.sync(folder)
        if report.unchanged != options.workbooks:
            raise SystemExit(f"expected {options.workbooks} unchanged workbooks, got {report}")

    def one_changed() -> None:
        report = index.sync(folder)
        if report.changed != 1 or report.sheets != 2:
            raise SystemExit(f"expected one changed workbook, got {report}")

    metrics = {
        "workbooks": options.workbooks,
        "sheets": first.sheets,
        "first_index_s": round(first.seconds, 2),
        "unchanged_s": round(median_seconds(unchanged, REPEATS), 3),
        "one_changed_s": round(median_seconds(one_changed, REPEATS, change_one), 3),
        "verify_s": round(median_seconds(lambda: index.sync(folder, verify=True), REPEATS), 3),
        "process_unchanged_s": round(median_seconds(in_process, REPEATS), 3),
        "process_one_changed_s": round(median_seconds(in_process, REPEATS, change_one), 3),
        "repeats": REPEATS,
    }
    yield Result("sat-retriever", f"generated_{options.workbooks}", metrics)
