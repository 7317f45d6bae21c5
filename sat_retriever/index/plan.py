"""Plan a sync: compare the files on disk with their states in the index."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from dataclasses import replace
from functools import partial
from pathlib import Path

from sat_retriever.index.changes import (
    must_read,
    other_kind,
    refused_state,
    state_now,
    tried_again,
    unchanged_state,
)
from sat_retriever.index.scopes import Scope, bounds_of, files_of, within_of
from sat_retriever.index.steps import Draft, Known, Plan, ToRead
from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.remote.url import under
from sat_retriever.workbook.files import LocalFile
from sat_retriever.workbook.formats.sniff import is_named
from sat_retriever.workbook.opening.paths import printable
from sat_retriever.workbook.opening.regular import real_path


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
    known = Known([printable(scope.path) for scope in named], states)
    bounds = bounds_of(named, states)
    again = partial(tried_again, verify=verify, password=password, limits=limits)
    draft = Draft()
    closed: list[str] = []
    for scope, file, explicit in files_of(named, closed):
        within = within_of(scope, file, bounds, follow_links=follow_links)
        now = state_now(scope, file, within)
        draft.present.add((now.root, now.path))
        old = known.state_of(now)
        older, left = known.older_roots(now), known.left_roots(now)
        found = LocalFile(file, scope.root, within or file)
        job = ToRead(now, found, older, left, is_new=old is None)
        if within is None:
            _sort_outside(draft, job, file, old)
        elif not _is_unchanged(draft, job, file, old, again(explicit=explicit), verify=verify):
            _sort_inside(draft, job, file, old, own, explicit=explicit)
    why = "The folder cannot be listed."
    return draft.finished(known, [Skipped(each, SkipReason.UNREADABLE, why) for each in closed])


def _sort_outside(draft: Draft, job: ToRead, file: Path, old: WorkbookState | None) -> None:
    """Add a link to a file outside all named places, which is not followed."""
    if old is None and not (is_named(file) or is_named(real_path(file))):
        draft.ignored += 1
    elif old is not None and old.skipped == job.state.skipped:
        draft.unchanged.append(old)
    else:
        draft.refused.append(job)


def _is_unchanged(
    draft: Draft,
    job: ToRead,
    file: Path,
    old: WorkbookState | None,
    again: Set[SkipReason],
    *,
    verify: bool,
) -> bool:
    """Add a workbook that stays as it is; return False if it must be read."""
    if old is None or must_read(old, again, clashes=verify or bool(job.left)):
        return False
    same = unchanged_state(old, job.state, file, verify=verify)
    if same is None:
        return False
    draft.unchanged.append(same)
    if same is not old:
        draft.touched.append(same)
    return True


def _sort_inside(
    draft: Draft,
    job: ToRead,
    file: Path,
    old: WorkbookState | None,
    own: Collection[Path],
    *,
    explicit: bool,
) -> None:
    """Add a new or changed file: to be read, refused or ignored."""
    other = None if explicit else other_kind(file, old)
    if other is not None and old is None and not is_named(file):
        draft.ignored += file not in own
        return
    draft.present.update((root, under(root, printable(file))) for root in job.superseded)
    if other is None:
        draft.read.append(job)
    else:
        draft.refused.append(replace(job, state=refused_state(job.state, file, other)))
