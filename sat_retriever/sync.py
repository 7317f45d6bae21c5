"""Workbook files under some paths to the index: what is new, changed or gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from sat_retriever.folder import PASSING, Plan, ToRead, make_plan, scopes
from sat_retriever.links.claims import discover
from sat_retriever.store.sqlite import SqliteStore
from sat_retriever.store.write import SheetRow
from sat_retriever.types import SheetRecord, Skipped
from sat_retriever.workbook.read import Workbook, read_workbooks

# Encoding pays when texts come together; a kill loses no more than this many sheets.
_BATCH_SHEETS = 128
_BATCH_SECONDS = 2.0

Progress = Callable[[int, int, str], None]
MakeRows = Callable[[Sequence[SheetRecord]], list[SheetRow]]


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did, in workbooks unless said otherwise.

    Attributes:
        added: New ones, also those that gave no sheet.
        changed: Ones read anew because their content changed.
        unchanged: Ones left as they were.
        removed: Ones gone from under the given paths.
        ignored: Files that are no spreadsheets and not called like one.
        sheets: Sheets written.
        skipped: Files and sheets that gave no record, with the reason, by path.
        seconds: Wall time.
    """

    added: int
    changed: int
    unchanged: int
    removed: int
    ignored: int
    sheets: int
    skipped: tuple[Skipped, ...]
    seconds: float


def sync_paths(
    store: SqliteStore,
    paths: Sequence[Path],
    make_rows: MakeRows,
    *,
    examples: bool,
    verify: bool,
    password: str | None,
    workers: int | None,
    progress: Progress | None,
) -> SyncReport:
    """Read what is new or changed, replace it in the store, remove what is gone.

    Raises:
        PathNotFoundError: If a path does not exist.
    """
    start = time.monotonic()
    known = store.workbooks()
    named = scopes(paths, {state.root for state in known})
    plan = make_plan(
        named, known, verify=verify, password=password is not None, own=store.own_files
    )
    if plan.touched:
        store.touch_workbooks(plan.touched)
    if plan.removed:
        store.remove_workbooks(plan.removed)
    written, skipped = 0, list(plan.unlisted)
    for job in plan.refused:
        store.replace_workbook(job.state, (), superseded=job.superseded)
        skipped += job.state.skipped
    done = 0
    for batch in _batches(_read(plan, examples=examples, password=password, workers=workers)):
        rows = make_rows([record for _, book in batch for record in book.records])
        for job, book in batch:
            own, rows = rows[: len(book.records)], rows[len(book.records) :]
            clashes = _write(store, job, book, own)
            written += len(own) - len(clashes)
            skipped += [*book.skipped, *clashes]
            done += 1
            if progress:
                progress(done, len(plan.read), job.state.path)
    store.settle_families()
    come = (*plan.read, *plan.refused)
    added = sum(job.is_new for job in come)
    return SyncReport(
        added=added,
        changed=len(come) - added,
        unchanged=plan.unchanged,
        removed=len(plan.removed),
        ignored=plan.ignored,
        sheets=written,
        skipped=tuple(sorted(skipped, key=lambda skip: (skip.path, skip.sheet or ""))),
        seconds=time.monotonic() - start,
    )


def _read(
    plan: Plan, *, examples: bool, password: str | None, workers: int | None
) -> Generator[tuple[ToRead, Workbook]]:
    """The plan's workbooks as they come out of the reading processes."""
    jobs = {job.file: job for job in plan.read}
    books = read_workbooks(
        jobs,
        root=lambda path: jobs[path].root,
        examples=examples,
        password=password,
        workers=workers,
        formulas=False,
    )
    with closing(books):  # an interruption must not leave reading processes behind
        for book in books:
            yield jobs[book.path], book


def _batches(
    books: Iterator[tuple[ToRead, Workbook]],
) -> Iterator[list[tuple[ToRead, Workbook]]]:
    """Workbooks in groups of enough sheets to be encoded together."""
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


def _write(
    store: SqliteStore, job: ToRead, book: Workbook, rows: Sequence[SheetRow]
) -> tuple[Skipped, ...]:
    """Replace one workbook; the sheets left out because their id was taken."""
    if not job.is_new and _failed_for_now(book):
        # What was read last time is better than nothing. The store still knows the old
        # content, so the next sync finds the file changed and tries again.
        return ()
    state = replace(job.state, content_hash=book.content_hash, skipped=book.skipped)
    discovery = discover(book.records, book.references, book.structure, book.profiles)
    return store.replace_workbook(state, rows, discovery, job.superseded, job.left)


def _failed_for_now(book: Workbook) -> bool:
    return any(skip.reason in PASSING and skip.sheet is None for skip in book.skipped)
