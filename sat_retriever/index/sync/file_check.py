"""Check a file that a walk met: is it as it was, and is it a spreadsheet?

This opens files, which is slow on a network; a walk only asks for names, sizes and times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.index.sync.sync_plan import ToRead
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.formats.kind import FileKind, is_named, sniff
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.regular import content_hash, open_regular

# A file that changes twice within one tick of a coarse clock keeps its time and perhaps its size.
# A file that was younger than this when it was checked is hashed the next time.
_CLOCK_NS = 2_000_000_000
# Reasons that may pass: the earlier content stays, and the file is read again. The first two are
# tried at every sync, since they may be gone an hour later; the others only when the user asks to
# verify.
_AGAIN = {SkipReason.UNREADABLE, SkipReason.TIMEOUT}
PASSING = _AGAIN | {SkipReason.OUT_OF_MEMORY, SkipReason.READER_CRASHED}
_LIMITED = PASSING | {SkipReason.TOO_LARGE}
# A named text file is always read, one in a folder is not.
OF_NAMED = {SkipReason.NOT_A_SPREADSHEET}
_LOCKED = {SkipReason.ENCRYPTED, SkipReason.WRONG_PASSWORD}


@dataclass(frozen=True, slots=True)
class MetFile:
    """A file that a walk met inside the named places."""

    job: ToRead  # the step that reads it, if it must be read
    file: Path
    old: WorkbookState | None  # its state in the index; None if it is not known
    again: Set[SkipReason]  # reasons to read it again although it is unchanged
    explicit: bool  # true if the user named the file itself


@dataclass(frozen=True, slots=True)
class FileCheck:
    """Result of a check; a file without any of these must be read."""

    same: WorkbookState | None = None  # the state of an unchanged workbook, with its present time
    ignored: bool = False  # true for a file that is neither a spreadsheet nor named like one
    # The state of a file that is named like a spreadsheet, or was one, and is none.
    refused: WorkbookState | None = None


CheckFiles = Callable[..., Iterable[FileCheck]]
"""Checks many files, here or on other machines; called as `check_here`."""


def check_file(met: MetFile, *, verify: bool) -> FileCheck:
    """Check a file by nothing but itself and the arguments; `verify` hashes it in any case."""
    old, now = met.old, met.job.state
    if old is not None and not must_read(old, met.again, clashes=verify or bool(met.job.book.left)):
        same = unchanged_state(old, now, met.file, verify=verify)
        if same is not None:
            return FileCheck(same=same)
    other = None if met.explicit else other_kind(met.file, old)
    if other is None:
        return FileCheck()
    if old is None and not is_named(met.file):
        return FileCheck(ignored=True)
    return FileCheck(refused=refused_state(now, met.file, other))


def check_here(met: Sequence[MetFile], *, verify: bool) -> Iterator[FileCheck]:
    """Yield the result of `check_file` for each file, in order."""
    return (check_file(each, verify=verify) for each in met)


def other_kind(file: Path, old: WorkbookState | None) -> FileKind | None:
    """Kind of a file in a folder that is not a spreadsheet and was not one before; else None."""
    if old is not None and SkipReason.NOT_A_SPREADSHEET not in _reasons(old):
        return None
    kind = sniff(file, named=False)
    if kind.reason is SkipReason.NOT_A_SPREADSHEET and (old is None or is_named(file)):
        return kind
    return None


def _reasons(old: WorkbookState) -> set[SkipReason]:
    return {skip.reason for skip in old.skipped}


def refused_state(now: WorkbookState, file: Path, kind: FileKind) -> WorkbookState:
    """State of a file that is not a spreadsheet."""
    why = Skipped(now.path, SkipReason.NOT_A_SPREADSHEET, kind.message)
    return replace(now, content_hash=_hash_file(file), skipped=(why,))


def tried_again(*, verify: bool, password: bool, limits: bool) -> frozenset[SkipReason]:
    """Reasons to read an unchanged workbook again: passing ones, encryption, a cut at a limit."""
    # A link that leads outside gets here only if it is followed now, or its target is named.
    again = _AGAIN | {SkipReason.OUTSIDE_LINK}
    if verify:
        again |= PASSING
    if password:
        again |= _LOCKED
    if limits:
        again |= _LIMITED
    return frozenset(again)


def must_read(old: WorkbookState, again: Set[SkipReason], *, clashes: bool) -> bool:
    """True if an unchanged workbook is read again; `clashes`: a taken sheet id may be free."""
    reasons = _reasons(old)
    return bool(reasons & again) or (clashes and SkipReason.DUPLICATE_ID in reasons)


def unchanged_state(
    old: WorkbookState, now: WorkbookState, file: Path, *, verify: bool
) -> WorkbookState | None:
    """State of an unchanged file with its current time; None if it changed."""
    if not verify and _same_stat(old, now):
        return old if old.within == now.within else replace(old, within=now.within)
    # An empty hash is no evidence: a file that could not be read has an empty one, too.
    if old.content_hash and _hash_file(file) == old.content_hash:
        return replace(now, content_hash=old.content_hash, skipped=old.skipped)
    return None


def same_version(old: WorkbookState, now: WorkbookState) -> bool:
    """True if a workbook at a URL is as it was: by its version, or else by its size and time."""
    if old.mtime_ns < 0 or old.size != now.size:  # -1: the index wants it read again
        return False
    if now.version:
        return old.version == now.version
    return now.mtime_ns > 0 and _same_stat(old, now)


def _same_stat(old: WorkbookState, now: WorkbookState) -> bool:
    settled = old.checked_ns - old.mtime_ns > _CLOCK_NS
    return settled and (old.size, old.mtime_ns) == (now.size, now.mtime_ns)


def _hash_file(file: Path) -> str:
    """The hash that a reader gives as `content_hash`; empty if the file is unreadable."""
    try:
        with open_regular(file) as opened:
            return content_hash(opened)
    except (Refused, OSError):
        return ""
