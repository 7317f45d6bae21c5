"""Connect to a Ray cluster, or start one on this machine."""

from __future__ import annotations

import logging
import os
import re
import secrets
import socket
import tempfile
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from sat_retriever._extras import require
from sat_retriever.errors import ClusterError, InputError
from sat_retriever.index.sync.cluster.node import (
    check_version,
    checks_of_node,
    cores_of,
    nodes_of,
    wait_for,
)
from sat_retriever.index.sync.cluster.run import ClusterRun, Spent
from sat_retriever.index.sync.executor import Done, Work
from sat_retriever.index.sync.file_check import FileCheck, MetFile, check_file, check_here
from sat_retriever.index.sync.sync_plan import ToRead
from sat_retriever.system import usable_cores

_log = logging.getLogger(__name__)
AUTO = "auto"
_ADDRESS = re.compile(r"(?P<host>[^\s/:]+|\[[0-9a-fA-F:.]+\]):(?P<port>\d{1,5})")
_REACHED_S = 5.0
_STORE_BYTES = 512 << 20  # of the shared memory of a cluster on this machine; the rest is spilled
# Ray opens ports on all interfaces, and whoever can talk to them can run code. Ray 2.60 has a token
# against that in the home of the user; ours is of one run, whatever a version does by itself.
_OWN = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token"}
# A host that was cut off for a short time may have given up the connection on which it answered. By
# itself Ray asks for signs of life after five minutes; its servers allow that once a minute. Ray
# ends this process a minute after it has given up the head, so it must not do so too early.
_KEEPALIVE = {
    "RAY_grpc_client_keepalive_time_ms": "60000",
    "RAY_grpc_client_keepalive_timeout_ms": "60000",
}
_FILES = 128  # files of one task
_FEW = 64  # files that are not worth a task
_AHEAD = 64  # tasks that are not answered yet


