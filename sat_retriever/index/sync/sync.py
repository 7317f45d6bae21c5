"""Bring the index in line with the workbook files under some paths."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sat_retriever.encoder.cost import Cost
from sat_retriever.index.permissions import Permissions, granted
from sat_retriever.index.state import IndexState
from sat_retriever.index.store.damage import NO_DAMAGE, Damage
from sat_retriever.index.store.rows import NewWorkbook, SheetRow, WorkbookState
from sat_retriever.index.store.store import Store
from sat_retriever.index.sync.changes import PASSING
from sat_retriever.index.sync.executor import Done, Executor, Work
from sat_retriever.index.sync.plan import make_plan
from sat_retriever.index.sync.prepared import Prepared
from sat_retriever.index.sync.remoteplan import (
    Listed,
    RemoteScope,
    make_remote_plan,
    remote_scopes,
    scope_of_file,
)
from sat_retriever.index.sync.scopes import Scope, is_in, scopes
from sat_retriever.index.sync.steps import Plan, ToRead
from sat_retriever.index.sync.storing import Storing
from sat_retriever.records.formats import FLAT_EXTENSIONS, extension_of
from sat_retriever.records.progress import PathProgress
from sat_retriever.records.sheets import Skipped
from sat_retriever.workbook.files import LocalFile
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import DEFAULT_LIMITS, ReadOptions
from sat_retriever.workbook.remote.objects import RemoteFile
from sat_retriever.workbook.remote.url import Named, is_url, joined

_REMOVED = 256  # workbooks removed in one transaction; a database has so many locks


@dataclass(frozen=True, slots=True)
class SyncReport:
    """The result of a sync.

    Attributes:
        added: Number of new workbooks, including those that gave no sheet.
        changed: Number of workbooks that were read again.
        unchanged: Number of workbooks that stayed as they were.
        removed: Number of workbooks that no longer exist under the given paths.
        ignored: Number of files that are not spreadsheets and not named like one.
        sheets: Number of sheets that were written.
        skipped: Files and sheets that gave no record, or a partial one, with the reason, by path,
            including those of unchanged workbooks.
        known: Number of entries of `skipped` that belong to unchanged workbooks.
        repaired: Number of workbooks with damaged rows that were rebuilt or removed.
        lost: Names of damaged items that cannot be rebuilt, each with the reason.
        seconds: Wall time.
        cost: Work of an `EmbeddingEncoder`; None if it had none, or the encoder is another.
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
    cost: Cost | None


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """Options of a sync; see `SheetIndex.sync`.

    Attributes:
        verify: Hash every file instead of trusting size and modification time, check every row
            of the store, and take out the words of deleted sheets.
        follow_links: Read links that lead outside all named places.
        password: Password of encrypted workbooks.
        encoding: Python's name of the encoding of delimited files; empty to find it in each.
        workers: Reading processes; None takes all cores.
        limits: Bounds on one file in place of the default ones.
        executor: Looks at files, reads and encodes.
    """

    verify: bool
    follow_links: bool
    password: str | None
    encoding: str
    workers: int | None
    limits: Limits | None
    executor: Executor


def sync_paths(
    store: Store,
    state: IndexState,
    paths: Sequence[Named],
    options: SyncOptions,
    progress: PathProgress | None,
    listed: Listed | None = None,
    permissions: Permissions | None = None,
) -> SyncReport:
    """Read new and changed workbooks into the store, and remove missing ones.

    Raises:
        PathNotFoundError: If a path does not exist, or there is nothing at a URL.
        RemoteError: If a URL cannot be listed.
    """
    start, cost = time.monotonic(), state.cost or Cost()
    damage = store.repair(state.settings.width) if options.verify else NO_DAMAGE
    plan = _plan(store, paths, options, damage, listed)
    if plan.touched:
        store.touch_workbooks(plan.touched)
    for first in range(0, len(plan.removed), _REMOVED):
        store.remove_workbooks(plan.removed[first : first + _REMOVED])
    _refuse(store, plan)
    sheets, read_skips = _read(store, state, plan, options, progress, permissions)
    store.settle()
    if options.verify:
        store.forget_words()
    before = [skip for known in plan.unchanged for skip in known.skipped]
    refused = [skip for job in plan.refused for skip in job.state.skipped]
    skipped = [*plan.unlisted, *before, *refused, *read_skips]
    come = (*plan.read, *plan.refused)
    added = sum(job.is_new for job in come)
    return SyncReport(
        added=added,
        changed=len(come) - added,
        unchanged=len(plan.unchanged),
        removed=len(plan.removed),
        ignored=plan.ignored,
        sheets=sheets,
        skipped=tuple(sorted(skipped, key=lambda skip: (skip.path, skip.sheet or ""))),
        known=len(before),
        repaired=len(damage.workbooks) - len(store.unrepaired(damage)),
        lost=_lost(store, damage),
        seconds=time.monotonic() - start,
        cost=state.cost.since(cost) if state.cost and sheets else None,
    )


