"""Parts of `run contents_cost` in processes of their own: building an index, asking it first.

    python -m benchmarks.speed.contents_part build INDEX LEVEL SHEETS TEXTS
    python -m benchmarks.speed.contents_part read INDEX LEVEL FOLDER
    python -m benchmarks.speed.contents_part ask INDEX QUESTIONS

Each prints its figures as JSON. QUESTIONS is a JSON file of questions.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.speed.contents_made import MadeSheets, TextTokens
from sat_retriever import SheetIndex, SheetRetriever
from sat_retriever.text.period.spans import UNDATED

_AT_ONCE = 1_024  # sheets added at a time, after which a stopped build goes on
Figures = dict[str, float]


def build(path: Path, level: str, made: MadeSheets) -> Figures:
    """Add made sheets to an index that keeps so much; one that was stopped goes on.

    The clock does not run while sheets are made.
    """
    notes = path.with_suffix(".building.json")
    if not (path.exists() and notes.exists()):
        for old in path.parent.glob(f"{path.name}*"):
            old.unlink()
        SheetIndex.create(path, TextTokens(), contents=level).close()
        notes.write_text(json.dumps({"build_s": 0.0, "build_cpu_s": 0.0, "build_peak_mib": 0.0}))
    figures: Figures = json.loads(notes.read_text())
    with SheetIndex.open(path, TextTokens()) as index:
        records = made.records(len(index))
        while part := list(itertools.islice(records, _AT_ONCE)):
            spent = _timed(lambda part=part: index.add_records(part))  # type: ignore[misc]
            for name, seconds in zip(("build_s", "build_cpu_s"), spent, strict=True):
                figures[name] += seconds
            figures["build_peak_mib"] = max(figures["build_peak_mib"], _peak_mib())
            notes.write_text(json.dumps(figures))
            if len(index) % (16 * _AT_ONCE) == 0:
                sys.stderr.write(f"{path.name}: {len(index):,} of {made.sheets:,} sheets\n")
    return figures


def read(path: Path, level: str, folder: Path) -> Figures:
    """Index a folder at a level, with one reading process."""
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    with SheetIndex.create(path, TextTokens(), contents=level) as index:
        wall, cpu = _timed(lambda: index.sync(folder, workers=1))
    return {"build_s": wall, "build_cpu_s": cpu, "build_peak_mib": _peak_mib()}


def ask(path: Path, questions: Sequence[str]) -> Figures:
    """Open an index, and time its first answer and the peak memory of all."""
    start = time.perf_counter()
    with SheetIndex.open(path, TextTokens()) as index:
        retriever = SheetRetriever(index)
        retriever.retrieve(questions[0], top_k=5, today=UNDATED)
        first = time.perf_counter() - start
        for question in questions[1:]:
            retriever.retrieve(question, top_k=5, today=UNDATED)
    return {"first_ms": first * 1000, "ask_peak_mib": _peak_mib()}


def _timed(call: Callable[[], object]) -> tuple[float, float]:
    """Return wall and processor seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def _peak_mib() -> float:
    # Not ru_maxrss, which begins with what the starting process used.
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def main(arguments: Sequence[str]) -> None:
    """Run one part and print its figures."""
    part, path, *rest = arguments
    if part == "build":
        found = build(Path(path), rest[0], MadeSheets(int(rest[1]), int(rest[2])))
    elif part == "read":
        found = read(Path(path), rest[0], Path(rest[1]))
    else:
        found = ask(Path(path), json.loads(Path(rest[0]).read_text(encoding="utf-8")))
    sys.stdout.write(json.dumps({name: round(value, 3) for name, value in found.items()}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
