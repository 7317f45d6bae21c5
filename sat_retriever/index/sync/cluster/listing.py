"""Look at the files of a listing on the nodes of a cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from sat_retriever.index.sync.cluster.cores import cores_of, wait_for
from sat_retriever.index.sync.cluster.node import check_version, look_at
from sat_retriever.index.sync.looking import Look, Met, look, looks_here

_FILES = 128  # files of one task
_FEW = 64  # files that are not worth a task
_AHEAD = 64  # tasks that are not answered yet


def looks(ray: Any, met: Sequence[Met], *, verify: bool) -> Iterator[Look]:
    """Yield what a look at each file finds, in order.

    Nodes only help: this machine decides which files there are, and looks itself at those that a
    node does not see as it does, and where a task failed.

    Args:
        ray: The module, connected.
        met: The files.
        verify: Hash every file, whatever its time.

    Raises:
        ClusterError: If the cluster has no cores, or a node another version of this package.
    """
    if len(met) <= _FEW:
        yield from looks_here(met, verify=verify)
        return
    cores_of(ray)
    task = ray.remote(look_at).options(num_cpus=1, max_retries=3, scheduling_strategy="SPREAD")
    parts = (met[start : start + _FILES] for start in range(0, len(met), _FILES))
    running: deque[tuple[Sequence[Met], Any]] = deque()
    for part in parts:
        running.append((part, task.remote(part, verify=verify)))
        if len(running) == _AHEAD:
            yield from _answered(ray, *running.popleft(), verify=verify)
    while running:
        yield from _answered(ray, *running.popleft(), verify=verify)


def _answered(ray: Any, part: Sequence[Met], ref: Any, *, verify: bool) -> Iterator[Look]:
    """Yield the answers of one task."""
    found: Sequence[Look | None] = [None] * len(part)
    wait_for(ray, [ref])
    with suppress(ray.exceptions.RayError):  # if it is the cluster's end, reading will say so
        version, address, found = ray.get(ref)
        check_version(version, address)
    for each, seen in zip(part, found, strict=True):
        yield seen or look(each, verify=verify)
