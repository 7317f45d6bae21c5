"""Processor time of reading every workbook of EPS, beside an earlier version of the code.

    python -m benchmarks run read_cost [--before e1e82f9e] [--rounds 5]

Both versions run in turn in this one call, each time in a process of its own that does the work of
a reading process: tables, records, texts, links and formulas. Figures are medians of the rounds;
the ratio is that of each round. Other work on the machine makes both slower.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.progress import track
from benchmarks.results import ROOT, Result
from benchmarks.runner import Options, option, suite
from benchmarks.speed.cell_search import checkout

BEFORE = "e1e82f9e"
_WORK = """
import gc, pathlib, sys, time
from sat_retriever.workbook.formats.load import load
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.messages import Request
import python_calamine
gc.disable()  # as the reading process does
gc.freeze()
start = time.process_time()
for file in sorted(pathlib.Path(sys.argv[1]).rglob("*.xlsx")):
    for message in load(Request(str(file), file.name, limits=Limits(seconds=1e4))):
        pass
    gc.collect()
print(time.process_time() - start)
"""


def seconds(code: Path, data: Path) -> float:
    """Return the processor seconds of one reading by the code in a folder."""
    run = subprocess.run(
        [sys.executable, "-P", "-c", _WORK, str(data)],
        env={**os.environ, "PYTHONPATH": str(code)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return float(run.stdout)


@suite("read_cost", "data", before=option(BEFORE, "an earlier commit"), rounds=5)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    data = (options.data / "eps").resolve()
    times: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        earlier = checkout(options.before, Path(folder) / "earlier")
        for _ in track(range(options.rounds), "rounds"):
            times.append((seconds(earlier, data), seconds(ROOT, data)))
    ratios = [now / before for before, now in times]
    metrics = {
        "rounds": options.rounds,
        "before_s": round(statistics.median(before for before, _ in times), 2),
        "now_s": round(statistics.median(now for _, now in times), 2),
        "ratio": round(statistics.median(ratios), 3),
        "least_ratio": round(min(ratios), 3),
        "largest_ratio": round(max(ratios), 3),
    }
    yield Result(f"before_{options.before}", "eps", metrics, data=[data])
