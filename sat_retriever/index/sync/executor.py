"""The seam between a sync and the processes that read and encode for it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sat_retriever.index.state import IndexState
from sat_retriever.index.sync.looking import Look, Met
from sat_retriever.index.sync.prepared import Prepared
from sat_retriever.index.sync.steps import ToRead
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import ReadOptions

Done = tuple[ToRead, Prepared]


@dataclass(frozen=True, slots=True)
class Work:
    """How the workbooks of a sync are read and encoded.

    Attributes:
        state: The form of a record's text, and the encoder.
        reading: What is read of every workbook.
        limits: Bounds on one file.
        workers: Most workbooks that are read at the same time; None takes one per core.
    """

    state: IndexState
    reading: ReadOptions
    limits: Limits
    workers: int | None


class Executor(Protocol):
    """Looks at files, and reads, links and encodes workbooks; the caller stores them."""

    def looks(self, met: Sequence[Met], *, verify: bool) -> Iterable[Look]:
        """Return the result of `look` for each file, in order."""
        ...

    def prepare(self, jobs: Sequence[ToRead], work: Work) -> Generator[Done]:
        """Yield every workbook once, in order of completion.

        Closing the iterator, or an exception in the loop over it, ends all work on the rest.

        Raises:
            InputError: If a record has a value that cannot be stored.
            EncoderError: If the encoder cannot be loaded, or fails.
        """
        ...
