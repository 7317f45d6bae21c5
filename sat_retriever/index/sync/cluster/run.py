"""One run of a cluster: workbooks are claimed by tasks, and finished or tried again."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sat_retriever.errors import ClusterError
from sat_retriever.index.store.rows import NewWorkbook
from sat_retriever.index.sync.cluster.chunks import Chunk, Failures, chunks
from sat_retriever.index.sync.cluster.node import (
    Encoders,
    Stat,
    TaskReport,
    check_version,
    nodes_of,
    read_books,
    runs_on_nodes,
    stat_of,
    wait_for,
)
from sat_retriever.index.sync.executor import BATCH_SHEETS, Done, Work, encoded_workbooks
from sat_retriever.index.sync.sync_plan import ToRead
from sat_retriever.workbook.read import LocalFile

_log = logging.getLogger(__name__)
_MOST_BYTES = 256 << 20  # of results that are not stored yet; no more is claimed beyond that
_AHEAD = 2  # reading tasks for each core, so that none waits for this process
_CLAIMED = 4  # chunks for each core, from their claim until they are stored


@dataclass(slots=True)
class Spent:
    """Seconds of work, added up over the processes that did it."""

    read_s: float = 0.0
    link_s: float = 0.0  # finding the links inside workbooks
    encode_s: float = 0.0
    fetch_s: float = 0.0  # bringing results to this process
    wait_s: float = 0.0  # waiting of this process for the others


@dataclass(frozen=True, slots=True)
class _Books:
    """Workbooks that a task has read: where the result is, and on which node."""

    chunk: Chunk
    jobs: tuple[ToRead, ...]
    report: TaskReport
    result: Any


@dataclass(frozen=True, slots=True)
class _Call:
    books: list[_Books]
    encoder: str
    actor: Any
    result: Any


class ClusterRun:
    """One run, from the plan's workbooks to results in order of completion.

    Each workbook is in one place at a time: waiting, claimed by a reading task, read, claimed by an
    encoder, or yielded. A lost node, worker or actor puts it back among those that wait. As many
    reading tasks run at the same time as there are `cores`; seconds are added to `spent`.
    """

    def __init__(
        self, ray: Any, jobs: Sequence[ToRead], work: Work, cores: int, spent: Spent
    ) -> None:
        self._ray, self._work, self._cores, self._spent = ray, work, cores, spent
        self._waiting = deque(chunks(jobs, cores))
        self._reading: dict[Any, tuple[Chunk, Any]] = {}
        self._read: dict[str, list[_Books]] = {}
        self._encoding: dict[Any, _Call] = {}
        self._held = 0
        self._failures = Failures(ray)
        self._nodes = nodes_of(ray)
        self._encoders = Encoders(ray, work.state) if runs_on_nodes(work.state) else None
        self._shared = ray.put((work.reading, work.limits))
        self._gone: frozenset[str] = frozenset()
        self._task = self._reading_task()

    def results(self) -> Iterator[Done]:
        """Yield every workbook once."""
        while self._waiting or self._reading or self._read or self._encoding:
            self._claim()
            answered = self._answered()
            if answered is None:
                yield from self._abandon()
                continue
            for ref in answered:
                if ref in self._reading:
                    yield from self._take_read(ref)
                else:
                    yield from self._take_encoded(self._encoding.pop(ref), ref)
            yield from self._encode()

    def _reading_task(self) -> Any:
        """A task for every node but those that are gone.

        Ray asks nodes for workers separately for each selector. Without one, new tasks would wait
        until the requests to a silent node fail: two minutes and more.
        """
        options: dict[str, Any] = {"num_cpus": 1, "num_returns": 2, "max_retries": 0}
        if self._gone:
            gone = ",".join(sorted(self._gone))
            options["label_selector"] = {"ray.io/node-id": f"!in({gone})"}
        return self._ray.remote(read_books).options(scheduling_strategy="SPREAD", **options)

    def stop(self) -> None:
        """End all tasks and actors of the run."""
        for ref in self._reading:
            with suppress(self._ray.exceptions.RayError):
                self._ray.cancel(ref, force=True)
        if self._encoders:
            self._encoders.stop()

    def _claim(self) -> None:
        calls = self._encoding.values()
        behind = sum(map(len, self._read.values())) + sum(len(call.books) for call in calls)
        while (
            self._waiting
            and len(self._reading) < _AHEAD * self._cores
            and len(self._reading) + behind < _CLAIMED * self._cores
            and self._held < _MOST_BYTES
        ):
            chunk = self._waiting.popleft()
            report, result = self._task.remote(chunk.jobs, self._shared, check=chunk.check)
            self._reading[report] = chunk, result

    def _answered(self) -> list[Any] | None:
        """References with an answer; None if a node is gone and none has one."""
        awaited = [*self._reading, *self._encoding]
        if not awaited:
            return []
        before = time.perf_counter()
        found = wait_for(self._ray, awaited, self._nodes)
        self._spent.wait_s += time.perf_counter() - before
        if not found:
            return None
        ready, _ = self._ray.wait(awaited, num_returns=len(awaited), timeout=0, fetch_local=False)
        return list(ready)

    def _abandon(self) -> Iterator[Done]:
        """Try again all that may have been on a node that is gone.

        Ray does not say on which node a task runs, so none is waited for any longer; of encoders
        the node is known, unless they have GPUs.
        """
        before, self._nodes = self._nodes, nodes_of(self._ray)
        gone = before - self._nodes
        self._gone |= gone
        self._task = self._reading_task()
        error = self._ray.exceptions.NodeDiedError("a node was lost, and its tasks do not answer")
        _log.warning("nodes of the Ray cluster were lost: %s", ", ".join(sorted(gone)))
        for ref, (chunk, _) in [*self._reading.items()]:
            del self._reading[ref]
            self._ray.cancel(ref)
            yield from self._again(chunk, error)
        for ref, call in [*self._encoding.items()]:
            if call.encoder in gone or call.encoder not in before:
                del self._encoding[ref]
                assert self._encoders is not None
                self._encoders.answered(call.encoder)
                self._lost_actor(call)
                for each in call.books:
                    yield from self._again(each.chunk, error, each.jobs)

    def _take_read(self, ref: Any) -> Iterator[Done]:
        """Keep what a task has read for an encoder; yield workbooks that no task can read."""
        chunk, result = self._reading.pop(ref)
        try:
            report = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            yield from self._again(chunk, error)
            return
        check_version(report.version, report.address)
        self._nodes |= {report.node}  # it may have come later
        for place, there in report.unseen:
            self._look_again(chunk.jobs[place], there, report.address)
        self._spent.read_s += report.read_s
        self._spent.link_s += report.link_s
        jobs = tuple(chunk.jobs[place] for place in report.places)
        if jobs:
            chunk.held = self._size(result)
            self._held += chunk.held
            self._give(_Books(chunk, jobs, report, result))

    def _give(self, books: _Books) -> None:
        name = self._encoders.nearest(books.report.node) if self._encoders else ""
        self._read.setdefault(name, []).append(books)

    def _look_again(self, job: ToRead, there: Stat | None, address: str) -> None:
        """Read a file anyway that changed meanwhile."""
        assert isinstance(job.file, LocalFile)  # a URL is the same everywhere
        here = stat_of(job.file.path)
        if here != there:
            raise ClusterError(
                f"the node {address} does not see {str(job.file.path)!r} as this machine does: "
                f"{_said(there)} there, {_said(here)} here; index a folder that all nodes share "
                "under the same path, or a URL"
            )
        self._waiting.append(Chunk((job,), check=False))

    def _encode(self) -> Iterator[Done]:
        """Give read workbooks to encoders: many at once, or a few to an idle one."""
        for name in [*self._read]:
            books = self._read[name]
            sheets = sum(each.report.sheets for each in books)
            if self._encoders is None:
                yield from self._encode_here(self._read.pop(name))
            elif sheets >= BATCH_SHEETS or not self._encoders.calls(name):
                actor, report, result = self._encoders.encode(name, [each.result for each in books])
                self._encoding[report] = _Call(self._read.pop(name), name, actor, result)

    def _encode_here(self, books: list[_Books]) -> Iterator[Done]:
        """Encode in this process, for an encoder that nodes cannot load."""
        for each in books:
            try:
                found = self._fetched(each.result)
            except self._ray.exceptions.RayError as error:
                yield from self._again(each.chunk, error, each.jobs)
                continue
            before = time.perf_counter()
            done = list(encoded_workbooks(found, self._work.state))
            self._spent.encode_s += time.perf_counter() - before
            yield from self._finished([each], done)

    def _take_encoded(self, call: _Call, ref: Any) -> Iterator[Done]:
        assert self._encoders is not None
        self._encoders.answered(call.encoder)
        try:
            seconds = self._ray.get(ref)
            done = self._fetched(call.result)
        except self._ray.exceptions.RayError as error:
            if self._failures.is_of_actor(error):
                self._lost_actor(call)
            for each in call.books:
                yield from self._again(each.chunk, error, each.jobs)
            return
        self._spent.encode_s += seconds
        yield from self._finished(call.books, done)

    def _lost_actor(self, call: _Call) -> None:
        assert self._encoders is not None
        self._encoders.lost(call.encoder, call.actor)
        for each in self._read.pop(call.encoder, ()):  # the name may be gone as well
            self._give(each)

    def _finished(self, books: list[_Books], done: Iterable[NewWorkbook]) -> Iterator[Done]:
        """Yield results, and count each chunk's bytes as free once it is stored."""
        results = iter(done)
        for each in books:
            for job in each.jobs:
                yield job, next(results)
            self._release(each.chunk)

    def _again(
        self, chunk: Chunk, error: Exception, jobs: tuple[ToRead, ...] | None = None
    ) -> Iterator[Done]:
        self._release(chunk)
        if jobs is not None:  # others of the chunk are on their way already
            chunk.jobs = jobs
        waiting, given_up = self._failures.after(chunk, error)
        for each in waiting:
            names = ", ".join(job.state.path for job in each.jobs)
            _log.warning("read again after %s: %s", type(error).__name__, names)
        self._waiting.extendleft(reversed(waiting))
        yield from given_up

    def _release(self, chunk: Chunk) -> None:
        self._held -= chunk.held
        chunk.held = 0

    def _fetched(self, ref: Any) -> Any:
        before = time.perf_counter()
        try:
            wait_for(self._ray, [ref], frozenset(), here=True)
            return self._ray.get(ref)
        finally:
            self._spent.fetch_s += time.perf_counter() - before

    def _size(self, ref: Any) -> int:
        """Bytes of a result; 0 if the cluster has lost it already."""
        found = self._ray.experimental.get_object_locations([ref]).get(ref, {})
        return int(found.get("object_size") or 0)


def _said(stat: Stat | None) -> str:
    if stat is None:
        return "no such file"
    return f"{stat[0]:,} bytes of {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(stat[1]))}"
