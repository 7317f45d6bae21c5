"""Divide the workbooks of a run into chunks, and decide which ones to try again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sat_retriever.errors import ClusterError, SatError
from sat_retriever.index.sync.cluster.node import cores_of
from sat_retriever.index.sync.executor import Done
from sat_retriever.index.sync.sync_plan import ToRead
from sat_retriever.records.sheets import Skipped, SkipReason

_MOST_FILES = 16
_MOST_BYTES = 4 << 20
_PER_CORE = 8  # chunks, so that cores finish at about the same time
_CRASHES = 3  # workers that one workbook may end
_LOSSES = 20  # nodes and actors that may be lost with one workbook


@dataclass(slots=True)
class Chunk:
    """Workbooks that one task claims."""

    jobs: tuple[ToRead, ...]
    crashes: int = 0  # number of workers that died while they read it alone
    losses: int = 0  # number of nodes and actors that were lost with it
    check: bool = True  # true to read only files that look as they do on this machine
    held: int = 0  # bytes of its results that are not stored yet

    def apart(self) -> list[Chunk]:
        """One chunk for each workbook."""
        return [Chunk((job,), self.crashes, self.losses, self.check) for job in self.jobs]


def chunks(jobs: Sequence[ToRead], cores: int) -> Iterator[Chunk]:
    """Yield the workbooks in order, several small ones or one large one at a time."""
    most = min(_MOST_FILES, max(1, len(jobs) // (_PER_CORE * cores)))
    part: list[ToRead] = []
    size = 0
    for job in jobs:
        if part and (len(part) == most or size + job.state.size > _MOST_BYTES):
            yield Chunk(tuple(part))
            part, size = [], 0
        part.append(job)
        size += job.state.size
    if part:
        yield Chunk(tuple(part))


class Failures:
    """The rules by which workbooks are tried again."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        known = ray.exceptions
        self._of_actors = (known.RayActorError, known.ActorUnschedulableError)
        self._of_nodes = (known.NodeDiedError, known.ObjectLostError, *self._of_actors)
        self._of_workers = (known.WorkerCrashedError, known.OutOfMemoryError)

    def is_of_actor(self, error: Exception) -> bool:
        """True if an actor is gone, or its node is."""
        return isinstance(error, self._of_actors)

    def after(self, chunk: Chunk, error: Exception) -> tuple[list[Chunk], list[Done]]:
        """The chunks to try again after an error of Ray, and the workbooks that are given up.

        A lost node is no fault of a workbook. A lost worker may be: its workbooks are tried again
        one by one, and one that ends three workers is skipped as one that ends its reading process
        is on any machine. Raises `ClusterError` if nothing can be tried again, and an error of this
        package that a node raised.
        """
        if isinstance(error, self._of_nodes):
            self._refuse_endless(chunk, error)
            return [chunk], []
        if isinstance(error, self._of_workers):
            if len(chunk.jobs) > 1:
                return chunk.apart(), []
            chunk.crashes += 1
            if chunk.crashes < _CRASHES:
                return [chunk], []
            return [], [self._given_up(chunk.jobs[0], error)]
        cause = getattr(error, "cause", None)
        if isinstance(cause, self._ray.exceptions.RayError):  # met by a call that needed its result
            return self.after(chunk, cause)
        if isinstance(cause, (SatError, OSError)):
            raise cause from None
        raise ClusterError(f"the Ray cluster failed: {_first_line(cause or error)}") from error

    def _refuse_endless(self, chunk: Chunk, error: Exception) -> None:
        """Count a loss, and refuse to go on without cores or after very many of them."""
        chunk.losses += 1
        cores_of(self._ray)
        if chunk.losses >= _LOSSES:
            raise ClusterError(
                f"{_LOSSES} nodes or encoders were lost with the same workbooks, lastly by: "
                f"{_first_line(error)}"
            ) from error

    def _given_up(self, job: ToRead, error: Exception) -> Done:
        memory = isinstance(error, self._ray.exceptions.OutOfMemoryError)
        reason = SkipReason.OUT_OF_MEMORY if memory else SkipReason.READER_CRASHED
        why = "for lack of memory " if memory else ""
        message = f"{_CRASHES} workers of the cluster ended {why}while they read it; the file may "
        skipped = Skipped(job.state.path, reason, f"{message}be hostile.")
        return job, replace(job.book, state=replace(job.state, skipped=(skipped,)))


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
