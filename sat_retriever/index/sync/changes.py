"""Compare one file with its state in the index."""

from __future__ import annotations

import time
from collections.abc import Set
from dataclasses import replace
from pathlib import Path

from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.index.sync.scopes import Scope, below
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.formats.kind import Kind, is_named, sniff
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.regular import OUTSIDE, content_hash, open_regular, printable

# A file that changes twice within one tick of a coarse clock keeps its time and perhaps its size.
# A file that was younger than this when it was checked is hashed the next time.
_CLOCK_NS = 2_000_000_000
# Reasons that may pass: the earlier content stays, and the file is read again. The first two are
# tried at every sync, since they may be gone an hour later; the others only when the user asks to
# verify.
_AGAIN = {SkipReason.UNREADABLE, SkipReason.TIMEOUT}
PASSING = _AGAIN | {SkipReason.OUT_OF_MEMORY, SkipReason.READER_CRASHED}
_LIMITED = PASSING | {SkipReason.TOO_LARGE}
_LOCKED = {SkipReason.ENCRYPTED, SkipReason.WRONG_PASSWORD}


def state_now(scope: Scope, file: Path, within: Path | None) -> WorkbookState:
    """Return the file's current size and time; zeros if it cannot or must not be checked."""
    root, now = printable(scope.root), time.time_ns()
    empty = WorkbookState(root, below(root, file), 0, 0, now, content_hash="")
    if within is None:
        why = Skipped(empty.path, SkipReason.OUTSIDE_LINK, OUTSIDE)
        return replace(empty, skipped=(why,))
    state = replace(empty, within=printable(within))
    try:
        found = file.stat()
    except OSError:
        return state
    return replace(state, size=found.st_size, mtime_ns=found.st_mtime_ns)


def other_kind(file: Path, old: WorkbookState | None) -> Kind | None:
    """Return the kind of a file in a folder that is not a spreadsheet and was not one before."""
    if old is not None and not _is_refused(old):
        return None
    kind = sniff(file, named=False)
    if kind.reason is SkipReason.NOT_A_SPREADSHEET and (old is None or is_named(file)):
        return kind
    return None


def _is_refused(old: WorkbookState) -> bool:
    return any(skip.reason is SkipReason.NOT_A_SPREADSHEET for skip in old.skipped)


def refused_state(now: WorkbookState, file: Path, kind: Kind) -> WorkbookState:
    """Return the state of a file that is not a spreadsheet."""
    why = Skipped(now.path, SkipReason.NOT_A_SPREADSHEET, kind.message)
    return replace(now, content_hash=_hash_file(file), skipped=(why,))


def tried_again(
    *, verify: bool, password: bool, limits: bool, explicit: bool
) -> frozenset[SkipReason]:
    """Return the reasons for which an unchanged workbook is read again."""
    # A link that leads outside gets here only if it is followed now, or its target is named.
    again = _AGAIN | {SkipReason.OUTSIDE_LINK}
    if verify:
        again |= PASSING
    if password:
        again |= _LOCKED
    if limits:
        again |= _LIMITED
    if explicit:  # a named text file is always read, one in a folder is not
        again.add(SkipReason.NOT_A_SPREADSHEET)
    return frozenset(again)


def must_read(old: WorkbookState, again: Set[SkipReason], *, clashes: bool) -> bool:
    """True if an unchanged workbook is read again.

    Args:
        old: Its state in the index.
        again: Reasons to read it again.
        clashes: True if a sheet id that was taken may be free now.
    """
    reasons = {skip.reason for skip in old.skipped}
    return bool(reasons & again) or (clashes and SkipReason.DUPLICATE_ID in reasons)


def unchanged_state(
    old: WorkbookState, now: WorkbookState, file: Path, *, verify: bool
) -> WorkbookState | None:
    """Return the state of an unchanged file with its current time; None if it changed."""
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
    """Return the hash that a reader gives as `content_hash`; empty if the file is unreadable."""
    try:
        with open_regular(file) as opened:
            return content_hash(opened)
    except (Refused, OSError):
        return ""
