"""Kill an indexing run at random moments: is the index still whole?

    python -m benchmarks run crash [--kills 100] [--workbooks 60] [--work .cache/crash]

Every tenth round begins without an index, so that its creation is killed too; the side
files of the deleted one stay where they are. Every round rewrites about half of the
workbooks (each in a new version that all its sheets name), starts `sat index` as a
process and sends SIGKILL after a random time. Then the index must open, SQLite's own
check must pass, and every workbook must be wholly in one version it had: the one of the
last finished state, or the new one. After the last round one run is let through and
must give exactly the newest versions.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import xlsxwriter
from rich.console import Console
from rich.progress import track

from benchmarks.results import Result, write_result
from sat_retriever import SheetIndex

SHEETS = 4


def write_version(path: Path, version: int) -> None:
    """A workbook whose every sheet names its version in its headers."""
    partial = path.with_suffix(".partial")
    with xlsxwriter.Workbook(partial) as book:
        for number in range(SHEETS):
            sheet = book.add_worksheet(f"S{number}")
            sheet.write_row(0, 0, ("Key", f"version{version}", "Amount"))
            for row in range(1, 20):
                sheet.write_row(row, 0, (row, "x", row * 2))
    partial.replace(path)


def versions_in(index: SheetIndex) -> dict[str, set[str]]:
    """For each workbook path, the versions its sheets name; checks the number of sheets."""
    found: dict[str, set[str]] = {}
    counts: Counter[str] = Counter()
    for record in index.records(index.sheet_ids()).values():
        found.setdefault(record.path, set()).add(record.columns[1].name)
        counts[record.path] += 1
    broken = [path for path, count in counts.items() if count != SHEETS]
    if broken:
        raise SystemExit(f"workbooks with missing sheets: {broken}")
    return found


def check_parts(path: Path) -> None:
    """Every part of the file holds the same sheets, and SQLite finds nothing wrong."""
    connection = sqlite3.connect(path)
    if connection.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
        raise SystemExit("SQLite's integrity check fails")
    connection.execute("INSERT INTO lexical (lexical) VALUES ('integrity-check')")
    ids = [
        {row[0] for row in connection.execute(f"SELECT {column} FROM {table}")}
        for table, column in (("sheets", "id"), ("tokens", "id"), ("lexical", "rowid"))
    ]
    connection.close()
    if not ids[0] == ids[1] == ids[2]:
        raise SystemExit("records, tokens and words are not of the same sheets")


def main(arguments: Sequence[str] | None = None) -> None:
    """Kill, check, write `results/crash/`."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--workbooks", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=Path(".cache/crash"))
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)
    shutil.rmtree(options.work, ignore_errors=True)
    folder, file = options.work / "corpus", options.work / "crash.sat"
    folder.mkdir(parents=True)
    paths = [folder / f"book{number:03}.xlsx" for number in range(options.workbooks)]
    newest = dict.fromkeys(paths, 0)
    for path in paths:
        write_version(path, 0)
    command = [sys.executable, "-m", "sat_retriever", "index", str(folder), "--index", str(file)]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    whole = time.perf_counter() - start
    old: dict[str, set[str] | None] = {path.name: {"version0"} for path in paths}
    killed = advanced = absent = 0
    for round_ in track(range(1, options.kills + 1), "killing"):
        for path in rng.sample(paths, len(paths) // 2):
            newest[path] = round_
            write_version(path, round_)
        if round_ % 10 == 0:
            file.unlink()
            old = {path.name: None for path in paths}
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=rng.uniform(0.2, whole))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait()
        now: dict[str, set[str] | None] = {path.name: None for path in paths}
        if file.exists():
            check_parts(file)
            with SheetIndex.open(file) as index:
                now.update(versions_in(index))
        elif round_ % 10:
            raise SystemExit("the index is gone")
        else:
            absent += 1
        for path in paths:
            if now[path.name] not in (old[path.name], {f"version{newest[path]}"}):
                raise SystemExit(f"{path.name} is in no whole state: {now[path.name]}")
            advanced += now[path.name] != old[path.name]
        old = now
    subprocess.run(command, check=True, capture_output=True)
    with SheetIndex.open(file) as index:
        final = versions_in(index)
        found = index.candidates(f"version{options.kills}", 1, dense_weight=0.0)
    if final != {path.name: {f"version{version}"} for path, version in newest.items()}:
        raise SystemExit("the last run did not bring every workbook up to date")
    if not found:
        raise SystemExit("the last run left nothing to find")
    metrics = {
        "runs": options.kills,
        "killed": killed,
        "opened": options.kills - absent,
        "killed_before_a_first_index": absent,
        "workbooks": options.workbooks,
        "workbook_states_checked": options.kills * options.workbooks,
        "torn_workbooks": 0,
        "workbooks_advanced_by_killed_runs": advanced,
        "whole_run_s": round(whole, 2),
    }
    path = write_result("crash", Result("kill-9", "generated", metrics, seed=options.seed))
    Console().print(metrics)
    Console().print(f"written to {path}")
