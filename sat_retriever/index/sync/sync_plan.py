"""The plan of a sync: workbooks to read and to remove, and those known before."""

from __future__ import annotations

import stat
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path

from sat_retriever.index.store.rows import NewWorkbook, WorkbookState
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.read import LocalFile
from sat_retriever.workbook.remote.file import RemoteFile
from sat_retriever.workbook.remote.url import is_url, joined

Key = tuple[str, str]  # root and path of a workbook


@dataclass(frozen=True, slots=True)
class ToRead:
    """A workbook to read."""

    book: NewWorkbook  # without its sheets
    file: LocalFile | RemoteFile  # where it is, on this machine or at a URL
    is_new: bool  # true if the index does not know it under this root

    @property
    def state(self) -> WorkbookState:
        """Its state as the index will store it."""
        return self.book.state


@dataclass(slots=True)
class Plan:
    """The steps of a sync."""

    read: list[ToRead] = field(default_factory=list)
    # Files that are named like a workbook but not read, since they are not one or are links to
    # files elsewhere; their states hold the reason.
    refused: list[ToRead] = field(default_factory=list)
    # Workbooks with unchanged content whose size or time must be recorded.
    touched: list[WorkbookState] = field(default_factory=list)
    # Workbooks that stay as they are, including touched ones
    unchanged: list[WorkbookState] = field(default_factory=list)
    removed: list[Key] = field(default_factory=list)
    ignored: int = 0  # number of files that are not spreadsheets and not named like one
    # Folders that could not be listed, below which indexed workbooks stay, and files at URLs that
    # have no usable name.
    unlisted: list[Skipped] = field(default_factory=list)

    def with_more(self, other: Plan) -> Plan:
        """Both plans as one; the steps of the other come last."""
        parts = (each.name for each in fields(self))
        return Plan(*(getattr(self, name) + getattr(other, name) for name in parts))


class PlanDraft:
    """A plan in the making: states of known workbooks `inside` its places, and those `present`."""

    def __init__(self, places: Sequence[str], states: Sequence[WorkbookState]) -> None:
        # Text, not Path, for speed: this checks every workbook of the index.
        self.inside = {(s.root, s.path): s for s in states if is_in(joined(s.root, s.path), places)}
        self._roots_of: dict[str, list[str]] = defaultdict(list)
        for root, path in self.inside:
            self._roots_of[joined(root, path)].append(root)
        self._same_path: dict[str, list[str]] = defaultdict(list)
        for state in states:
            self._same_path[state.path].append(state.root)
        self._is_gone = cache(is_gone)
        self.plan = Plan()
        self.present: set[Key] = set()

    def state_of(self, now: WorkbookState) -> WorkbookState | None:
        """Known state of a file; None if it is not known under this root."""
        return self.inside.get((now.root, now.path))

    def to_read(self, now: WorkbookState, file: LocalFile | RemoteFile) -> ToRead:
        """The step that reads a file."""
        roots = self._roots_of.get(joined(now.root, now.path), ())
        older = tuple(root for root in roots if root != now.root)
        left = tuple(root for root in self._same_path.get(now.path, ()) if self._is_gone(root))
        book = NewWorkbook(now, superseded=older, left=left)
        return ToRead(book, file, is_new=self.state_of(now) is None)

    def keep(self, same: WorkbookState) -> None:
        """Leave a workbook as it is; its size and time may have changed."""
        self.present.add((same.root, same.path))
        self.plan.unchanged.append(same)
        if same != self.state_of(same):
            self.plan.touched.append(same)

    def take(self, job: ToRead, refused: WorkbookState | None = None) -> None:
        """Read a new or changed workbook, or refuse it in a state that says why."""
        self.present.update(job.book.keys)
        if refused is None:
            self.plan.read.append(job)
        else:
            self.plan.refused.append(replace(job, book=replace(job.book, state=refused)))

    def finished(self, unlisted: Sequence[Skipped]) -> Plan:
        """The plan; missing workbooks are removed, but not below places without a list."""
        closed = [skip.path for skip in unlisted if skip.reason is SkipReason.UNREADABLE]
        gone = (key for key in self.inside.keys() - self.present if not is_in(joined(*key), closed))
        self.plan.removed = sorted(gone)
        self.plan.unlisted = list(unlisted)
        return self.plan


def is_in(file: str, places: Sequence[str]) -> bool:
    """True if a file is one of the places or lies below one of them."""
    return any(file == place or file.startswith(f"{place.rstrip('/')}/") for place in places)


def is_gone(root: str) -> bool:
    """True if a root is no longer a folder; False if that is unknown, as of a URL."""
    if "\\" in root or is_url(root):  # escaped bytes that are not Unicode: not the real name
        return False
    try:
        return not stat.S_ISDIR(Path(root).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
