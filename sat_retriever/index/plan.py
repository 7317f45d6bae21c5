"""Plan a sync: compare the files on disk with their states in the index."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from sat_retriever.index.changes import (
    must_read,
    other_kind,
    refused_state,
    state_now,
    tried_again,
    unchanged_state,
)
from sat_retriever.index.scopes import (
    Scope,
    below,
    bounds_of,
    files_of,
    is_gone,
    is_in,
    joined,
    within_of,
)
from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.formats.sniff import is_named
from sat_retriever.workbook.opening.paths import printable
from sat_retriever.workbook.opening.regular import real_path

Key = tuple[str, str]  # root and path of a workbook


@dataclass(frozen=True, slots=True)
class ToRead:
    """A workbook to read.

    Attributes:
        state: Its state as the index will store it.
        file: Its path.
        root: Folder that its path is relative to.
        within: Folder or file that it really is or lies in, with links followed.
        superseded: Older roots under which the same file is indexed.
        left: Roots that no longer exist, under which a file of the same path is indexed.
        is_new: True if the index does not know it under this root.
    """

    state: WorkbookState
    file: Path
    root: Path
    within: Path
    superseded: tuple[str, ...]
    left: tuple[str, ...]
    is_new: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a sync.

    Attributes:
        read: Workbooks to read, new or changed.
        refused: Files that are named like a workbook but not read, since they are not one or are
            links to files elsewhere; their states hold the reason.
        touched: Workbooks with unchanged content whose size or time must be recorded.
        unchanged: Workbooks that stay as they are, including touched ones.
        removed: Workbooks that no longer exist.
        ignored: Number of files that are not spreadsheets and not named like one.
        unlisted: Folders that could not be listed; indexed workbooks below them stay.
    """

    read: tuple[ToRead, ...]
    refused: tuple[ToRead, ...]
    touched: tuple[WorkbookState, ...]
    unchanged: tuple[WorkbookState, ...]
    removed: tuple[Key, ...]
    ignored: int
    unlisted: tuple[Skipped, ...]


@dataclass(slots=True)
class _Draft:
    """An unfinished plan: see `Plan`.

    Attributes:
        present: The workbooks of the index whose files exist.
    """

    read: list[ToRead] = field(default_factory=list)
    refused: list[ToRead] = field(default_factory=list)
    touched: list[WorkbookState] = field(default_factory=list)
    unchanged: list[WorkbookState] = field(default_factory=list)
    present: set[Key] = field(default_factory=set)
    ignored: int = 0


def make_plan(
    named: Sequence[Scope],
    states: Sequence[WorkbookState],
    *,
    verify: bool = False,
    follow_links: bool = False,
    password: bool = False,
    limits: bool = False,
    own: Collection[Path] = (),
) -> Plan:
    """Compare the files on disk with their states in the index.

    Args:
        named: Scopes to check; everything outside stays as it is.
        states: All workbooks that the index knows.
        verify: Hash every file, even with the same size and time, and read those again that failed
            for a passing reason.
        follow_links: Read links in folders even if they lead outside all named places.
        password: Read encrypted workbooks again.
        limits: Read workbooks again that were cut at a limit.
        own: Files of the index itself, which are not counted.
    """
    known = _Known(named, states)
    bounds = bounds_of(named, states)
    again = partial(tried_again, verify=verify, password=password, limits=limits)
    draft = _Draft()
    closed: list[str] = []
    for scope, file, explicit in files_of(named, closed):
        within = within_of(scope, file, bounds, follow_links=follow_links)
        now = state_now(scope, file, within)
        draft.present.add((now.root, now.path))
        old = known.state_of(now)
        older, left = known.older_roots(now), known.left_roots(now)
        job = ToRead(now, file, scope.root, within or file, older, left, is_new=old is None)
        if within is None:
            _sort_outside(draft, job, old)
        elif not _is_unchanged(draft, job, old, again(explicit=explicit), verify=verify):
            _sort_inside(draft, job, old, own, explicit=explicit)
    return _finished(draft, known, closed)


class _Known:
    """Workbooks that the index knows, looked up by their files.

    Args:
        named: The scopes of a sync.
        states: All workbooks that the index knows.
    """

    def __init__(self, named: Sequence[Scope], states: Sequence[WorkbookState]) -> None:
        # Text, not Path, for speed: this checks every workbook of the index.
        places = [printable(scope.path) for scope in named]
        self.inside = {(s.root, s.path): s for s in states if is_in(joined(s.root, s.path), places)}
        self._roots_of: dict[str, list[str]] = {}
        for root, path in self.inside:
            self._roots_of.setdefault(joined(root, path), []).append(root)
        self._same_path: dict[str, list[str]] = {}
        for state in states:
            self._same_path.setdefault(state.path, []).append(state.root)
        self._is_gone = cache(is_gone)

    def state_of(self, now: WorkbookState) -> WorkbookState | None:
        """Return the known state of a file; None if it is not known under this root."""
        return self.inside.get((now.root, now.path))

    def older_roots(self, now: WorkbookState) -> tuple[str, ...]:
        """Return the other roots under which the same file is known."""
        roots = self._roots_of.get(joined(now.root, now.path), ())
        return tuple(root for root in roots if root != now.root)

    def left_roots(self, now: WorkbookState) -> tuple[str, ...]:
        """Return the missing roots under which a file of the same path is known."""
        return tuple(root for root in self._same_path.get(now.path, ()) if self._is_gone(root))


def _sort_outside(draft: _Draft, job: ToRead, old: WorkbookState | None) -> None:
    """Add a link to a file outside all named places, which is not followed."""
    if old is None and not (is_named(job.file) or is_named(real_path(job.file))):
        draft.ignored += 1
    elif old is not None and old.skipped == job.state.skipped:
        draft.unchanged.append(old)
    else:
        draft.refused.append(job)


def _is_unchanged(
    draft: _Draft,
    job: ToRead,
    old: WorkbookState | None,
    again: Set[SkipReason],
    *,
    verify: bool,
) -> bool:
    """Add a workbook that stays as it is; return False if it must be read."""
    if old is None or must_read(old, again, clashes=verify or bool(job.left)):
        return False
    same = unchanged_state(old, job.state, job.file, verify=verify)
    if same is None:
        return False
    draft.unchanged.append(same)
    if same is not old:
        draft.touched.append(same)
    return True


def _sort_inside(
    draft: _Draft,
    job: ToRead,
    old: WorkbookState | None,
    own: Collection[Path],
    *,
    explicit: bool,
) -> None:
    """Add a new or changed file: to be read, refused or ignored."""
    other = None if explicit else other_kind(job.file, old)
    if other is not None and old is None and not is_named(job.file):
        draft.ignored += job.file not in own
        return
    draft.present.update((root, below(root, job.file)) for root in job.superseded)
    if other is None:
        draft.read.append(job)
    else:
        draft.refused.append(replace(job, state=refused_state(job.state, job.file, other)))


def _finished(draft: _Draft, known: _Known, closed: Sequence[str]) -> Plan:
    """Return the plan with the missing workbooks; folders in `closed` could not be listed."""
    # Workbooks below such a folder may still exist.
    gone = (key for key in set(known.inside) - draft.present if not is_in(joined(*key), closed))
    return Plan(
        read=tuple(draft.read),
        refused=tuple(draft.refused),
        touched=tuple(draft.touched),
        unchanged=tuple(draft.unchanged),
        removed=tuple(sorted(gone)),
        ignored=draft.ignored,
        unlisted=tuple(
            Skipped(folder, SkipReason.UNREADABLE, "The folder cannot be listed.")
            for folder in closed
        ),
    )
