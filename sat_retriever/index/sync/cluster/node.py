"""The nodes of a cluster: their cores, reading in tasks, and the actors that encode.

There is an encoder for each GPU, or for each node if there is none.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from sat_retriever._extras import require
from sat_retriever._version import __version__
from sat_retriever.encoder.load import is_embedding
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.encoder.sheet import SheetEncoder
from sat_retriever.errors import ClusterError
from sat_retriever.index.settings import IndexSettings, IndexState
from sat_retriever.index.store.rows import NewWorkbook
from sat_retriever.index.sync.executor import books_of, encoded_workbooks, linked
from sat_retriever.index.sync.file_check import FileCheck, MetFile, check_file
from sat_retriever.index.sync.sync_plan import ToRead
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import LocalFile, ReadOptions

Stat = tuple[int, int]  # bytes, and seconds since 1970
_CHECK_S = 10.0
_HEAD_S = 45.0  # less than the minute after which Ray ends a process without the head
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class TaskReport:
    """A node's report of one reading task; it stays small."""

    node: str  # identity of the node
    address: str
    version: str  # its version of this package
    # Places of the workbooks that were read, among those of the task, in the order of the
    # results.
    places: tuple[int, ...]
    # Places of the files that look different there, each with its size and time in seconds; None
    # for a file that the node does not have.
    unseen: tuple[tuple[int, Stat | None], ...]
    sheets: int
    read_s: float
    link_s: float


def stat_of(file: Path) -> Stat | None:
    """Size and time of a file; None if there is none, or it cannot be asked about."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns // 1_000_000_000


def checks_of_node(
    met: Sequence[MetFile], *, verify: bool
) -> tuple[str, str, list[FileCheck | None]]:
    """This node's version, address and checks; None for a file not as the driver saw it."""
    unseen = dict(_unseen([each.job for each in met]))
    found = [
        None if place in unseen else check_file(each, verify=verify)
        for place, each in enumerate(met)
    ]
    ray: Any = require("ray", "ray")
    return __version__, ray.util.get_node_ip_address(), found


def check_version(version: str, address: str) -> None:
    """Refuse a node with another version of this package than this machine's."""
    if version != __version__:
        raise ClusterError(
            f"the node {address} has sat-retriever {version}, and this machine {__version__}: "
            "install the same version on both"
        )


def read_books(
    jobs: Sequence[ToRead], shared: tuple[ReadOptions, Limits], *, check: bool
) -> tuple[TaskReport, list[NewWorkbook]]:
    """A report and the workbooks that were read, with their links.

    A file is read by a process of its own with limits on memory and time, as on any machine. With
    `check` it is read only if it has the size and time that the driver saw.
    """
    unseen = dict(_unseen(jobs)) if check else {}
    place_of = {job.file: place for place, job in enumerate(jobs)}
    seen = [job for place, job in enumerate(jobs) if place not in unseen]
    done: list[tuple[int, NewWorkbook]] = []
    start, link_s = time.perf_counter(), 0.0
    with closing(books_of(seen, *shared, 1)) as books:
        for job, book in books:
            before = time.perf_counter()
            done.append((place_of[job.file], linked(job, book)))
            link_s += time.perf_counter() - before
    ray: Any = require("ray", "ray")
    report = TaskReport(
        node=ray.get_runtime_context().get_node_id(),
        address=ray.util.get_node_ip_address(),
        version=__version__,
        places=tuple(place for place, _ in done),
        unseen=tuple(unseen.items()),
        sheets=sum(len(found.rows) for _, found in done),
        read_s=time.perf_counter() - start - link_s,
        link_s=link_s,
    )
    return report, [found for _, found in done]


