"""Read and encode for a sync: the interface of an executor, and the one of this machine."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Protocol

from sat_retriever.index.settings import IndexState
from sat_retriever.index.sync.encoding import (
    EncodedWorkbook,
    LinkedWorkbook,
    encoded_workbooks,
    linked,
)
from sat_retriever.index.sync.file_check import FileCheck, MetFile, check_here
from sat_retriever.index.sync.sync_plan import ToRead
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import ReadOptions, Workbook, read_files
from sat_retriever.workbook.remote.file import RemoteFile

Done = tuple[ToRead, EncodedWorkbook]
# Texts are encoded faster together; a kill loses at most this many sheets.
BATCH_SHEETS = 128
_BATCH_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Work:
    """How the workbooks of a sync are read and encoded."""

    state: IndexState  # the form of a record's text, and the encoder
    reading: ReadOptions
    limits: Limits
    workers: int | None  # most workbooks that are read at the same time; None takes one per core


class Executor(Protocol):
    """Checks files, and reads, links and encodes workbooks; the caller stores them."""

    def check_files(self, met: Sequence[MetFile], *, verify: bool) -> Iterable[FileCheck]:
        """Return the result of `check_file` for each file, in order."""
        ...

    def prepare(self, jobs: Sequence[ToRead], work: Work) -> Generator[Done]:
        """Yield every workbook once, in order of completion.

        Closing the iterator, or an exception in the loop over it, ends all work on the rest.

        Raises:
            InputError: If a record has a value that cannot be stored.
            EncoderError: If the encoder cannot be loaded, or fails.
        """
        ...


class ThisMachine:
    """The executor that needs no other machine: reading processes, and the encoder in this one."""

    def check_files(self, met: Sequence[MetFile], *, verify: bool) -> Iterator[FileCheck]:
        """Check files; see `Executor`."""
        return check_here(met, verify=verify)

    def prepare(self, jobs: Sequence[ToRead], work: Work) -> Generator[Done]:
        """Yield every workbook once; see `Executor`."""
        books = books_of(jobs, work.reading, work.limits, work.workers)
        with closing(books):
            for group in _grouped((job, linked(book)) for job, book in books):
                done = encoded_workbooks([found for _, found in group], work.state)
                yield from zip((job for job, _ in group), done, strict=True)


def books_of(
    jobs: Sequence[ToRead], reading: ReadOptions, limits: Limits, workers: int | None
) -> Generator[tuple[ToRead, Workbook]]:
    """Yield the workbooks of some jobs in order of completion; records have their URL, if any.

    Closing the iterator ends the reading processes, of which there are `workers`, or one per core.
    """
    by_file = {job.file: job for job in jobs}
    books = read_files(by_file, reading, limits=limits, workers=workers)
    with closing(books):  # an interruption must not leave reading processes behind
        for file, book in books:
            if isinstance(file, RemoteFile):
                placed = tuple(replace(each, url=file.url) for each in book.records)
                yield by_file[file], replace(book, records=placed)
            else:
                yield by_file[file], book


def _grouped(
    books: Iterator[tuple[ToRead, LinkedWorkbook]],
) -> Iterator[list[tuple[ToRead, LinkedWorkbook]]]:
    """Yield workbooks in groups of enough sheets or seconds."""
    batch: list[tuple[ToRead, LinkedWorkbook]] = []
    sheets, since = 0, time.monotonic()
    for job, book in books:
        batch.append((job, book))
        sheets += len(book.records)
        if sheets >= BATCH_SHEETS or time.monotonic() - since > _BATCH_SECONDS:
            yield batch
            batch, sheets, since = [], 0, time.monotonic()
    if batch:
        yield batch
