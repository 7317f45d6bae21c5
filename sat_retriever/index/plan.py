"""Paths a user names to the workbook files below them, and what changed since last time."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from sat_retriever.errors import PathNotFoundError
from sat_retriever.index.store.write import WorkbookState
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.formats.kind import Kind
from sat_retriever.workbook.formats.sniff import is_named, sniff
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.digest import content_hash
from sat_retriever.workbook.opening.paths import printable
from sat_retriever.workbook.opening.regular import OUTSIDE, open_regular, real_path

# A file changed twice within one tick of a coarse clock keeps its time and maybe its
# size; one that was younger than this when it was looked at is hashed the next time.
_CLOCK_NS = 2_000_000_000
# What says nothing lasting about a file: what was read of it before stays, and it is tried
# again, at every sync where another hour may do, else when asked to verify.
_AGAIN = {SkipReason.UNREADABLE, SkipReason.TIMEOUT}
PASSING = _AGAIN | {SkipReason.OUT_OF_MEMORY, SkipReason.READER_CRASHED}
_LIMITED = PASSING | {SkipReason.TOO_LARGE}
_LOCKED = {SkipReason.ENCRYPTED, SkipReason.WRONG_PASSWORD}


@dataclass(frozen=True, slots=True)
class Scope:
    """One path the user named.

    Attributes:
        root: Folder that the paths of its workbooks are relative to.
        path: The named folder or file itself: the root or something below it.
        explicit: False for a file that was not named, as one met in a folder.
    """

    root: Path
    path: Path
    explicit: bool = True


@dataclass(frozen=True, slots=True)
class ToRead:
    """A workbook to read.

    Attributes:
        state: What the index will know of it.
        file: Where it is.
        root: Folder its path is relative to.
        within: Folder or file that it really is or lies in, once links are followed.
        superseded: Older roots under which the same file is indexed.
        left: Roots that are gone, under which a file of the same path is indexed.
        is_new: True when the index does not know it under this root.
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
    """What a sync has to do.

    Attributes:
        read: Workbooks to read, new or changed.
        refused: Files that are called like a workbook, not to be read, since they are none or
            links to files elsewhere; their states say why.
        touched: Workbooks of unchanged content whose size or time is to be noted.
        unchanged: Workbooks that stay as they are, touched ones included.
        removed: Keys (root, path) of the workbooks that are gone.
        ignored: Number of files that are no spreadsheets and not called like one.
        unlisted: Folders that could not be listed; what is indexed below them stays.
    """

    read: tuple[ToRead, ...]
    refused: tuple[ToRead, ...]
    touched: tuple[WorkbookState, ...]
    unchanged: tuple[WorkbookState, ...]
    removed: tuple[tuple[str, str], ...]
    ignored: int
    unlisted: tuple[Skipped, ...]


