"""Read the workbooks of a plan in other processes, and group them into batches to encode."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from sat_retriever.index.steps import Plan, ToRead
from sat_retriever.records.privacy import Privacy
from sat_retriever.remote.objects import RemoteFile
from sat_retriever.workbook.files import LocalFile
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import DEFAULT_LIMITS, ReadOptions, Workbook, read_files

# Texts are encoded faster together; a kill loses at most this many sheets.
_BATCH_SHEETS = 128
_BATCH_SECONDS = 2.0


def batches(
    plan: Plan,
    privacy: Privacy,
    *,
    password: str | None,
    workers: int | None,
    limits: Limits | None,
) -> Iterator[list[tuple[ToRead, Workbook]]]:
    """Yield the plan's workbooks as they are read, in groups large enough to encode together.

    Args:
        plan: The plan.
        privacy: What records keep of the cells.
        password: Password of encrypted workbooks.
        workers: Reading processes; None takes all cores.
        limits: Bounds on one file; None takes the default ones.
    """
    jobs = {job.file: job for job in plan.read}
    options = ReadOptions(privacy, formulas=False, links=True, password=password)
    books = read_files(jobs, options, limits=limits or DEFAULT_LIMITS, workers=workers)
    with closing(books):  # an interruption must not leave reading processes behind
        yield from _grouped(
            _in_turn(plan, ((jobs[file], _placed(file, book)) for file, book in books))
        )


def _placed(file: LocalFile | RemoteFile, book: Workbook) -> Workbook:
    """Return a workbook whose records have its URL, if it has one."""
    if isinstance(file, LocalFile):
        return book
    return replace(book, records=tuple(replace(each, url=file.url) for each in book.records))


def _in_turn(
    plan: Plan, books: Iterator[tuple[ToRead, Workbook]]
) -> Iterator[tuple[ToRead, Workbook]]:
    """Yield the workbooks as they come, but those of one path in the plan's order of folders.

    Their sheets may have the same ids, and the reading order must not decide which one is kept.
    """
    turns: dict[str, list[LocalFile | RemoteFile]] = {}
    for job in plan.read:
        turns.setdefault(job.state.path, []).append(job.file)
    held: dict[LocalFile | RemoteFile, tuple[ToRead, Workbook]] = {}
    for job, book in books:
        held[job.file] = job, book
        turn = turns[job.state.path]
        while turn and turn[0] in held:
            yield held.pop(turn.pop(0))


def _grouped(
    books: Iterator[tuple[ToRead, Workbook]],
) -> Iterator[list[tuple[ToRead, Workbook]]]:
    """Yield workbooks in groups of enough sheets or seconds."""
    batch: list[tuple[ToRead, Workbook]] = []
    sheets, since = 0, time.monotonic()
    for job, book in books:
        batch.append((job, book))
        sheets += len(book.records)
        if sheets >= _BATCH_SHEETS or time.monotonic() - since > _BATCH_SECONDS:
            yield batch
            batch, sheets, since = [], 0, time.monotonic()
    if batch:
        yield batch
