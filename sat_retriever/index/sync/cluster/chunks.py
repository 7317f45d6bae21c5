"""Divide the workbooks of a sync into the claims of single tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sat_retriever.index.sync.steps import ToRead

_MOST_FILES = 16
_MOST_BYTES = 4 << 20
_PER_CORE = 8  # chunks, so that cores finish at about the same time


@dataclass(slots=True)
class Chunk:
    """Workbooks that one task claims.

    Attributes:
        jobs: The workbooks.
        crashes: Number of workers that died while they read it alone.
        losses: Number of nodes and actors that were lost with it.
        check: True to read only files that look as they do on this machine.
        held: Bytes of its results that are not stored yet.
    """

    jobs: tuple[ToRead, ...]
    crashes: int = 0
    losses: int = 0
    check: bool = True
    held: int = 0

    def apart(self) -> list[Chunk]:
        """Return one chunk for each workbook."""
        return [Chunk((job,), self.crashes, self.losses, self.check) for job in self.jobs]


def chunks(jobs: Sequence[ToRead], cores: int) -> Iterator[Chunk]:
    """Yield the workbooks in order, several small ones or one large one at a time.

    Args:
        jobs: The workbooks.
        cores: Number of tasks that run at the same time.
    """
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