def _unseen(jobs: Sequence[ToRead]) -> list[tuple[int, Stat | None]]:
    """Places of local files that are not as the driver saw them, and how they are.

    A file that the driver could not ask about has a time of 0, and is left to the reader.
    """
    found = []
    for place, job in enumerate(jobs):
        if isinstance(job.file, LocalFile) and job.state.mtime_ns:
            here = stat_of(job.file.path)
            if here != (job.state.size, job.state.mtime_ns // 1_000_000_000):
                found.append((place, here))
    return found


class NodeEncoder:
    """An actor that keeps the encoder of an index in memory.

    It loads the encoder that the settings name with the first workbook; the encoder must have
    their fingerprint.
    """

    def __init__(self, settings: IndexSettings, path: Path, device: Device) -> None:
        self._state = IndexState(settings, path, None, device)

    def encode(self, *parts: list[NewWorkbook]) -> tuple[float, list[NewWorkbook]]:
        """Seconds, and the workbooks of several tasks with their tokens."""
        start = time.perf_counter()
        done = list(encoded_workbooks([x for part in parts for x in part], self._state))
        return time.perf_counter() - start, done


def answer_of_head(ask: Callable[[], _Answer]) -> _Answer:
    """The answer of the cluster's head to a call of Ray; `ClusterError` if none comes in time.

    A network that is cut off closes no connection, so that the call by itself waits for ever.
    """
    answer: Future[_Answer] = Future()

    def asked() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - raised again for whoever waits
            answer.set_exception(error)

    threading.Thread(target=asked, daemon=True).start()
    try:
        return answer.result(_HEAD_S)
    except TimeoutError:
        raise ClusterError(
            f"the head of the Ray cluster has not answered for {_HEAD_S:.0f} s: check the network "
            "and the head, and index again to go on"
        ) from None


def cores_of(ray: Any) -> int:
    """Number of cores of a cluster; `ClusterError` without any: a task would wait for ever."""
    cores = int(answer_of_head(ray.cluster_resources).get("CPU", 0))
    if cores < 1:
        raise ClusterError(
            "no node of the Ray cluster offers a core: start one that does, and index again to go "
            "on"
        )
    return cores


def nodes_of(ray: Any) -> frozenset[str]:
    """Identities of the nodes that the cluster believes to be alive."""
    return frozenset(each["NodeID"] for each in answer_of_head(ray.nodes) if each["Alive"])


def wait_for(
    ray: Any, awaited: Sequence[Any], nodes: frozenset[str], *, here: bool = False
) -> bool:
    """Wait until one of some references has an answer, with `here` until this machine has it.

    False if none has one and one of `nodes` is gone. A host whose network is cut off closes no
    connection, so that Ray does not fail what runs there, long after it has given up the node.
    """
    while not ray.wait(list(awaited), num_returns=1, timeout=_CHECK_S, fetch_local=here)[0]:
        cores_of(ray)
        if not nodes <= nodes_of(ray):
            return False
    return True


def runs_on_nodes(state: IndexState) -> bool:
    """True if nodes can load the encoder of an index by its name.

    A model of a server is asked by this process, which counts its work, and an object of a
    program exists only in it.
    """
    loaded = state.loaded
    if loaded is not None:
        return isinstance(loaded, SheetEncoder)
    return not is_embedding(state.settings.encoder)


class Encoders:
    """Actors that encode, started when they are first needed."""

    def __init__(self, ray: Any, state: IndexState) -> None:
        self._ray = ray
        gpus = 0 if state.device == "cpu" else self._present()
        self._gpus = [f"gpu {number}" for number in range(gpus)]
        settings = replace(state.settings, encoder=state.encoder_name)
        self._arguments = (settings, state.path, state.device)
        self._actors: dict[str, Any] = {}
        self._calls: Counter[str] = Counter()

    def nearest(self, node: str) -> str:
        """The actor that should encode what a node has read.

        It is the node's own, so that texts do not travel. With GPUs it is the one with the fewest
        calls, on whichever node.
        """
        return min(self._gpus, key=lambda each: self._calls[each]) if self._gpus else node

    def calls(self, name: str) -> int:
        """Number of calls that an actor has not answered."""
        return self._calls[name]

    def encode(self, name: str, parts: list[Any]) -> tuple[Any, Any, Any]:
        """The actor, and references to the seconds and the results of one call."""
        if name not in self._actors:
            self._actors[name] = self._started(name)
        self._calls[name] += 1
        actor = self._actors[name]
        seconds, done = actor.encode.options(num_returns=2).remote(*parts)
        return actor, seconds, done

    def answered(self, name: str) -> None:
        """Record the end of a call."""
        self._calls[name] -= 1

    def lost(self, name: str, actor: Any) -> None:
        """Forget an actor that died, unless another has its name already; a call starts one.

        A GPU that went with its node is no longer given any work.
        """
        if self._actors.get(name) is actor:
            del self._actors[name]
            if name in self._gpus and len(self._gpus) > self._present():
                self._gpus.remove(name)

    def stop(self) -> None:
        """End all actors."""
        for actor in self._actors.values():
            self._ray.kill(actor)
        self._actors.clear()

    def _present(self) -> int:
        return int(self._ray.cluster_resources().get("GPU", 0))

    def _started(self, name: str) -> Any:
        """Start an actor: on a GPU of its own, or beside the readers of a node.

        The second takes no core for itself. Readers and encoder share the cores of a node as they
        do on one machine, whichever of them has more to do.
        """
        remote = self._ray.remote(NodeEncoder)
        if name in self._gpus:
            options = {"num_cpus": 0, "num_gpus": 1}
        else:
            strategies = self._ray.util.scheduling_strategies
            there = strategies.NodeAffinitySchedulingStrategy(name, soft=False)
            options = {"num_cpus": 0, "scheduling_strategy": there}
        return remote.options(max_restarts=0, **options).remote(*self._arguments)
