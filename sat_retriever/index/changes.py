"""One file compared with the state in which the index knows it."""

from __future__ import annotations

import time
from collections.abc import Set
from dataclasses import replace
from pathlib import Path

from sat_retriever.index.scopes import Scope, below
from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.formats.kind import Kind
from sat_retriever.workbook.formats.sniff import is_named, sniff
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.digest import content_hash
from sat_retriever.workbook.opening.paths import printable
from sat_retriever.workbook.opening.regular import OUTSIDE, open_regular

# A file that is changed twice within one tick of a coarse clock keeps its time and perhaps its
# size. A file that was younger than this when it was looked at is hashed the next time.
_CLOCK_NS = 2_000_000_000
# Reasons that may pass: what was read of the file before stays, and it is read again. The
# first two are tried at every sync, since an hour later they may be gone; the others only when
# the user asks to verify.
_AGAIN = {SkipReason.UNREADABLE, SkipReason.TIMEOUT}
PASSING = _AGAIN | {SkipReason.OUT_OF_MEMORY, SkipReason.READER_CRASHED}
_LIMITED = PASSING | {SkipReason.TOO_LARGE}
_LOCKED = {SkipReason.ENCRYPTED, SkipReason.WRONG_PASSWORD}


def state_now(scope: Scope, file: Path, within: Path | None) -> WorkbookState:
    """The file's present size and time; zeros if it cannot be looked at, or must not be."""
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
    """Kind of a file in a folder that is no spreadsheet; None if it is one, or was one before."""
    if old is not None and not _is_refused(old):
        return None
    kind = sniff(file, named=False)
    if kind.reason is SkipReason.NOT_A_SPREADSHEET and (old is None or is_named(file)):
        return kind
    return None


def _is_refused(old: WorkbookState) -> bool:
    return any(skip.reason is SkipReason.NOT_A_SPREADSHEET for skip in old.skipped)


def refused_state(now: WorkbookState, file: Path, kind: Kind) -> WorkbookState:
    """The state of a file that is no spreadsheet."""
    why = Skipped(now.path, SkipReason.NOT_A_SPREADSHEET, kind.message)
    return replace(now, content_hash=_hash_file(file), skipped=(why,))


def tried_again(
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


def must_read(old: WorkbookState, again: Set[SkipReason], *, clashes: bool) -> bool:
    """True if an unchanged workbook is read again.

    Args:
        old: What the index knows of it.
        again: Reasons to read it again.
        clashes: True if a sheet id that was taken may be free now.
    """
    reasons = {skip.reason for skip in old.skipped}
    return bool(reasons & again) or (clashes and SkipReason.DUPLICATE_ID in reasons)


def unchanged_state(
    old: WorkbookState, now: WorkbookState, file: Path, *, verify: bool
) -> WorkbookState | None:
    """The state of a file whose content is the same, with its present time; None if it changed."""
    if not verify and _same_stat(old, now):
        return old if old.within == now.within else replace(old, within=now.within)
    # An empty hash says nothing: that of a file that could not be read is empty, too.
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
