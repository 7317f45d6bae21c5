"""Index very long, wide and many-sheeted files on an idle and a busy machine.

    python -m benchmarks run large [--busy 6] [--work .cache/large]

Three files are generated: a csv of 211 MB, a workbook of 4,500 sheets of three rows, and a sheet of
600 rows and 16,384 columns. Each is indexed by `sat index` in its own process, once on the idle
machine and once beside processes that keep every core busy. The index must be equal both times;
files may be kept in part.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import xlsxwriter

from benchmarks.results import Result
from benchmarks.runner import Options, suite
from benchmarks.safety.busy import busy
from benchmarks.safety.indexing import run_index
from benchmarks.safety.stored import stored_hashes
from sat_retriever import SheetIndex

CSV_BYTES, SHEETS, ROWS, COLUMNS = 211_000_000, 4_500, 600, 16_384


def long_csv(path: Path) -> None:
    """Write a list of sales."""
    rng = random.Random(0)
    with path.open("w", encoding="utf-8") as out:
        out.write("id,date,customer,product,quantity,unit price,revenue,note\n")
        number = 0
        while out.tell() < CSV_BYTES:
            day = f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
            who = f"Customer {rng.randint(1, 9_999)},Product {rng.randint(1, 500)}"
            sums = f"{rng.randint(1, 99)},{rng.random() * 100:.2f},{rng.random() * 10_000:.2f}"
            out.write(f"{number},{day},{who},{sums},some note {number % 977}\n")
            number += 1


def many_sheets(path: Path) -> None:
    """Write a workbook with a sheet for each of many stores."""
    with xlsxwriter.Workbook(path) as book:
        for number in range(1, SHEETS + 1):
            sheet = book.add_worksheet(f"Store {number:04}")
            sheet.write_row(0, 0, ("Product", "Quantity", "Price"))
            sheet.write_row(1, 0, (f"P{number}", number, 1.5))
            sheet.write_row(2, 0, (f"Q{number}", number + 1, 2.5))


def wide_sheet(path: Path) -> None:
    """Write a sheet of the largest possible width."""
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = book.add_worksheet("Wide")
        sheet.write_row(0, 0, [f"c{col}" for col in range(COLUMNS)])
        for row in range(1, ROWS):
            sheet.write_row(row, 0, [row * col for col in range(COLUMNS)])


FILES: dict[str, Callable[[Path], None]] = {
    "long.csv": long_csv,
    "many_sheets.xlsx": many_sheets,
    "wide_sheet.xlsx": wide_sheet,
}


def measure(name: str, folder: Path, work: Path, processes: int) -> dict[str, Any]:
    """Index one file on the idle and on the busy machine."""
    metrics: dict[str, Any] = {"file_mb": round((folder / name).stat().st_size / 1e6, 1)}
    hashes = []
    for load, beside in (("calm", 0), ("busy", processes)):
        for old in work.glob("large.sat*"):
            old.unlink()
        with busy(beside) if beside else nullcontext():
            run = run_index(folder, work / "large.sat")
        metrics[f"{load}_s"] = run.seconds
        metrics[f"{load}_cpu_s"] = run.cpu_seconds
        metrics[f"{load}_peak_mib"] = run.peak_mib
        hashes.append(stored_hashes(work / "large.sat"))
        with SheetIndex.open(work / "large.sat") as index:
            records = index.records(index.sheet_ids()).values()
            metrics["sheets"] = len(records)
            metrics["partial"] = sum(record.partial for record in records)
            metrics["rows"] = sum(record.num_rows or 0 for record in records)
        metrics["skipped"] = len(run.report["skipped"])
    metrics["equal"] = hashes[0] == hashes[1]
    return metrics


@suite("large", "work", busy=6)
def main(options: Options) -> Iterator[Result]:
    """Generate, index; exit code 1 if calm and busy differ."""
    equal = True
    for name, write in FILES.items():
        shutil.rmtree(options.work, ignore_errors=True)
        folder = options.work / "files"
        folder.mkdir(parents=True)
        write(folder / name)
        metrics = measure(name, folder, options.work, options.busy)
        yield Result("sat index", name.partition(".")[0], metrics)
        equal = equal and metrics["equal"]
    shutil.rmtree(options.work)
    if not equal:
        raise SystemExit("an index made on the busy machine differs from the calm one")
