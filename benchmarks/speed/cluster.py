"""Indexing on a Ray cluster of this machine, beside the same without one.

    python -m benchmarks run ray [--data ../shared/data] [--corpora eps made odd_files]

Each corpus is indexed by this machine alone, in Ray with one and with two workers, and on a cluster
of three nodes (each a set of processes with one core), one of which is killed after a third of the
workbooks. All parts of the index must be equal to the first one's, tokens to the last bit.

`read_s`, `link_s` and `encode_s` are added up over the processes that did the work, which share the
cores. The others are those of this process: looking at files (`list_s`), waiting for results
(`wait_s`), bringing them here (`fetch_s`), writing them (`write_s`), and the second pass over links
between workbooks (`settle_s`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from benchmarks.safety.stored import differing, stored_hashes
from sat_retriever import SheetIndex
from sat_retriever.index.sync.cluster.run import Spent
from sat_retriever.index.sync.cluster.session import RayCluster, own_settings, ray_cluster
from sat_retriever.index.sync.executor import Done, Executor, ThisMachine, Work
from sat_retriever.index.sync.file_check import FileCheck, MetFile
from sat_retriever.index.sync.sync_plan import ToRead
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions

CORPORA = ("eps", "made", "odd_files")
_SHEETS, _SEED = 10_000, 42
Stop = Callable[[int, int], None]


class Timed:
    """An executor, and the moments between its steps."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.list_s = self.write_s = 0.0
        self.ended = 0.0

    def check_files(self, met: Sequence[MetFile], *, verify: bool) -> Iterator[FileCheck]:
        """Look at files."""
        before = time.perf_counter()
        found = list(self._executor.check_files(met, verify=verify))
        self.list_s += time.perf_counter() - before
        return iter(found)

    def prepare(self, jobs: Sequence[ToRead], work: Work) -> Generator[Done]:
        """Yield workbooks; the time until the next is asked for is that of writing."""
        for done in self._executor.prepare(jobs, work):
            before = time.perf_counter()
            yield done
            self.write_s += time.perf_counter() - before
        self.ended = time.perf_counter()


@contextmanager
def three_nodes() -> Iterator[tuple[RayCluster, Stop]]:
    """A cluster of three nodes, and a function that kills one after a third of the workbooks."""
    from ray.cluster_utils import Cluster

    with own_settings():
        nodes: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        victim = nodes.add_node(num_cpus=1)
        nodes.add_node(num_cpus=1)

        def stop(done: int, total: int) -> None:
            if done == max(1, total // 3):
                nodes.remove_node(victim, allow_graceful=False)

        with ray_cluster(nodes.address) as cluster:
            yield cluster, stop
            if len(nodes.list_all_nodes()) != 2:
                raise SystemExit("no node was killed")
        nodes.shutdown()


@contextmanager
def one_machine(workers: int) -> Iterator[tuple[RayCluster, Stop]]:
    """A cluster of this machine's cores."""
    with ray_cluster(workers=workers) as cluster:
        yield cluster, lambda _done, _total: None


METHODS: dict[str, Callable[[], Any]] = {
    "local": lambda: nullcontext((ThisMachine(), lambda _done, _total: None)),
    "ray_1_worker": lambda: one_machine(1),
    "ray_2_workers": lambda: one_machine(2),
    "ray_node_killed": three_nodes,
}


def corpus(name: str, data: Path, work: Path) -> Path:
    """Return the folder of a corpus; the made one is written first, unless it is there."""
    if name != "made":
        return data / name
    if not (work / name / WORKBOOKS).exists():
        synthesize(work / name, SynthOptions(str(_SHEETS), _SEED))
    return work / name / WORKBOOKS


def measure(method: str, folder: Path, file: Path) -> dict[str, Any]:
    """Index a folder anew, and return counts and seconds."""
    for old in file.parent.glob(f"{file.name}*"):
        old.unlink()
    before = time.perf_counter()
    with METHODS[method]() as (executor, stop), SheetIndex.create(file) as index:
        start_s = time.perf_counter() - before
        timed = Timed(executor)
        report = index.sync(
            folder, executor=timed, progress=lambda done, total, _path: stop(done, total)
        )
        settle_s = time.perf_counter() - timed.ended
        spent = asdict(executor.spent) if isinstance(executor, RayCluster) else {}
    spent = spent or dict.fromkeys(asdict(Spent()))  # not known of this machine alone
    parts = {"list_s": timed.list_s, **spent, "write_s": timed.write_s, "settle_s": settle_s}
    return {
        "workbooks": report.added,
        "sheets": report.sheets,
        "skipped": len(report.skipped),
        "index_s": round(report.seconds, 1),
        "sheets_per_s": round(report.sheets / report.seconds, 1),
        "start_s": round(start_s, 1),
        **{name: value if value is None else round(value, 1) for name, value in parts.items()},
    }


@suite(
    "ray",
    "data",
    "work",
    corpora=option(CORPORA, choices=CORPORA),
    methods=option(list(METHODS), choices=METHODS),
)
def main(options: Options) -> Iterator[Result]:
    """Index, compare; exit code 1 if anything differs."""
    differ = 0
    for name in options.corpora:
        folder = corpus(name, options.data, options.work)
        expected: dict[str, str] = {}
        for method in dict.fromkeys(["local", *options.methods]):  # all are compared with it
            file = options.work / "again.sat"
            metrics = measure(method, folder, file)
            found = stored_hashes(file)
            expected = expected or found
            metrics["different"] = differing(found, expected)
            differ += bool(metrics["different"])
            yield Result(method, name, metrics, data=[folder])
    if differ:
        raise SystemExit(f"{differ} of the indexings gave another index")
