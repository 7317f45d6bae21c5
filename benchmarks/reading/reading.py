"""Measure reading speed and peak memory, beside the usual ways to read a workbook.

    python -m benchmarks run reading --data ../shared/data
    python -m benchmarks run reading --rows 5000 --only generated --dry

Every measurement is a fresh process that starts its clock before it imports the reader, so imports
and the start of reading processes count. Systems take turns within a round. Peak memory comes from
a separate round, since sampling slows the timed work. It is the resident memory of the process and
all its children together, sampled every 5 ms; pages that they share count for each.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from benchmarks.results import Result
from benchmarks.runner import Options, console, hidden, option, suite

_SAMPLE_SECONDS = 0.005
_MIB = 1 << 20


def read_ours(paths: list[str]) -> dict[str, int]:
    """Read records and formulas by this package, with a reading process per core."""
    return _ours(paths, None)


def read_ours_one_worker(paths: list[str]) -> dict[str, int]:
    """Read records and formulas by this package, with one reading process."""
    return _ours(paths, 1)


def _ours(paths: list[str], workers: int | None) -> dict[str, int]:
    from sat_retriever.workbook.read import LocalFile, read_files

    sheets = formulas = 0
    for _, book in read_files((LocalFile(Path(path)) for path in paths), workers=workers):
        sheets += len(book.records)
        formulas += len(book.formulas)
    return {"sheets": sheets, "formulas": formulas}


def read_openpyxl(paths: list[str]) -> dict[str, int]:
    """Read whole workbooks by openpyxl, formulas as cell values."""
    import openpyxl

    sheets = 0
    for path in paths:
        sheets += len(openpyxl.load_workbook(path).sheetnames)
    return {"sheets": sheets}


def read_openpyxl_read_only(paths: list[str]) -> dict[str, int]:
    """Read all rows of all worksheets by openpyxl's streaming reader, values only."""
    import openpyxl

    sheets = cells = 0
    for path in paths:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        for sheet in book.worksheets:
            sheets += 1
            for row in sheet.iter_rows(values_only=True):
                cells += len(row)
        book.close()
    return {"sheets": sheets, "cells": cells}


def read_pandas(paths: list[str]) -> dict[str, int]:
    """Make texts of all sheets as LlamaIndex's PandasExcelReader does: every row joined."""
    import pandas as pd

    sheets = characters = 0
    for path in paths:
        frames = pd.read_excel(path, sheet_name=None, engine="openpyxl")
        for frame in frames.values():
            sheets += 1
            lines = frame.fillna("").astype(str).apply(lambda row: " ".join(row.tolist()), axis=1)
            characters += len("\n".join(lines.tolist()))
    return {"sheets": sheets, "characters": characters}


SYSTEMS: dict[str, Callable[[list[str]], dict[str, int]]] = {
    "ours": read_ours,
    "ours_one_worker": read_ours_one_worker,
    "openpyxl": read_openpyxl,
    "openpyxl_read_only": read_openpyxl_read_only,
    "pandas_openpyxl": read_pandas,
}


def generate(path: Path, rows: int, cols: int = 20) -> None:
    """Write a fixed workbook of text, numbers, dates and two formula columns."""
    import xlsxwriter

    rng = random.Random(0)
    with xlsxwriter.Workbook(path) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet = book.add_worksheet("Data")
        sheet.write_row(0, 0, [f"Column {col + 1}" for col in range(cols)])
        first = dt.datetime(2020, 1, 1)
        for row in range(1, rows):
            for col in range(cols):
                kind = col % 10
                if kind < 3:
                    sheet.write_string(row, col, f"item {rng.randrange(5000)}")
                elif kind < 6:
                    sheet.write_number(row, col, round(rng.random() * 1e4, 3))
                elif kind < 8:
                    sheet.write_number(row, col, rng.randrange(1000))
                elif kind < 9:
                    later = dt.timedelta(days=rng.randrange(2000))
                    sheet.write_datetime(row, col, first + later, day)
                else:
                    sheet.write_formula(row, col, f"=D{row + 1}*G{row + 1}", None, 1.5)


def measure(system: str, listing: Path, *, watch: bool) -> dict[str, Any]:
    """Return seconds and counts of one system on the listed files, in a new process.

    With `watch` also its peak memory in MiB; this makes the seconds longer.
    """
    command = [sys.executable, "-m", "benchmarks", "run", "reading", "--run", system, str(listing)]
    process = psutil.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    peak = 0
    while watch and process.poll() is None:
        peak = max(peak, _resident(process))
        time.sleep(_SAMPLE_SECONDS)
    output, _ = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"{system} ended with code {process.returncode}")
    return {**json.loads(output), "peak_mb": round(peak / _MIB, 1)}


def _resident(process: psutil.Popen) -> int:
    total = 0
    try:
        for each in [process, *process.children(recursive=True)]:
            try:
                total += each.memory_info().rss
            except psutil.NoSuchProcess:
                continue
    except psutil.NoSuchProcess:
        return total
    return total


def _run(system: str, listing: str) -> None:
    paths = json.loads(Path(listing).read_text())
    start = time.perf_counter()
    counts = SYSTEMS[system](paths)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "counts": counts}))


def compare(dataset: str, files: list[Path], rounds: int) -> dict[str, Any]:
    """Return metrics by system, over rounds in which every system reads all files once."""
    runs: dict[str, list[dict[str, Any]]] = {system: [] for system in SYSTEMS}
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder, "files.json")
        listing.write_text(json.dumps([str(file) for file in files]))
        for number in range(rounds):
            for system, done in runs.items():
                done.append(measure(system, listing, watch=False))
                seconds = done[-1]["seconds"]
                console.print(f"{dataset} round {number + 1} {system}: {seconds:.2f} s")
        peaks = {system: measure(system, listing, watch=True)["peak_mb"] for system in SYSTEMS}
    metrics = {}
    for system, done in runs.items():
        seconds = [run["seconds"] for run in done]
        metrics[system] = {
            "seconds_median": round(statistics.median(seconds), 3),
            "seconds_all": [round(each, 3) for each in seconds],
            "peak_mb_max": peaks[system],
            "files": len(files),
            **done[0]["counts"],
        }
    slow = metrics["openpyxl"]["seconds_median"]
    for each in metrics.values():
        each["times_faster_than_openpyxl"] = round(slow / each["seconds_median"], 2)
    return metrics


@suite(
    "reading",
    "data",
    only=option(None, choices=["eps", "generated"]),
    rows=100_000,
    rounds=3,
    run=hidden(nargs=2),
)
def main(options: Options) -> Iterator[Result]:
    """Measure on the energy model's workbooks and on one generated workbook."""
    if options.run:
        _run(*options.run)
        return
    eps = options.data / "eps"
    with tempfile.TemporaryDirectory() as folder:
        sets: dict[str, tuple[list[Path], list[Path]]] = {}
        if options.only != "generated" and eps.is_dir():
            sets["eps"] = (sorted(eps.rglob("*.xlsx")), [eps])
        elif options.only != "generated":
            console.print(f"eps: not run, there is no folder {eps}")
        if options.only != "eps":
            made = Path(folder, "generated.xlsx")
            generate(made, options.rows)
            sets[f"generated_{options.rows}x20"] = ([made], [])
        for dataset, (files, data) in sets.items():
            for system, each in compare(dataset, files, options.rounds).items():
                yield Result(system, dataset, each, data=data)
