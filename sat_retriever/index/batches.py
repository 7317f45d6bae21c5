"""Workbooks of a plan, read in other processes and handed on in batches to be encoded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sat_retriever.index.plan import Plan, ToRead
from sat_retriever.records.privacy import Privacy
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import DEFAULT_LIMITS, Workbook, read_workbooks

# Encoding pays when texts come together; a kill loses no more than this many sheets.
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
    """The plan's workbooks as they are read, in groups of enough sheets to be encoded together.

    Args:
        plan: What to read.
        privacy: What records keep of cells.
        password: Opens encrypted workbooks.
        workers: Reading processes; all cores if None.
        limits: Bounds on one file; None for the usual ones.
    """
    jobs = {job.file: job for job in plan.read}
    books = read_workbooks(
        jobs,
        root=lambda path: jobs[path].root,
        contents=privacy.contents,
        skip_columns=privacy.skip_columns,
        password=password,
        within=lambda path: jobs[path].within,
        workers=workers,
        limits=limits or DEFAULT_LIMITS,
        formulas=False,
    )
    with closing(books):  # an interruption must not leave reading processes behind
        yield from _grouped(_in_turn(plan, ((jobs[book.path], book) for book in books)))


def _in_turn(
    plan: Plan, books: Iterator[tuple[ToRead, Workbook]]
) -> Iterator[tuple[ToRead, Workbook]]:
    """The workbooks as they come, but those of one path in several folders in the plan's order.

    Their sheets may have the same ids: which of them is kept must not depend on which was
    read first.
    """
    turns: dict[str, list[Path]] = {}
    for job in plan.read:
        turns.setdefault(job.state.path, []).append(job.file)
    held: dict[Path, tuple[ToRead, Workbook]] = {}
    for job, book in books:
        held[job.file] = job, book
        turn = turns[job.state.path]
        while turn and turn[0] in held:
            yield held.pop(turn.pop(0))


def _grouped(
    books: Iterator[tuple[ToRead, Workbook]],
) -> Iterator[list[tuple[ToRead, Workbook]]]:
    """Workbooks in groups of enough sheets or seconds."""
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
