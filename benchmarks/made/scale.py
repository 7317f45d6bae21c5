"""Measure time and memory to make and index a corpus of templates.

    python -m benchmarks run synth_scale [--sheets 1000 10000] [--work .cache/synth_scale]
    python -m benchmarks run synth_scale --sheets 100000 --no-index

Each size is made and then indexed with the default encoder, both in their own processes. Memory is
sampled from outside, ten times a second: of the process itself, and of all its workers together
(resident sizes; memory that processes share is counted for each).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from benchmarks.results import ROOT, Result
from benchmarks.runner import Options, hidden, option, suite
from sat_retriever import SheetIndex
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions

SIZES = (1_000, 10_000)
SEED = 0
_PAUSE = 0.1  # seconds between two samples of the memory
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Peak:
    """The peak memory, in MiB.

    Attributes:
        main: Peak of the process itself.
        workers: Peak of the processes that it started, together.
        both: Peak of all at one moment.
    """

    main: float = 0.0
    workers: float = 0.0
    both: float = 0.0

    def higher(self, main: int, workers: int) -> Peak:
        """Return the peak after one more sample, in bytes."""
        now = (main / _MIB, workers / _MIB, (main + workers) / _MIB)
        seen = zip((self.main, self.workers, self.both), now, strict=True)
        return Peak(*(round(max(pair), 1) for pair in seen))


def make(folder: Path, sheets: int) -> dict[str, Any]:
    """Make a corpus; measure seconds for the workbooks, and for everything else."""
    start = time.perf_counter()
    last = start

    def told(what: str, _done: int, _total: int) -> None:
        nonlocal last
        if what == "sheets":
            last = time.perf_counter()

    report = synthesize(folder, SynthOptions(str(sheets), SEED), force=True, progress=told)
    whole = time.perf_counter() - start
    return {
        "sheets": report.sheets,
        "workbooks": report.workbooks,
        "queries": sum(report.queries.values()),
        "true_links": sum(report.links.values()),
        "make_s": round(whole, 2),
        "make_workbooks_s": round(last - start, 2),
        "make_labels_s": round(start + whole - last, 2),
        "workbooks_mib": _size(folder / WORKBOOKS),
        "json_mib": round(sum(file.stat().st_size for file in folder.glob("*.json")) / _MIB, 1),
    }


def index(folder: Path) -> dict[str, Any]:
    """Index a corpus as `sat index` does."""
    file = folder / "sheets.sat"
    for old in folder.glob("sheets.sat*"):
        old.unlink()
    start = time.perf_counter()
    with SheetIndex.create(file) as made:
        loaded = time.perf_counter() - start
        report = made.sync(folder / WORKBOOKS)
        links = sum(1 for _ in made.all_links())
        indexed = len(made)
    return {
        "index_load_s": round(loaded, 2),
        "index_s": round(report.seconds, 2),
        "indexed_sheets": indexed,
        "indexed_links": links,
        "skipped": len(report.skipped),
        "index_mib": round(file.stat().st_size / _MIB, 1),
    }


def _size(folder: Path) -> float:
    return round(sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / _MIB, 1)


def apart(step: str, folder: Path, sheets: int) -> dict[str, Any]:
    """Run a step in a new process, and add the peak memory of it and its workers.

    Raises:
        SystemExit: If it fails.
    """
    command = [sys.executable, "-m", "benchmarks", "run", "synth_scale", "--step", step]
    command += ["--work", str(folder), "--sheets", str(sheets)]
    peak = Peak()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        seen = psutil.Process(process.pid)
        while process.poll() is None:
            peak = peak.higher(*_resident(seen))
            time.sleep(_PAUSE)
        out = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise SystemExit(f"{step} of {sheets:,} sheets failed")
    found: dict[str, Any] = json.loads(out)
    sizes = {"main": peak.main, "workers": peak.workers, "both": peak.both}
    return found | {f"{step}_{name}_mib": size for name, size in sizes.items()}


def _resident(process: psutil.Process) -> tuple[int, int]:
    """Return bytes in memory of a process, and of all below it; 0 for ended ones."""
    try:
        main = int(process.memory_info().rss)
        below = process.children(recursive=True)
    except psutil.NoSuchProcess:
        return 0, 0
    workers = 0
    for child in below:
        try:
            workers += int(child.memory_info().rss)
        except psutil.NoSuchProcess:
            continue
    return main, workers


def measure(sheets: int, folder: Path, *, indexing: bool) -> Result:
    """Make and index a corpus with `sheets` sheets."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    found = apart("make", folder, sheets)
    if indexing:
        found |= apart("index", folder, sheets)
        if found["indexed_sheets"] != found["sheets"]:
            raise SystemExit(f"{found['sheets']} sheets made, {found['indexed_sheets']} indexed")
    shutil.rmtree(folder)
    return Result("made", f"sheets_{sheets}", found, seed=SEED)


@suite(
    "synth_scale",
    "work",
    sheets=SIZES,
    no_index=option(False, "make the workbooks only"),
    step=hidden(choices=("make", "index")),
)
def main(options: Options) -> Iterator[Result]:
    """Measure every size, or take one step of it in this process."""
    work = options.work.resolve()
    if options.step:
        found = make(work, options.sheets[0]) if options.step == "make" else index(work)
        print(json.dumps(found))
        return
    for sheets in sorted(options.sheets):
        yield measure(sheets, work / str(sheets), indexing=not options.no_index)
