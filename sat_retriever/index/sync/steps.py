"""The steps of a sync, and the workbooks that it knows before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cache

from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.index.sync.scopes import is_gone, is_in
from sat_retriever.records.sheets import Skipped, SkipReason
from sat_retriever.workbook.read import LocalFile
from sat_retriever.workbook.remote.file import RemoteFile
from sat_retriever.workbook.remote.url import joined

Key = tuple[str, str]  # root and path of a workbook


@dataclass(frozen=True, slots=True)
class ToRead:
    """A workbook to read.

    Attributes:
        state: Its state as the index will store it.
        file: Where it is, on this machine or at a URL.
        superseded: Older roots under which the same file is indexed.
        left: Roots that no longer exist, under which a file of the same path is indexed.
        is_new: True if the index does not know it under this root.
    """

    state: WorkbookState
    file: LocalFile | RemoteFile
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
        unlisted: Folders that could not be listed, below which indexed workbooks stay, and files at
            URLs that have no usable name.
    """

    read: tuple[ToRead, ...]
    refused: tuple[ToRead, ...]
    touched: tuple[WorkbookState, ...]
    unchanged: tuple[WorkbookState, ...]
    removed: tuple[Key, ...]
    ignored: int
    unlisted: tuple[Skipped, ...]

    def with_more(self, other: Plan) -> Plan:
        """Return both plans as one; the steps of the other come last."""
        return Plan(
            **{
                each.name: getattr(self, each.name) + getattr(other, each.name)
                for each in fields(self)
            }
        )


@dataclass(slots=True)
class Draft:
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

    def finished(self, known: Known, unlisted: Sequence[Skipped] = ()) -> Plan:
        """Return the plan; missing workbooks are removed, but below places that are not listed."""
        closed = [skip.path for skip in unlisted if skip.reason is SkipReason.UNREADABLE]
        gone = (key for key in set(known.inside) - self.present if not is_in(joined(*key), closed))
        return Plan(
            read=tuple(self.read),
            refused=tuple(self.refused),
            touched=tuple(self.touched),
            unchanged=tuple(self.unchanged),
            removed=tuple(sorted(gone)),
            ignored=self.ignored,
            unlisted=tuple(unlisted),
        )


class Known:
    """Workbooks that the index knows, looked up by their files.

    Args:
        places: The paths or URLs of a sync.
        states: All workbooks that the index knows.
    """

    def __init__(self, places: Sequence[str], states: Sequence[WorkbookState]) -> None:
        # Text, not Path, for speed: this checks every workbook of the index.
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
