"""Run two writers and eight readers of one index, and check for inconsistent states.

    python -m benchmarks run contention [--seconds 60] [--work .cache/contention]

Each writer is a process that rewrites and removes workbooks (every sheet names its version) and
syncs the whole folder. Each reader is a process that opens the index, searches, shows workbooks and
asks for the status. In one answer all sheets of a workbook must be of one version, a workbook has
all of its sheets or none, and no reader gets an older version than before. The only allowed error
is that the index is busy. At the end SQLite's own check must pass, and the index must equal a fresh
one of the folder.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from benchmarks.results import Result
from benchmarks.runner import Options, suite
from benchmarks.safety.contention_part import Ground, Report, read, start_together, write
from benchmarks.safety.stored import differing_files
from benchmarks.safety.versions import check_file, versions_of, write_version
from benchmarks.speed.turns import percentiles
from sat_retriever import SheetEncoder, SheetIndex

_COUNTS = (
    "syncs", "workbooks_written", "searches", "shows", "statuses", "openings", "syncs_busy",
    "searches_busy", "shows_busy", "statuses_busy", "openings_busy", "findings",
)  # fmt: skip


def contend(ground: Ground, writers: int, readers: int) -> list[Report]:
    """Run all parts and return their reports."""
    context, many = get_context("spawn"), writers + readers
    gate = (context.Barrier(many),)
    with ProcessPoolExecutor(many, context, start_together, gate) as pool:
        parts = [pool.submit(write, ground, number, writers) for number in range(writers)]
        parts += [pool.submit(read, ground, number) for number in range(readers)]
        return [part.result() for part in parts]


def check_end(ground: Ground, encoder: SheetEncoder) -> list[str]:
    """Return findings about the index at the end, compared with a fresh one of the folder."""
    fresh = ground.file.with_name("fresh.sat")
    with (
        SheetIndex.open(ground.file, encoder) as index,
        SheetIndex.create(fresh, encoder) as made,
    ):
        index.sync(ground.folder)
        versions_of(index)
        made.sync(ground.folder)
    check_file(ground.file)
    return [f"other {part}" for part in differing_files(ground.file, fresh)]


def metrics_of(reports: Sequence[Report]) -> dict[str, float]:
    """Return counts over all parts, and times of searches."""
    counts = sum((report.counts for report in reports), Counter())
    took = [each for report in reports for each in report.search_ms]
    return {**{name: counts[name] for name in _COUNTS}, **percentiles("search", took)}


@suite("contention", "work", seconds=60.0, writers=2, readers=8, workbooks=40, seed=0)
def main(options: Options) -> Iterator[Result]:
    """Write and read at the same time, and check.

    Raises:
        SystemExit: If a forbidden state was seen; the result has the number.
    """
    ground, encoder = _ground(options), SheetEncoder.load()
    with SheetIndex.create(ground.file, encoder) as index:
        index.sync(ground.folder)
    reports = contend(ground, options.writers, options.readers)
    findings = [*(each for report in reports for each in report.findings)]
    wrong = check_end(ground, encoder)
    metrics = {
        "seconds": options.seconds,
        "writers": options.writers,
        "readers": options.readers,
        "workbooks": options.workbooks,
        **metrics_of(reports),
        "same_as_a_fresh_index": not wrong,
    }
    yield Result("sat-retriever", "generated", metrics, seed=options.seed)
    if findings or wrong:
        sys.exit("\n".join([*findings, *wrong]))


def _ground(options: Options) -> Ground:
    """Make a new folder of workbooks, all of version 0, and name the file of their index."""
    work = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    folder = work / "corpus"
    folder.mkdir(parents=True)
    names = tuple(f"book{number:03}.xlsx" for number in range(options.workbooks))
    for place, name in enumerate(names):
        write_version(folder / name, f"w{place % options.writers}n0")
    return Ground(folder, work / "contention.sat", names, options.seconds, options.seed)
