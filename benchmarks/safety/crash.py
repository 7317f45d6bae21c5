"""Kill an indexing run at random moments, and check that the index stays intact.

    python -m benchmarks run crash [--kills 1000] [--lanes 2] [--work .cache/crash]

Every round rewrites half of the workbooks (each in a new version that all its sheets name), starts
`sat index` as a process and sends SIGKILL after a random time. Every fifth round begins without an
index, so that its creation is killed too, and the side files of the deleted one stay. Afterwards
the index must open, SQLite's own check must pass, and every workbook must have exactly one of its
versions (that of the last finished state, or the new one). Another run over a copy of the killed
one's files must finish the work, and no reading process may be left. The next round kills a run
over the same files. Lanes are separate indexes, killed in parallel. The benchmark ends after
`--kills` killed runs; a stopped command goes on where it was.
"""

from __future__ import annotations

import shutil
import statistics
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmarks.progress import Told, progress_bar
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from benchmarks.safety.crash_lane import Lane
from sat_retriever import SheetEncoder
from sat_retriever.records.tokens import Encoder

_COUNTS = (
    "runs", "killed", "killed_before_a_first_index", "killed_before_a_write",
    "killed_between_writes", "killed_after_all_writes", "opened", "workbook_states_checked",
    "workbooks_advanced_by_killed_runs", "reruns_that_completed", "processes_left_behind",
)  # fmt: skip


def run_lanes(lanes: Sequence[Lane], kills: int, encoder: Encoder, told: Told) -> None:
    """Run every lane until `kills` runs were killed in all.

    Raises:
        SystemExit: If a check fails; the other lanes end after their round.
    """
    stop = threading.Event()

    def killed() -> int:
        return sum(lane.counts["killed"] for lane in lanes)

    def drive(lane: Lane) -> None:
        try:
            while killed() < kills and not stop.is_set():
                lane.step(encoder)
                told(min(killed(), kills), kills)
            if not stop.is_set():
                lane.finish(encoder)
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(len(lanes)) as pool:
        running = [pool.submit(drive, lane) for lane in lanes]
        try:
            for each in running:
                each.result()
        except BaseException:
            stop.set()
            raise


def metrics_of(lanes: Sequence[Lane]) -> dict[str, float]:
    """Return counts over all lanes; an inconsistent workbook would have ended the run."""
    counts = sum((lane.counts for lane in lanes), Counter())
    found: dict[str, float] = {name: counts[name] for name in _COUNTS}
    whole = statistics.median(second for lane in lanes for second in lane.seconds)
    return {
        **found,
        "torn_workbooks": 0,
        "workbooks": sum(len(lane.newest) for lane in lanes),
        "lanes": len(lanes),
        "whole_run_s": round(whole, 2),
    }


@suite(
    "crash",
    "work",
    kills=1000,
    workbooks=option(8, "of each lane"),
    lanes=option(2, "indexes, killed side by side"),
    seed=0,
)
def main(options: Options) -> Iterator[Result]:
    """Kill and check."""
    folders = [options.work / f"lane{number}" for number in range(options.lanes)]
    lanes = [
        Lane.open(folder.resolve(), f"{options.seed}:{number}", options.workbooks)
        for number, folder in enumerate(folders)
    ]
    with progress_bar("kills", options.kills) as told:
        run_lanes(lanes, options.kills, SheetEncoder.load(), told)
    yield Result("kill-9", "generated", metrics_of(lanes), seed=options.seed)
    for folder in folders:  # the next command starts over
        shutil.rmtree(folder)
