"""Read workbooks in processes of this machine, and encode them here in groups."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from sat_retriever.index.sync.executor import Done, Work
from sat_retriever.index.sync.looking import Look, Met, looks_here
from sat_retriever.index.sync.prepared import Found, found_in, prepared
from sat_retriever.index.sync.steps import ToRead
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import LocalFile, ReadOptions, Workbook, read_files
from sat_retriever.workbook.remote.file import RemoteFile

# Texts are encoded faster together; a kill loses at most this many sheets.
BATCH_SHEETS = 128
_BATCH_SECONDS = 2.0


class ThisMachine:
    """The executor that needs no other machine: reading processes, and the encoder in this one."""

    def looks(self, met: Sequence[Met], *, verify: bool) -> Iterator[Look]:
        """Look at files; see `Executor`."""
        return looks_here(met, verify=verify)

    def prepare(self, jobs: Sequence[ToRead], work: Work) -> Generator[Done]:
        """Yield every workbook once; see `Executor`."""
        books = books_of(jobs, work.reading, work.limits, work.workers)
        with closing(books):
            for group in _grouped((job, found_in(book)) for job, book in books):
                done = prepared([found for _, found in group], work.state)
                yield from zip((job for job, _ in group), done, strict=True)


def books_of(
    jobs: Sequence[ToRead], reading: ReadOptions, limits: Limits, workers: int | None
) -> Generator[tuple[ToRead, Workbook]]:
    """Yield the workbooks of some jobs in order of completion; records have their URL, if any.

    Closing the iterator ends the reading processes.

    Args:
        jobs: The jobs.
        reading: What is read of every workbook.
        limits: Bounds on one file.
        workers: Reading processes; None takes all cores.
    """
    by_file = {job.file: job for job in jobs}
    books = read_files(by_file, reading, limits=limits, workers=workers)
    with closing(books):  # an interruption must not leave reading processes behind
        for file, book in books:
            yield by_file[file], _placed(file, book)


def _placed(file: LocalFile | RemoteFile, book: Workbook) -> Workbook:
    if isinstance(file, LocalFile):
        return book
    return replace(book, records=tuple(replace(each, url=file.url) for each in book.records))


def _grouped(books: Iterator[tuple[ToRead, Found]]) -> Iterator[list[tuple[ToRead, Found]]]:
    """Yield workbooks in groups of enough sheets or seconds."""
    batch: list[tuple[ToRead, Found]] = []
    sheets, since = 0, time.monotonic()
    for job, book in books:
        batch.append((job, book))
        sheets += len(book.records)
        if sheets >= BATCH_SHEETS or time.monotonic() - since > _BATCH_SECONDS:
            yield batch
            batch, sheets, since = [], 0, time.monotonic()
    if batch:
        yield batch