def scopes(paths: Sequence[Path], known_roots: Iterable[str]) -> list[Scope]:
    """The named paths with the root of each; a path inside another is left out.

    A path inside a folder that was indexed before keeps that folder as its root, so
    that sheet ids stay the same.

    Raises:
        PathNotFoundError: If a path does not exist: an unmounted disk must not look
            like a folder whose workbooks were all deleted.
    """
    found: list[Scope] = []
    known = [Path(root) for root in known_roots]
    for path in sorted({_absolute(path) for path in paths}):
        if any(path.is_relative_to(scope.path) for scope in found):
            continue
        own = path if path.is_dir() else path.parent
        above = [root for root in known if own.is_relative_to(root)]
        # The nearest one: a file indexed from a folder above must not rename everything.
        found.append(Scope(max(above, key=lambda root: len(root.parts), default=own), path))
    return found


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
    """Compare the files on disk with what the index knows.

    Args:
        named: Scopes to look at; everything outside is left alone.
        states: All workbooks the index knows.
        verify: Hash every file, also where size and time are the same, and read again
            those that failed for a passing reason.
        follow_links: Read links in folders also where they lead outside all that was named.
        password: Read again the workbooks that were encrypted.
        limits: Read again the workbooks that were cut at a limit.
        own: Files of the index itself, not to be counted as others.
    """
    # Text, not Path: this looks at every workbook of the index.
    places = [printable(scope.path) for scope in named]
    inside = {(s.root, s.path): s for s in states if _is_in(_joined(s.root, s.path), places)}
    roots_of: dict[str, list[str]] = {}
    for root, path in inside:
        roots_of.setdefault(_joined(root, path), []).append(root)
    same_path: dict[str, list[str]] = {}
    for state in states:
        same_path.setdefault(state.path, []).append(state.root)
    gone_root = cache(_is_gone)
    bounds = _bounds(named, states)
    read, refused, touched, present = [], [], [], set()
    unchanged: list[WorkbookState] = []
    ignored = 0
    closed: list[str] = []
    for scope, file, explicit in _files(named, closed):
        within = _within(scope, file, bounds, follow_links=follow_links)
        now = _state_now(scope, file, within)
        key = (now.root, now.path)
        old = inside.get(key)
        older = tuple(root for root in roots_of.get(printable(file), ()) if root != now.root)
        left = tuple(root for root in same_path.get(now.path, ()) if gone_root(root))
        present.add(key)
        if within is None:
            if old is None and not (is_named(file) or is_named(real_path(file))):
                ignored += 1
            elif old is not None and old.skipped == now.skipped:
                unchanged.append(old)
            else:
                refused.append(ToRead(now, file, scope.root, file, older, left, old is None))
            continue
        again = _tried_again(verify=verify, password=password, limits=limits, explicit=explicit)
        if old is not None and not _must_read(old, again, clashes=verify or bool(left)):
            same = _unchanged(old, now, file, verify=verify)
            if same is not None:
                unchanged.append(same)
                touched += [same] if same is not old else []
                continue
        other = None if explicit else _other(file, old)
        if other is not None and old is None and not is_named(file):
            ignored += file not in own
            continue
        job = ToRead(now, file, scope.root, within, older, left, is_new=old is None)
        present.update((root, _below(root, file)) for root in older)
        if other is None:
            read.append(job)
        else:
            refused.append(replace(job, state=_refused(now, file, other)))
    # What lies below a folder that could not be listed is not known to be gone.
    gone = (key for key in set(inside) - present if not _is_in(_joined(*key), closed))
    unlisted = tuple(
        Skipped(folder, SkipReason.UNREADABLE, "The folder cannot be listed.") for folder in closed
    )
    return Plan(
        tuple(read),
        tuple(refused),
        tuple(touched),
        tuple(unchanged),
        tuple(sorted(gone)),
        ignored,
        unlisted,
    )


def _absolute(path: Path) -> Path:
    if not path.exists():
        raise PathNotFoundError(f"there is no file or folder {str(path)!r}; check the spelling")
    return path.resolve()


def _files(named: Sequence[Scope], closed: list[str]) -> Iterator[tuple[Scope, Path, bool]]:
    """Files of the scopes in order, and whether the user named the file itself.

    Hidden folders and links to folders are not walked; a link to a file is that file.
    Folders that cannot be listed are noted in `closed`.
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
                # Office writes "~$…" lock files beside an open workbook.
                if not name.startswith((".", "~$")):
                    yield scope, Path(folder, name), False


def _bounds(named: Sequence[Scope], states: Sequence[WorkbookState]) -> set[Path]:
    """Folders and files that were named, now or before.

    Not the roots: of one it is not known whether it was named, or only a file in it.
    """
    # A followed link is not where it leads to, which was never named.
    before = {s.within for s in states if s.within and _is_in(_joined(s.root, s.path), [s.within])}
    return {scope.path for scope in named if scope.explicit} | {Path(place) for place in before}


def _within(scope: Scope, file: Path, bounds: Set[Path], *, follow_links: bool) -> Path | None:
    """The widest place that was named and really holds a file; None if none does.

    That of a link that is followed out of all of them is the very file that it leads to.
    """
    linked = file.is_symlink()
    real = real_path(file) if linked else scope.path  # every other file lies below its scope
    found = [place for place in (real, *real.parents) if place in bounds]
    if found:
        return found[-1]
    return real if follow_links or not linked else None


def _other(file: Path, old: WorkbookState | None) -> Kind | None:
    """What a file in a folder is, if it is no spreadsheet and was not read as one before."""
    if old is not None and not _is_refused(old):
        return None
    kind = sniff(file, named=False)
    if kind.reason is SkipReason.NOT_A_SPREADSHEET and (old is None or is_named(file)):
        return kind
    return None


def _is_refused(old: WorkbookState) -> bool:
    return any(skip.reason is SkipReason.NOT_A_SPREADSHEET for skip in old.skipped)


def _refused(now: WorkbookState, file: Path, kind: Kind) -> WorkbookState:
    """The state of a file that is no spreadsheet."""
    why = Skipped(now.path, SkipReason.NOT_A_SPREADSHEET, kind.message)
    return replace(now, content_hash=_hash_file(file), skipped=(why,))


def _state_now(scope: Scope, file: Path, within: Path | None) -> WorkbookState:
    """The file's present size and time; zeros when they cannot be had, or may not."""
    root, now = printable(scope.root), time.time_ns()
    empty = WorkbookState(root, _below(root, file), 0, 0, now, content_hash="")
    if within is None:
        why = Skipped(empty.path, SkipReason.OUTSIDE_LINK, OUTSIDE)
        return replace(empty, skipped=(why,))
    state = replace(empty, within=printable(within))
    try:
        found = file.stat()
    except OSError:
        return state
    return replace(state, size=found.st_size, mtime_ns=found.st_mtime_ns)