class RayCluster:
    """An executor on a cluster, which `ray_cluster` makes; `spent` is its work in seconds."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self.spent = Spent()

    def check_files(self, met: Sequence[MetFile], *, verify: bool) -> Iterator[FileCheck]:
        """Check files; see `Executor`.

        Nodes only help: this machine decides which files there are. It checks those itself that a
        node does not see as it does, and those of a task that failed. Raises `ClusterError` if the
        cluster has no cores, or a node another version of this package.
        """
        if len(met) <= _FEW:
            yield from check_here(met, verify=verify)
            return
        cores_of(self._ray)
        nodes = nodes_of(self._ray)
        options = {"num_cpus": 1, "max_retries": 3, "scheduling_strategy": "SPREAD"}
        task = self._ray.remote(checks_of_node).options(**options)
        running: deque[tuple[Sequence[MetFile], Any]] = deque()
        for start in range(0, len(met), _FILES):
            part = met[start : start + _FILES]
            running.append((part, task.remote(part, verify=verify)))
            if len(running) == _AHEAD:
                yield from self._checked(*running.popleft(), nodes, verify=verify)
        while running:
            yield from self._checked(*running.popleft(), nodes, verify=verify)

    def _checked(
        self, part: Sequence[MetFile], ref: Any, nodes: frozenset[str], *, verify: bool
    ) -> Iterator[FileCheck]:
        found: Sequence[FileCheck | None] = [None] * len(part)
        if wait_for(self._ray, [ref], nodes):
            # If an error means the end of the cluster, reading will say so.
            with suppress(self._ray.exceptions.RayError):
                version, address, found = self._ray.get(ref)
                check_version(version, address)
        for each, check in zip(part, found, strict=True):
            yield check or check_file(each, verify=verify)

    def prepare(self, jobs: Sequence[ToRead], work: Work) -> Generator[Done]:
        """Yield each workbook once; `ClusterError` if the cluster fails or lacks cores or files."""
        if not jobs:
            return
        cores = cores_of(self._ray)
        run = ClusterRun(self._ray, jobs, work, min(cores, work.workers or cores), self.spent)
        try:
            yield from run.results()
        finally:
            run.stop()


@contextmanager
def ray_cluster(address: str | None = None, *, workers: int | None = None) -> Iterator[RayCluster]:
    """Connect to a Ray cluster until the block ends.

    Everybody who can reach a Ray cluster can run code on it. One that is started here is closed to
    others by a token; one that is named must be trusted, and closed to others by its owner.

    Args:
        address: "host:port" of a running cluster that this machine belongs to, or "auto" for the
            one that runs on this machine; None starts one of this machine's cores, which ends with
            the block, unless the program is connected already.
        workers: Cores of a started cluster; None takes all.

    Raises:
        InputError: If the address is not of this form.
        ClusterError: If the cluster cannot be reached or started.
        MissingExtraError: If Ray is not installed.
    """
    _check(address)
    ray: Any = require("ray", "ray")
    if ray.is_initialized():
        with _quiet():
            yield RayCluster(ray)
        return
    keepalive = {name: os.environ.get(name, value) for name, value in _KEEPALIVE.items()}
    with _environment(keepalive) if address else own_settings():
        try:
            _connect(ray, address, workers)
            with _quiet():
                yield RayCluster(ray)
        finally:
            ray.shutdown()


def _check(address: str | None) -> None:
    """Refuse what is no address, and one that nobody answers at."""
    if address is None or address == AUTO:
        return
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise InputError(
            f"{address!r} is no address of a Ray cluster; give host:port, as `ray start --head` "
            "prints it, or auto, on a machine that belongs to the cluster"
        )
    try:
        place = found["host"].strip("[]"), int(found["port"])
        socket.create_connection(place, _REACHED_S).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ClusterError(
            f"no Ray cluster answers at {address} ({reason}); check the address, and that `ray "
            "start --head` runs there"
        ) from error


def _connect(ray: Any, address: str | None, workers: int | None) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    if address is None:
        options |= {
            "num_cpus": workers or usable_cores(),
            "include_dashboard": False,
            "object_store_memory": _STORE_BYTES,
        }
    try:
        ray.init(address=address or "local", **options)
    except Exception as error:  # Ray's own errors share no other base class
        what = f"the Ray cluster at {address} cannot be used" if address else "Ray cannot start"
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        hint = (
            "; run `ray start --address=HOST:PORT` on this machine first, with --num-cpus=0 if it "
            "should not work itself; if the cluster asks for a token, set RAY_AUTH_MODE=token and "
            "RAY_AUTH_TOKEN"
            if address
            else ""
        )
        raise ClusterError(f"{what} ({reason}){hint}") from error


@contextmanager
def own_settings() -> Iterator[None]:
    """Settings for a cluster that this process starts, until the block ends.

    Nobody else has its token, which is not written anywhere, and it reports no usage. Its sockets,
    logs and spilled results lie in a folder that nobody else can open, and that goes with it: Ray's
    own folder can be written to by all users of the machine, and keeps the logs.
    """
    above = require("ray._common.utils", "ray").get_default_system_temp_dir()
    with (
        tempfile.TemporaryDirectory(prefix="sat-", dir=above, ignore_cleanup_errors=True) as folder,
        _environment({**_OWN, "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_TMPDIR": folder}),
    ):
        yield


@contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in settings}
    _set(settings)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    """Set or remove variables, and have Ray read them again, which it does only once by itself."""
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    compiled: Any = require("ray._raylet", "ray")
    compiled.Config.initialize("")
    compiled.AuthenticationTokenLoader.instance().reset_cache()


@contextmanager
def _quiet() -> Iterator[None]:
    """Send Ray's messages about lost workers and nodes to the log; it prints them on stdout."""
    worker: Any = require("ray._private.worker", "ray")
    printed = worker.print_to_stdstream

    def logged(data: Any, *_arguments: Any, **_options: Any) -> None:
        _log.info("%s", "\n".join(data.get("lines", ())))

    worker.print_to_stdstream = logged
    try:
        yield
    finally:
        worker.print_to_stdstream = printed
