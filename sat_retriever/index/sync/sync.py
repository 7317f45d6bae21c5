"""Bring the index in line with the workbook files under some paths."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sat_retriever.encoder.embedder import Cost
from sat_retriever.errors import InputError
from sat_retriever.index.permissions import Permissions, granted
from sat_retriever.index.settings import IndexState
from sat_retriever.index.store.damage import NO_DAMAGE, Damage
from sat_retriever.index.store.rows import NewWorkbook, WorkbookState
from sat_retriever.index.store.store import Store
from sat_retriever.index.sync.executor import BATCH_SHEETS, Done, Executor, Work
from sat_retriever.index.sync.file_check import PASSING, tried_again
from sat_retriever.index.sync.local_plan import Scope, make_local_plan, scopes
from sat_retriever.index.sync.remote_plan import (
    RemoteScope,
    make_remote_plan,
    remote_scopes,
    scope_of_file,
)
from sat_retriever.index.sync.sync_plan import Plan, ToRead, is_in
from sat_retriever.links.claims import Discovery
from sat_retriever.records.formats import FLAT_EXTENSIONS, extension_of
from sat_retriever.records.progress import OnListed, PartProgress, PathProgress
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.read import DEFAULT_LIMITS, LocalFile, ReadOptions
from sat_retriever.workbook.remote.file import RemoteFile
from sat_retriever.workbook.remote.url import Named, is_url, joined

_REMOVED = 256  # workbooks removed in one transaction; a database has so many locks
_MOST_WORKBOOKS = 64  # workbooks of a transaction
_BATCH_SECONDS = 2.0
OnStored = Callable[[tuple[Skipped, ...]], None]  # is given the sheets that were left out


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

    To verify also checks every row of the store, and takes out the words of deleted sheets. Without
    an encoding (empty) it is found in each delimited file.
    """

    verify: bool
    follow_links: bool
    password: str | None
    encoding: str
    workers: int | None
    limits: Limits | None
    executor: Executor
    parts: PartProgress | None


def sync_paths(
    store: Store,
    state: IndexState,
    paths: Sequence[Named],
    options: SyncOptions,
    progress: PathProgress | None,
    listed: OnListed | None = None,
    permissions: Permissions | None = None,
) -> SyncReport:
    """Read new and changed workbooks into the store, and remove missing ones."""
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
    listed: OnListed | None,
) -> Plan:
    known = [_to_decode(state) if options.encoding else state for state in store.workbooks()]
    roots = {state.root for state in known}
    named = scopes([Path(path) for path in paths if not is_url(path)], roots)
    urls = remote_scopes([str(path) for path in paths if is_url(path)], roots)
    named += _scopes_of(damage, named)
    urls += _remote_scopes_of(damage, urls)
    verify = options.verify
    again = tried_again(
        verify=verify,
        password=options.password is not None,
        limits=options.limits is not None,
    )
    plan = make_local_plan(
        named,
        known,
        again=again,
        verify=verify,
        follow_links=options.follow_links,
        own=store.own_files,
        check_files=options.executor.check_files,
        listed=listed,
    )
    if not urls:
        return plan
    most = (options.limits or DEFAULT_LIMITS).file_bytes
    more = make_remote_plan(urls, known, most_bytes=most, again=again, verify=verify, listed=listed)
    return plan.with_more(more)


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
    privacy, password = state.settings.privacy, options.password
    reading = ReadOptions(privacy, formulas=False, password=password, encoding=options.encoding)
    limits = options.limits or DEFAULT_LIMITS
    work = Work(state, reading, limits, options.workers, options.parts)
    done, sheets = 0, 0
    skipped: list[Skipped] = []

    def stored(job: ToRead, book: NewWorkbook, clashes: tuple[Skipped, ...]) -> None:
        nonlocal done, sheets
        sheets += len(book.rows) - sum(each.sheet is not None for each in clashes)
        skipped.extend((*book.state.skipped, *clashes))
        done += 1
        if progress:
            progress(done, len(plan.read), job.state.path)

    if progress and plan.read:
        progress(0, len(plan.read), "")
    storing = Storing(store)
    with closing(options.executor.prepare(plan.read, work)) as books:
        try:
            for job, book in _in_turn(plan, books):
                if not job.is_new and _failed_for_now(book):
                    # The earlier content is better than none. The store still has its old state,
                    # so the next sync finds the file changed and tries again.
                    stored(job, book, ())
                else:
                    place = (book.state.root, book.state.path)
                    rows = granted(book.rows, permissions, place)
                    storing.add(replace(book, rows=rows), partial(stored, job, book))
        finally:  # an interruption loses no workbook that is ready
            storing.flush()
    return sheets, skipped


