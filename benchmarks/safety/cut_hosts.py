"""Indexing on a Ray cluster of two hosts, one of which is cut off from the network.

    python -m benchmarks run cut_hosts [--methods other_host_cut indexing_host_cut]

The hosts are network namespaces of this machine with a bridge between them, which needs root; one
has Ray's head, and each has one core. After a quarter of the workbooks the cable of the host
without the head is pulled, which closes no connection, and plugged in again after `back` seconds,
or never. Workbooks are read from the disk that both hosts share. A run that does not finish is
followed by one on the host of the head, which stays alone. All parts of the index must be equal to
those of this machine's without Ray, tokens to the last bit, and no workbook told twice.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.pgserver import UnavailableError
from benchmarks.results import Result
from benchmarks.runner import Options, option, suite
from benchmarks.safety.hosts import ADDRESS, HEAD, OTHER, Hosts, lacking, two_hosts
from benchmarks.safety.stored import differing, stored_hashes
from sat_retriever import SheetIndex
from sat_retriever.synth.corpus import synthesize
from sat_retriever.synth.options import WORKBOOKS, SynthOptions

_SHEETS, _SEED = 400, 42
_BOUND_S = 400.0  # a run that is not over by then waits for ever
# Ray's checks of nodes and of connections, which by its defaults take minutes.
HEALTH = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "5",
}
KEEPALIVE = {
    "RAY_grpc_client_keepalive_time_ms": "10000",
    "RAY_grpc_client_keepalive_timeout_ms": "10000",
}


@dataclass(frozen=True, slots=True)
class Cut:
    """Which host indexes, when the cable is plugged in again, and Ray's settings on both."""

    indexing: str
    back_s: float | None = None
    joins: bool = False  # once it is back, Ray is started on it anew
    settings: Mapping[str, str] = field(default_factory=dict)


METHODS = {
    "other_host_cut": Cut(HEAD),
    "other_host_back_after_20_s": Cut(HEAD, 20.0),
    "other_host_back_after_80_s": Cut(HEAD, 80.0, joins=True),
    "indexing_host_back_after_20_s": Cut(OTHER, 20.0),
    "indexing_host_cut": Cut(OTHER),
    "other_host_cut_health_s": Cut(HEAD, settings=HEALTH),
    "other_host_back_after_15_s_health_s": Cut(HEAD, 15.0, joins=True, settings=HEALTH),
    "indexing_host_cut_keepalive_s": Cut(OTHER, settings=HEALTH | KEEPALIVE),
}


@dataclass(slots=True)
class Indexing:
    """What one indexing process told, with seconds since the cable was pulled."""

    done: list[str] = field(default_factory=list)  # paths of workbooks
    log: list[str] = field(default_factory=list)
    report: list[int] = field(default_factory=list)  # empty after an error
    error: str | None = None
    code: int = 0
    waited_s: float = 0.0  # the longest time without a workbook
    ended_s: float = 0.0


def index_on(hosts: Hosts, cut: Cut, file: Path, folder: Path) -> Indexing:
    """Index a folder on the cluster; the cable is pulled after a quarter of the workbooks."""
    run = Indexing()
    pulled = last = 0.0
    back = threading.Timer(cut.back_s or 0.0, _plug_in, (hosts, cut))
    for kind, *told in _lines(hosts, cut.indexing, file, folder, run):
        now = time.monotonic()
        if kind == "log":
            run.log.append(told[0])
        elif kind == "error":
            run.error = told[0]
        elif kind == "report":
            run.report = told
        elif told[2]:
            run.done.append(told[2])
            if pulled:
                run.waited_s = max(run.waited_s, now - last)
            elif told[0] >= told[1] // 4:
                hosts.connect(plugged=False)
                pulled = time.monotonic()
                if cut.back_s is not None:
                    back.start()
            last = now
    run.ended_s = time.monotonic() - pulled
    if back.is_alive():
        back.join()
    return run


def index_again(hosts: Hosts, file: Path, folder: Path) -> Indexing:
    """Index once more, beside the head."""
    run = Indexing()
    for kind, *told in _lines(hosts, HEAD, file, folder, run):
        if kind == "report":
            run.report = told
        elif kind == "error":
            raise SystemExit(f"the next run fails: {told[0]}")
    return run


def _lines(hosts: Hosts, host: str, file: Path, folder: Path, run: Indexing) -> Iterator[list[Any]]:
    command = ("-m", "benchmarks.safety.cut_hosts_part", ADDRESS, file, folder)
    with hosts.popen(host, *command, stdout=subprocess.PIPE, text=True) as process:
        bound = threading.Timer(_BOUND_S, hosts.end)
        bound.start()
        yield from map(json.loads, process.stdout or ())
    bound.cancel()
    run.code = process.returncode


def _plug_in(hosts: Hosts, cut: Cut) -> None:
    hosts.connect(plugged=True)
    if cut.joins:
        hosts.join()


def measure(cut: Cut, folder: Path, file: Path, expected: Mapping[str, str]) -> dict[str, Any]:
    """Index a folder anew, and return what became of it."""
    for old in file.parent.glob(f"{file.name}*"):
        old.unlink()
    SheetIndex.create(file).close()
    with two_hosts(cut.settings) as hosts:
        run = index_on(hosts, cut, file, folder)
        with SheetIndex.open(file) as index:
            stored = len(index.workbooks())
        again = None if run.report else index_again(hosts, file, folder)
    return {
        "waited_s": round(run.waited_s, 1),
        "ended_s": round(run.ended_s, 1),
        "error": run.error,
        "exit_code": run.code,
        "read_again": sum(each.startswith("read again") for each in run.log),
        "workbooks": stored,
        "added_by_next_run": again.report[0] if again else 0,
        "told_twice": len(run.done) - len(set(run.done)),
        "different": differing(stored_hashes(file), expected),
    }


@suite("cut_hosts", "work", methods=option(list(METHODS), choices=METHODS))
def main(options: Options) -> Iterator[Result]:
    """Index, cut, compare; exit code 1 if an index differs."""
    if reason := lacking():
        raise UnavailableError(reason)
    corpus = options.work / "made"
    folder = corpus / WORKBOOKS
    if not folder.exists():
        synthesize(corpus, SynthOptions(str(_SHEETS), _SEED))
    file = options.work / "alone.sat"
    for old in file.parent.glob(f"{file.name}*"):
        old.unlink()
    with SheetIndex.create(file) as index:
        index.sync(folder)
    expected = stored_hashes(file)
    differ = 0
    for method in options.methods:
        metrics = measure(METHODS[method], folder, options.work / "cut.sat", expected)
        differ += bool(metrics["different"]) + metrics["told_twice"]
        yield Result(method, f"made_{_SHEETS}", metrics, data=[folder])
    if differ:
        raise SystemExit("an index differs, or a workbook was told twice")
