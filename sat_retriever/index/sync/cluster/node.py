"""The work of a node: reading in tasks, encoding in an actor."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sat_retriever._extras import require
from sat_retriever._version import __version__
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import ClusterError
from sat_retriever.index.settings import IndexSettings
from sat_retriever.index.state import IndexState
from sat_retriever.index.sync.batches import books_of
from sat_retriever.index.sync.looking import Look, Met, look
from sat_retriever.index.sync.prepared import Found, Prepared, found_in, prepared
from sat_retriever.index.sync.steps import ToRead
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import LocalFile, ReadOptions


@dataclass(frozen=True, slots=True)
class Told:
    """A node's report of one task; it stays small.

    Attributes:
        node: Identity of the node.
        address: Its IP address.
        version: Its version of this package.
        places: Places of the workbooks that were read, among those of the task, in the order of
            the results.
        unseen: Places of the files that look different there, each with its size and time in
            seconds; None for a file that the node does not have.
        sheets: Number of sheets that were read.
        read_s: Seconds of reading.
        link_s: Seconds of finding links.
    """

    node: str
    address: str
    version: str
    places: tuple[int, ...]
    unseen: tuple[tuple[int, Stat | None], ...]
    sheets: int
    read_s: float
    link_s: float


Stat = tuple[int, int]  # bytes, and seconds since 1970


def stat_of(file: Path) -> Stat | None:
    """Return size and time of a file; None if there is none, or it cannot be asked about."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns // 1_000_000_000


def look_at(met: Sequence[Met], *, verify: bool) -> tuple[str, str, list[Look | None]]:
    """Return this node's version and address, and its looks at files.

    A look is None for a file that is not as the driver saw it, which must look itself.
    """
    unseen = dict(_unseen([each.job for each in met]))
    found = [
        None if place in unseen else look(each, verify=verify) for place, each in enumerate(met)
    ]
    ray: Any = require("ray", "ray")
    return __version__, ray.util.get_node_ip_address(), found


def check_version(version: str, address: str) -> None:
    """Refuse a node with another version of this package than this machine's.

    Raises:
        ClusterError: If its version is another.
    """
    if version != __version__:
        raise ClusterError(
            f"the node {address} has sat-retriever {version}, and this machine {__version__}: "
            "install the same version on both"
        )


def read_books(
    jobs: Sequence[ToRead], reading: ReadOptions, limits: Limits, *, check: bool
) -> tuple[Told, list[Found]]:
    """Return a report and the workbooks that were read, with their links.

    A file is read by a process of its own with limits on memory and time, as on any machine.

    Args:
        jobs: The workbooks.
        reading: What is read of each.
        limits: Bounds on one file.
        check: True to read a file only if it has the size and time that the driver saw.
    """
    unseen = dict(_unseen(jobs)) if check else {}
    place_of = {job.file: place for place, job in enumerate(jobs)}
    seen = [job for place, job in enumerate(jobs) if place not in unseen]
    done: list[tuple[int, Found]] = []
    start, link_s = time.perf_counter(), 0.0
    with closing(books_of(seen, reading, limits, 1)) as books:
        for job, book in books:
            before = time.perf_counter()
            done.append((place_of[job.file], found_in(book)))
            link_s += time.perf_counter() - before
    ray: Any = require("ray", "ray")
    told = Told(
        node=ray.get_runtime_context().get_node_id(),
        address=ray.util.get_node_ip_address(),
        version=__version__,
        places=tuple(place for place, _ in done),
        unseen=tuple(unseen.items()),
        sheets=sum(len(found.records) for _, found in done),
        read_s=time.perf_counter() - start - link_s,
        link_s=link_s,
    )
    return told, [found for _, found in done]


def _unseen(jobs: Sequence[ToRead]) -> list[tuple[int, Stat | None]]:
    """Return the places of local files that are not as the driver saw them, and how they are.

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

    Args:
        settings: Settings of the index; the encoder that they name is loaded with the first
            workbook, and must have their fingerprint.
        path: The index file, for error messages.
        device: Device to load it on.
    """

    def __init__(self, settings: IndexSettings, path: Path, device: Device) -> None:
        self._state = IndexState(settings, path, None, device)

    def encode(self, *parts: list[Found]) -> tuple[float, list[Prepared]]:
        """Return seconds, and the workbooks of several tasks with their tokens.

        Raises:
            EncoderError: If the encoder cannot be loaded on this node, or fails.
        """
        start = time.perf_counter()
        done = prepared([found for part in parts for found in part], self._state)
        return time.perf_counter() - start, done
