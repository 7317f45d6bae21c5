"""Time and memory of `sat adapt` for made corpora of many sheets.

    python -m benchmarks run adapt_scale [--sheets 1000 10000] [--work .cache/adapt_scale]

Each corpus is made and indexed once, as `synth_scale` does it; then `sat adapt` runs on the index
in a process of its own, with its default settings. Corpora and adaptations are kept below
`--work`: one that was stopped goes on, and its result says that its time is not the whole.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.made.scale import SEED, SIZES, apart
from benchmarks.results import ROOT, Result, write_result
from benchmarks.tables.markdown import number

BENCHMARK = "adapt_scale"


def prepared(folder: Path, sheets: int) -> Path:
    """Return the index of a made corpus of a size; make it if it does not exist."""
    done = folder / "prepared"
    if not done.is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        apart("make", folder, sheets)
        apart("index", folder, sheets)
        done.touch()
    return folder / "sheets.sat"


def adapt(index: Path, options: Sequence[str]) -> dict[str, Any]:
    """Return the report of `sat adapt` and the wall time of its process.

    Raises:
        SystemExit: If it fails.
    """
    run = index.with_name(f"{index.name}.adapt")
    whole = not run.exists()
    command = [sys.executable, "-m", "sat_retriever", "adapt", "--index", str(index), "--json"]
    begun = time.perf_counter()
    done = subprocess.run([*command, *options], stdout=subprocess.PIPE, cwd=ROOT, check=False)
    process_s = time.perf_counter() - begun
    if done.returncode:
        sys.exit(f"sat adapt failed for {index} (exit status {done.returncode})")
    told = json.loads(done.stdout)
    return {
        "in_one_go": whole,
        "adapt_s": round(told["seconds"], 1),
        "process_s": round(process_s, 1),
        "memory_mib": round(told["memory_mib"], 1),
        "encoder_kept": told["encoder"] is not None,
        "reranker_kept": told["stage_2_kept"],
        **told["counts"],
    }


def show(results: Sequence[Result]) -> Table:
    """Return the results as a table, a size a column."""
    table = Table("", *(each.dataset for each in results), title="sat adapt at scale")
    for key in results[0].metrics:
        table.add_row(key, *(number(each.metrics[key]) for each in results))
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every size, write a result file as soon as one is done, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sheets", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--work", type=Path, default=Path(".cache/adapt_scale"))
    parser.add_argument("--dry", action="store_true", help="write no result file")
    parser.add_argument("options", nargs="*", help="of `sat adapt`, after --, for trials: dry")
    options = parser.parse_args(arguments)
    results = []
    for sheets in sorted(options.sheets):
        index = prepared(options.work.resolve() / str(sheets), sheets)
        found = adapt(index, options.options)
        results.append(Result("sat_adapt", f"sheets_{sheets}", found, seed=SEED))
        if not options.dry and not options.options:
            write_result(BENCHMARK, results[-1])
    Console(width=None if sys.stdout.isatty() else 120).print(show(results))