def _is_in(file: str, places: Sequence[str]) -> bool:
    """Whether a file is one of the places or lies below one of them."""
    return any(file == place or file.startswith(f"{place.rstrip('/')}/") for place in places)


def _joined(root: str, path: str) -> str:
    return f"{root.rstrip('/')}/{path}"


def _below(root: str, file: Path) -> str:
    """Printable path of a file relative to a printable root above it."""
    return printable(file)[len(root.rstrip("/")) + 1 :]


def _is_gone(root: str) -> bool:
    """Whether a root is no folder any more; one that cannot be looked at may still be."""
    if "\\" in root:  # bytes that are not Unicode, as text: not what the folder is called
        return False
    try:
        return not stat.S_ISDIR(Path(root).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _tried_again(
    *, verify: bool, password: bool, limits: bool, explicit: bool
) -> frozenset[SkipReason]:
    """Reasons for which a workbook is read again although it did not change."""
    # A link that leads outside comes here only when it is followed now, or its target is named.
    again = _AGAIN | {SkipReason.OUTSIDE_LINK}
    if verify:
        again |= PASSING
    if password:
        again |= _LOCKED
    if limits:
        again |= _LIMITED
    if explicit:  # text is read whatever its name when it is named, but not in a folder
        again.add(SkipReason.NOT_A_SPREADSHEET)
    return frozenset(again)


def _must_read(old: WorkbookState, again: frozenset[SkipReason], *, clashes: bool) -> bool:
    """Whether an unchanged workbook is read again.

    Args:
        old: What the index knows of it.
        again: Reasons for which it is.
        clashes: Whether a sheet id that was taken may be free now.
    """
    reasons = {skip.reason for skip in old.skipped}
    return bool(reasons & again) or (clashes and SkipReason.DUPLICATE_ID in reasons)


def _unchanged(
    old: WorkbookState, now: WorkbookState, file: Path, *, verify: bool
) -> WorkbookState | None:
    """The state of a file whose content is the same, with its present time; None if it changed."""
    if not verify and _same_stat(old, now):
        return old if old.within == now.within else replace(old, within=now.within)
    # Without a hash nothing is known of the content, and an unreadable file has none, too.
    if old.content_hash and _hash_file(file) == old.content_hash:
        return replace(now, content_hash=old.content_hash, skipped=old.skipped)
    return None


def _same_stat(old: WorkbookState, now: WorkbookState) -> bool:
    settled = old.checked_ns - old.mtime_ns > _CLOCK_NS
    return settled and (old.size, old.mtime_ns) == (now.size, now.mtime_ns)


def _hash_file(file: Path) -> str:
    """The hash that a reader gives as `content_hash`; empty when unreadable."""
    try:
        with open_regular(file) as opened:
            return content_hash(opened)
    except (Refused, OSError):
        return ""
