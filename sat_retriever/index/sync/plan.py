"""Plan a sync: compare the files on disk with their states in the index."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.index.sync.changes import state_now, tried_again
from sat_retriever.index.sync.looking import Look, Looks, Met, looks_here
from sat_retriever.index.sync.scopes import Scope, bounds_of, files_of, within_of
from sat_retriever.index.sync.steps import Draft, Known, Plan, ToRead
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.formats.kind import is_named
from sat_retriever.workbook.opening.regular import printable, real_path
from sat_retriever.workbook.read import LocalFile
from sat_retriever.workbook.remote.url import under


def make_plan(
    named: Sequence[Scope],
    states: Sequence[WorkbookState],
    *,
    verify: bool = False,
    follow_links: bool = False,
    password: bool = False,
    limits: bool = False,
    own: Collection[Path] = (),
    looks: Looks = looks_here,
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
        looks: Looks at the files that the walk met; by default this machine does.
    """
    known = Known([printable(scope.path) for scope in named], states)
    bounds = bounds_of(named, states)
    again = partial(tried_again, verify=verify, password=password, limits=limits)
    draft = Draft()
    closed: list[str] = []
    met: list[Met] = []
    outside: list[Met] = []
    for scope, file, explicit in files_of(named, closed):
        within = within_of(scope, file, bounds, follow_links=follow_links)
        now = state_now(scope, file, within)
        draft.present.add((now.root, now.path))
        old = known.state_of(now)
        older, left = known.older_roots(now), known.left_roots(now)
        found = LocalFile(file, scope.root, within or file)
        job = ToRead(now, found, older, left, is_new=old is None)
        here = outside if within is None else met
        here.append(Met(job, file, old, again(explicit=explicit), explicit))
    for each in outside:
        _sort_outside(draft, each.job, each.file, each.old)
    for each, seen in zip(met, looks(met, verify=verify), strict=True):
        _sort_inside(draft, each, seen, own)
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


def _sort_inside(draft: Draft, met: Met, seen: Look, own: Collection[Path]) -> None:
    """Add a file: unchanged, to be read, refused or ignored."""
    job, old = met.job, met.old
    if seen.same is not None:
        draft.unchanged.append(seen.same)
        if seen.same != old:
            draft.touched.append(seen.same)
        return
    if seen.ignored:
        draft.ignored += met.file not in own
        return
    draft.present.update((root, under(root, printable(met.file))) for root in job.superseded)
    if seen.refused is None:
        draft.read.append(job)
    else:
        draft.refused.append(replace(job, state=seen.refused))