def _plan(
    store: Store,
    paths: Sequence[Named],
    options: SyncOptions,
    damage: Damage,
    listed: Listed | None,
) -> Plan:
    """Plan the named paths and URLs, and damaged workbooks wherever they are."""
    known = [_to_decode(state) if options.encoding else state for state in store.workbooks()]
    roots = {state.root for state in known}
    named = scopes([Path(path) for path in paths if not is_url(path)], roots)
    urls = remote_scopes([str(path) for path in paths if is_url(path)], roots)
    named += _scopes_of(damage, named)
    urls += _remote_scopes_of(damage, urls)
    again = {
        "verify": options.verify,
        "password": options.password is not None,
        "limits": options.limits is not None,
    }
    plan = make_plan(
        named,
        known,
        follow_links=options.follow_links,
        own=store.own_files,
        looks=options.executor.looks,
        **again,
    )
    if not urls:
        return plan
    most = (options.limits or DEFAULT_LIMITS).file_bytes
    return plan.with_more(make_remote_plan(urls, known, most_bytes=most, listed=listed, **again))


def _to_decode(state: WorkbookState) -> WorkbookState:
    """The state of a workbook, as one to read again if it is a delimited file."""
    flat = extension_of(state.path.rpartition("/")[2]) in FLAT_EXTENSIONS
    return replace(state, mtime_ns=-1, content_hash="") if flat else state


def _read(
    store: Store,
    state: IndexState,
    plan: Plan,
    options: SyncOptions,
    progress: PathProgress | None,
    permissions: Permissions | None,
) -> tuple[int, list[Skipped]]:
    """Read and write the plan's workbooks; return the sheets written, and the skipped parts."""
    privacy = state.settings.privacy
    reading = ReadOptions(
        privacy,
        formulas=False,
        links=True,
        password=options.password,
        encoding=options.encoding,
    )
    work = Work(state, reading, options.limits or DEFAULT_LIMITS, options.workers)
    done, sheets = 0, 0
    skipped: list[Skipped] = []

    def stored(job: ToRead, book: Prepared, clashes: tuple[Skipped, ...]) -> None:
        nonlocal done, sheets
        sheets += len(book.rows) - len(clashes)
        skipped.extend((*book.skipped, *clashes))
        done += 1
        if progress:
            progress(done, len(plan.read), job.state.path)

    storing = Storing(store)
    with closing(options.executor.prepare(plan.read, work)) as books:
        try:
            for job, book in _in_turn(plan, books):
                if not job.is_new and _failed_for_now(book):
                    # The earlier content is better than none. The store still has its old state,
                    # so the next sync finds the file changed and tries again.
                    stored(job, book, ())
                else:
                    file = (job.state.root, job.state.path)
                    rows = granted(book.rows, permissions, file)
                    storing.add(_new(job, book, rows), partial(stored, job, book))
        finally:  # an interruption loses no workbook that is ready
            storing.flush()
    return sheets, skipped


def _new(job: ToRead, book: Prepared, rows: Sequence[SheetRow]) -> NewWorkbook:
    state = replace(job.state, content_hash=book.content_hash, skipped=book.skipped)
    return NewWorkbook(state, rows, book.discovery, job.superseded, job.left)


def _refuse(store: Store, plan: Plan) -> None:
    """Store the states of the files that are not read."""
    storing = Storing(store)
    for job in plan.refused:
        storing.add(NewWorkbook(job.state, superseded=job.superseded), lambda _: None)
    storing.flush()


def _in_turn(plan: Plan, books: Iterator[Done]) -> Iterator[Done]:
    """Yield the workbooks as they come, but those of one path in the plan's order of folders.

    Their sheets may have the same ids, and the reading order must not decide which one is kept.
    """
    turns: dict[str, list[LocalFile | RemoteFile]] = {}
    for job in plan.read:
        turns.setdefault(job.state.path, []).append(job.file)
    held: dict[LocalFile | RemoteFile, Done] = {}
    for job, book in books:
        held[job.file] = job, book
        turn = turns[job.state.path]
        while turn and turn[0] in held:
            yield held.pop(turn.pop(0))


def _scopes_of(damage: Damage, named: Sequence[Scope]) -> list[Scope]:
    """Return scopes of existing files of damaged workbooks outside the named paths."""
    local = [each for each in damage.workbooks if not is_url(each[1])]
    files = [(Path(root), Path(root, path)) for _id, root, path in local]
    return [
        Scope(root, file, explicit=False)
        for root, file in files
        if file.is_file() and not any(file.is_relative_to(scope.path) for scope in named)
    ]


def _remote_scopes_of(damage: Damage, named: Sequence[RemoteScope]) -> list[RemoteScope]:
    """Return scopes of existing files of damaged workbooks outside the named URLs."""
    places = [scope.url for scope in named]
    files = [(root, joined(root, path)) for _id, root, path in damage.workbooks if is_url(root)]
    found = [scope_of_file(root, url) for root, url in files if not is_in(url, places)]
    return [scope for scope in found if scope is not None]


def _lost(store: Store, damage: Damage) -> tuple[str, ...]:
    """Return names of damaged items that could not be rebuilt, each with the reason."""
    places = [(root, joined(root, path)) for root, path in store.unrepaired(damage)]
    given = [(source, target) for source, target, is_given in damage.links if is_given]
    return (
        *(
            f"{place}: {'not read' if is_url(root) or Path(place).exists() else 'its file is gone'}"
            for root, place in places
        ),
        *(f"{sheet_id}: it has no file, add it again" for sheet_id in damage.alone),
        *(f"a given link of {source} to {target}: add it again" for source, target in given),
    )


def _failed_for_now(book: Prepared) -> bool:
    """True if no sheet of a workbook was read, for a reason that may pass."""
    passing = any(skip.reason in PASSING and skip.sheet is None for skip in book.skipped)
    return passing and not book.rows