def _refuse(store: Store, plan: Plan) -> None:
    storing = Storing(store)
    for job in plan.refused:
        storing.add(job.book, lambda _: None)
    storing.flush()


def _in_turn(plan: Plan, books: Iterator[Done]) -> Iterator[Done]:
    """Yield the workbooks as they come, but those of one path in the plan's order of folders.

    Their sheets may have the same ids, and the reading order must not decide which one is kept.
    """
    turns: dict[str, list[LocalFile | RemoteFile]] = {}
    for job in plan.read:
        turns.setdefault(job.state.path, []).append(job.file)
    pending: dict[LocalFile | RemoteFile, Done] = {}
    for job, book in books:
        pending[job.file] = job, book
        turn = turns[job.state.path]
        while turn and turn[0] in pending:
            yield pending.pop(turn.pop(0))


def _scopes_of(damage: Damage, named: Sequence[Scope]) -> list[Scope]:
    """Scopes of existing files of damaged workbooks outside the named paths."""
    local = [each for each in damage.workbooks if not is_url(each[1])]
    files = [(Path(root), Path(root, path)) for _id, root, path in local]
    return [
        Scope(root, file, explicit=False)
        for root, file in files
        if file.is_file() and not any(file.is_relative_to(scope.path) for scope in named)
    ]


def _remote_scopes_of(damage: Damage, named: Sequence[RemoteScope]) -> list[RemoteScope]:
    places = [scope.url for scope in named]
    files = [(root, joined(root, path)) for _id, root, path in damage.workbooks if is_url(root)]
    found = [scope_of_file(root, url) for root, url in files if not is_in(url, places)]
    return [scope for scope in found if scope is not None]


def _lost(store: Store, damage: Damage) -> tuple[str, ...]:
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


def _failed_for_now(book: NewWorkbook) -> bool:
    """True if no sheet of a workbook was read, for a reason that may pass."""
    passing = any(skip.reason in PASSING and skip.sheet is None for skip in book.state.skipped)
    return passing and not book.rows


class Storing:
    """Workbooks on their way into a store; none counts as stored before its transaction ends.

    The result is that of storing one after the other: a transaction never has two workbooks whose
    order matters.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: list[tuple[NewWorkbook, OnStored]] = []
        self._names: set[str] = set()  # paths and sheet ids of those that are pending
        self._sheets = 0
        self._since = 0.0

    def add(self, book: NewWorkbook, on_stored: OnStored) -> None:
        """Store a workbook now or with those that follow; `on_stored` is called afterwards."""
        names = {book.state.path, *(row.record.sheet_id for row in book.rows)}
        if not self._names.isdisjoint(names):
            self.flush()
        if not self._pending:
            self._since = time.monotonic()
        self._pending.append((book, on_stored))
        self._names |= names
        self._sheets += len(book.rows)
        late = time.monotonic() - self._since > _BATCH_SECONDS
        if late or self._sheets >= BATCH_SHEETS or len(self._pending) == _MOST_WORKBOOKS:
            self.flush()

    def flush(self) -> None:
        """Store all that is pending."""
        pending, self._pending, self._sheets = self._pending, [], 0
        self._names.clear()
        self._write(pending)

    def _write(self, pending: Sequence[tuple[NewWorkbook, OnStored]]) -> None:
        """Store workbooks together, or in halves if one of them cannot be stored.

        Else whoever may write one file, with a name that the store cannot hold, would keep all
        others from being indexed.
        """
        if not pending:
            return
        try:
            clashes = self._store.replace_workbooks([book for book, _on_stored in pending])
        except InputError as error:
            if len(pending) == 1:
                self._leave_out(*pending[0], error)
                return
            half = len(pending) // 2
            self._write(pending[:half])
            self._write(pending[half:])
            return
        for (_book, on_stored), left_out in zip(pending, clashes, strict=True):
            on_stored(left_out)

    def _leave_out(self, book: NewWorkbook, on_stored: OnStored, error: InputError) -> None:
        """Store the reason in the place of the sheets; one with too long a path is told alone."""
        why = Skipped(book.state.path, SkipReason.BAD_NAME, str(error))
        state = replace(book.state, skipped=(*book.state.skipped, why))
        with suppress(InputError):
            self._store.replace_workbooks(
                [replace(book, state=state, rows=(), discovery=Discovery.EMPTY)]
            )
        on_stored(tuple(replace(why, sheet=row.record.sheet) for row in book.rows) or (why,))
