"""Time and memory of `sat adapt` for made corpora of many sheets.

    python -m benchmarks run adapt_scale [--sheets 1000 10000] [--work .cache/adapt_scale]

Each corpus is made and indexed once, as `synth_scale` does it; then `sat adapt` runs on the index
in a process of its own, with its default settings. Corpora and adaptations are kept below
`--work`: one that was stopped goes on, and its result says that its time is not the whole.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from argparse import REMAINDER
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.made.scale import SEED, SIZES, apart
from benchmarks.results import ROOT, Result
from benchmarks.runner import Options, option, suite


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


@suite(
    "adapt_scale",
    "work",
    sheets=SIZES,
    options=option((), "options of `sat adapt`, for trials: writes nothing", nargs=REMAINDER),
)
def main(options: Options) -> Iterator[Result]:
    """Measure every size."""
    options.dry = options.dry or bool(options.options)
    for sheets in sorted(options.sheets):
        index = prepared(options.work.resolve() / str(sheets), sheets)
        found = adapt(index, options.options)
        yield Result("sat_adapt", f"sheets_{sheets}", found, seed=SEED)
