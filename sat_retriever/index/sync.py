"""Workbook files under some paths to the index: what is new, changed or gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from sat_retriever.index.plan import PASSING, Plan, Scope, ToRead, make_plan, scopes
from sat_retriever.index.store.damage import NO_DAMAGE, Damage
from sat_retriever.index.store.sqlite import SqliteStore
from sat_retriever.index.store.write import SheetRow
from sat_retriever.links.claims import discover
from sat_retriever.records.sheets import SheetRecord, Skipped
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import DEFAULT_LIMITS, Workbook, read_workbooks

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
        skipped: Files and sheets that gave no record, or a partial one, with the reason, by
            path; those of unchanged workbooks, too.
        known: How many of these are of unchanged workbooks.
        repaired: Ones of which rows were damaged, found by verifying and rebuilt or removed.
        lost: What was damaged and cannot be rebuilt: names, each with the reason.
        seconds: Wall time.
    """

    added: int
    changed: int
    unchanged: int
    removed: int
    ignored: int
    sheets: int
    skipped: tuple[Skipped, ...]
    known: int
    repaired: int
    lost: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How a sync reads; see `SheetIndex.sync`.

    Attributes:
        examples: Whether records keep example cells.
        verify: Hash every file instead of trusting size and modification time, and check
            every row of the store.
        follow_links: Read links that lead outside all that was named.
        password: Opens encrypted workbooks.
        workers: Reading processes; all cores if None.
        limits: Bounds on one file in place of the usual ones.
        width: Token width d.
    """

    examples: bool
    verify: bool
    follow_links: bool
    password: str | None
    workers: int | None
    limits: Limits | None
    width: int


def sync_paths(
    store: SqliteStore,
    paths: Sequence[Path],
    make_rows: MakeRows,
    options: SyncOptions,
    progress: Progress | None,
) -> SyncReport:
    """Read what is new or changed, replace it in the store, remove what is gone.

    Raises:
        PathNotFoundError: If a path does not exist.
    """
    start = time.monotonic()
    damage = store.repair(options.width) if options.verify else NO_DAMAGE
    known = store.workbooks()
    named = scopes(paths, {state.root for state in known})
    named += _scopes_of(damage, named)
    plan = make_plan(
        named,
        known,
        verify=options.verify,
        follow_links=options.follow_links,
        password=options.password is not None,
        limits=options.limits is not None,
        own=store.own_files,
    )
    if plan.touched:
        store.touch_workbooks(plan.touched)
    if plan.removed:
        store.remove_workbooks(plan.removed)
    written, before = 0, [skip for state in plan.unchanged for skip in state.skipped]
    skipped = [*plan.unlisted, *before]
    for job in plan.refused:
        store.replace_workbook(job.state, (), superseded=job.superseded)
        skipped += job.state.skipped
    done = 0
    for batch in _batches(_read(plan, options)):
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
        unchanged=len(plan.unchanged),
        removed=len(plan.removed),
        ignored=plan.ignored,
        sheets=written,
        skipped=tuple(sorted(skipped, key=lambda skip: (skip.path, skip.sheet or ""))),
        known=len(before),
        repaired=len(damage.workbooks) - len(store.unrepaired(damage)),
        lost=_lost(store, damage),
        seconds=time.monotonic() - start,
    )


def _scopes_of(damage: Damage, named: Sequence[Scope]) -> list[Scope]:
    """The files of damaged workbooks that the named paths do not reach, where they are there."""
    files = [(Path(root), Path(root, path)) for _id, root, path in damage.workbooks]
    return [
        Scope(root, file, explicit=False)
        for root, file in files
        if file.is_file() and not any(file.is_relative_to(scope.path) for scope in named)
    ]


def _lost(store: SqliteStore, damage: Damage) -> tuple[str, ...]:
    """What was damaged and could not be rebuilt, each with the reason."""
    files = [Path(root, path) for root, path in store.unrepaired(damage)]
    given = [(source, target) for source, target, is_given in damage.links if is_given]
    return (
        *(f"{file}: {'not read' if file.exists() else 'its file is gone'}" for file in files),
        *(f"{sheet_id}: it has no file, add it again" for sheet_id in damage.alone),
        *(f"a given link of {source} to {target}: add it again" for source, target in given),
    )


def _read(plan: Plan, options: SyncOptions) -> Generator[tuple[ToRead, Workbook]]:
    """The plan's workbooks as they come out of the reading processes."""
    jobs = {job.file: job for job in plan.read}
    books = read_workbooks(
        jobs,
        root=lambda path: jobs[path].root,
        examples=options.examples,
        password=options.password,
        within=lambda path: jobs[path].within,
        workers=options.workers,
        limits=options.limits or DEFAULT_LIMITS,
        formulas=False,
    )
    with closing(books):  # an interruption must not leave reading processes behind
        yield from _in_turn(plan, ((jobs[book.path], book) for book in books))


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
    """Whether nothing was read of a workbook for a reason that may pass."""
    passing = any(skip.reason in PASSING and skip.sheet is None for skip in book.skipped)
    return passing and not book.records
