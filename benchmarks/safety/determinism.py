"""Index the same folder on a busy machine, with any number of processes, and compare.

    python -m benchmarks run determinism --data ../shared/data [--times 5] [--busy 6]

Each corpus is indexed once on the idle machine, then five times beside processes that keep every
core busy, with 1, 2 and 6 reading processes in turn. Everything stored must be equal: records,
tokens to the last bit, words, links with their evidence, skipped parts.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.results import Result
from benchmarks.runner import Options, console, option, suite
from benchmarks.safety.busy import busy
from benchmarks.safety.indexing import Indexing, run_index
from benchmarks.safety.stored import differing, stored_hashes
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions

WORKERS = (1, 2, 6)
CORPORA = ("eps", "odd_files", "made")
_SHEETS, _SEED = 500, 42


def corpus(name: str, data: Path, work: Path) -> Path:
    """Return the folder of a corpus; the made one is written first."""
    if name != "made":
        return data / name
    synthesize(work / name, SynthOptions(str(_SHEETS), _SEED), force=True)
    return work / name / WORKBOOKS


def index_anew(folder: Path, work: Path, workers: int) -> tuple[dict[str, str], Indexing]:
    """Return hashes of a fresh index of a folder, and the run that made it."""
    for old in work.glob("again.sat*"):
        old.unlink()
    file = work / "again.sat"
    run = run_index(folder, file, ["--workers", str(workers)])
    return stored_hashes(file), run


def measure(name: str, folder: Path, options: Options) -> Result:
    """Measure all runs over one corpus."""
    expected, calm = index_anew(folder, options.work, 2)
    rows = [_row(0, 2, 0, expected, expected, calm)]
    with busy(options.busy):
        for number in range(1, options.times + 1):
            workers = WORKERS[number % len(WORKERS) - 1]
            found, run = index_anew(folder, options.work, workers)
            rows.append(_row(number, workers, options.busy, found, expected, run))
            console.print(f"{name}: {rows[-1]}")
    reasons = Counter(skip["reason"] for skip in calm.report["skipped"])
    slow = [row["seconds"] for row in rows[1:]]
    metrics = {
        "workbooks": calm.report["added"],
        "sheets": calm.report["sheets_in_index"],
        "skipped": sum(reasons.values()),
        "timeouts": reasons["timeout"],
        "indexings": len(rows),
        "busy_processes": options.busy,
        "different": sum(bool(row["different"]) for row in rows),
        "calm_s": rows[0]["seconds"],
        "busy_median_s": median(slow),
        "busy_slowest_s": max(slow),
    }
    return Result("sat index", name, metrics, per_query=rows, data=[folder])


def _row(
    time: int,
    workers: int,
    beside: int,
    found: dict[str, str],
    expected: dict[str, str],
    run: Indexing,
) -> dict[str, Any]:
    return {
        "time": time,
        "workers": workers,
        "busy": beside,
        "different": differing(found, expected),
        "seconds": run.seconds,
        "cpu_seconds": run.cpu_seconds,
    }


@suite("determinism", "data", "work", corpora=option(CORPORA, choices=CORPORA), times=5, busy=6)
def main(options: Options) -> Iterator[Result]:
    """Index, compare; exit code 1 if anything differs."""
    differ = 0
    for name in options.corpora:
        result = measure(name, corpus(name, options.data, options.work), options)
        yield result
        differ += result.metrics["different"]
    shutil.rmtree(options.work)
    if differ:
        raise SystemExit(f"{differ} of the indexings gave another index")
