"""Plan a sync of paths on this machine: find the files, and compare them with the index."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from sat_retriever.errors import PathNotFoundError
from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.index.sync.file_check import (
    OF_NAMED,
    CheckFiles,
    MetFile,
    check_here,
)
from sat_retriever.index.sync.sync_plan import Plan, PlanDraft, is_in
from sat_retriever.records.progress import OnListed
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.formats.kind import is_named
from sat_retriever.workbook.opening.regular import OUTSIDE, printable, real_path
from sat_retriever.workbook.read import LocalFile
from sat_retriever.workbook.remote.url import is_lost_url, joined, under

_TOLD = 250  # files after which the listing is told about


@dataclass(frozen=True, slots=True)
class Scope:
    """One path that the user named."""

    root: Path  # folder that the paths of its workbooks are relative to
    path: Path  # the named folder or file itself: the root or a path below it
    explicit: bool = True  # false for a file that was not named but met in a folder


def scopes(paths: Sequence[Path], known_roots: Iterable[str]) -> list[Scope]:
    """The named paths with the root of each, without paths inside others.

    A path inside a folder that was indexed before keeps that folder as its root, so sheet ids stay
    the same. A path that does not exist raises `PathNotFoundError`: an unmounted disk must not look
    like a folder whose workbooks were all deleted.
    """
    found: list[Scope] = []
    known = [Path(root) for root in known_roots]
    for path in sorted({_absolute(path) for path in paths}):
        if any(path.is_relative_to(scope.path) for scope in found):
            continue
        own = path if path.is_dir() else path.parent
        above = [root for root in known if own.is_relative_to(root)]
        # The nearest one, so that a file indexed from a folder above does not rename everything.
        found.append(Scope(max(above, key=lambda root: len(root.parts), default=own), path))
    return found


def files_of(named: Sequence[Scope], closed: list[str]) -> Iterator[tuple[Scope, Path, bool]]:
    """Yield the files of the scopes in order, with scope, and True if the user named the file.

    Hidden folders and links to folders are skipped; a link to a file counts as that file. Folders
    that cannot be listed are added to `closed`.
    """

    def note(error: OSError) -> None:
        closed.append(printable(Path(error.filename)))

    for scope in named:
        if not scope.path.is_dir():
            yield scope, scope.path, scope.explicit
            continue
        for folder, subfolders, names in os.walk(scope.path, onerror=note):
            subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
            for name in sorted(names):
                if not is_passed_over(name):
                    yield scope, Path(folder, name), False


def is_passed_over(name: str) -> bool:
    """True for hidden files and the lock files that Office writes beside an open workbook.

    >>> is_passed_over("~$Budget.xlsx"), is_passed_over(".~lock.Budget.ods#")
    (True, True)
    """
    return name.startswith((".", "~$"))


def bounds_of(named: Sequence[Scope], states: Sequence[WorkbookState]) -> set[Path]:
    """Folders and files that a user named, now or before.

    Roots do not count, since the user may have named only a file in one of them.
    """
    # A followed link lies outside its target's folder, and nobody named that folder.
    before = {s.within for s in states if s.within and is_in(joined(s.root, s.path), [s.within])}
    return {scope.path for scope in named if scope.explicit} | {Path(place) for place in before}


def within_of(scope: Scope, file: Path, bounds: Set[Path], *, follow_links: bool) -> Path | None:
    """The widest named place that a file really lies in, links followed; None without one.

    If `follow_links` allows a link out of all named places, the place is its target file.
    """
    linked = file.is_symlink()
    real = real_path(file) if linked else scope.path  # every other file lies below its scope
    found = [place for place in (real, *real.parents) if place in bounds]
    if found:
        return found[-1]
    return real if follow_links or not linked else None


def _absolute(path: Path) -> Path:
    if not path.exists():
        hint = "give a URL as text, not as a Path" if is_lost_url(path) else "check the spelling"
        raise PathNotFoundError(f"there is no file or folder {str(path)!r}; {hint}")
    return path.resolve()


def make_local_plan(
    named: Sequence[Scope],
    states: Sequence[WorkbookState],
    *,
    again: Set[SkipReason] = frozenset(),
    verify: bool = False,
    follow_links: bool = False,
    own: Collection[Path] = (),
    check_files: CheckFiles = check_here,
    listed: OnListed | None = None,
) -> Plan:
    """Compare the files of some scopes on disk with all states in the index.

    Everything outside the scopes stays as it is. Files of the index itself, `own`, are not counted.
    For the reasons in `again` an unchanged workbook is read again. `verify` hashes every file, even
    with the same size and time. `follow_links` reads links in folders even if they lead outside all
    named places.
    """
    draft = PlanDraft([printable(scope.path) for scope in named], states)
    bounds = bounds_of(named, states)
    closed: list[str] = []
    met: list[MetFile] = []
    outside: list[MetFile] = []
    for count, (scope, file, explicit) in enumerate(files_of(named, closed), start=1):
        if listed and not count % _TOLD:
            listed(printable(scope.path), count)
        within = within_of(scope, file, bounds, follow_links=follow_links)
        now = state_now(scope, file, within)
        draft.present.add((now.root, now.path))
        old = draft.state_of(now)
        job = draft.to_read(now, LocalFile(file, scope.root, within or file))
        here = outside if within is None else met
        reasons = again | OF_NAMED if explicit else again
        here.append(MetFile(job, file, old, reasons, explicit))
    for each in outside:  # links that are not followed
        if each.old is None and not (is_named(each.file) or is_named(real_path(each.file))):
            draft.plan.ignored += 1
        elif each.old is not None and each.old.skipped == each.job.state.skipped:
            draft.keep(each.old)
        else:
            draft.plan.refused.append(each.job)
    for each, seen in zip(met, check_files(met, verify=verify), strict=True):
        if seen.same is not None:
            draft.keep(seen.same)
        elif seen.ignored:
            draft.plan.ignored += each.file not in own
        else:
            draft.take(each.job, seen.refused)
    why = "The folder cannot be listed."
    return draft.finished([Skipped(each, SkipReason.UNREADABLE, why) for each in closed])


def state_now(scope: Scope, file: Path, within: Path | None) -> WorkbookState:
    """The file's current size and time; zeros if it cannot or must not be checked."""
    root, now = printable(scope.root), time.time_ns()
    empty = WorkbookState(root, under(root, printable(file)), 0, 0, now, content_hash="")
    if within is None:
        why = Skipped(empty.path, SkipReason.OUTSIDE_LINK, OUTSIDE)
        return replace(empty, skipped=(why,))
    state = replace(empty, within=printable(within))
    try:
        found = file.stat()
    except OSError:
        return state
    return replace(state, size=found.st_size, mtime_ns=found.st_mtime_ns)
