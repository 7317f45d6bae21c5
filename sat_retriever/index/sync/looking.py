"""Look at a file that a walk met: is it as it was, and is it a spreadsheet?

This opens files, which is slow on a network; a walk only asks for names, sizes and times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sat_retriever.index.store.rows import WorkbookState
from sat_retriever.index.sync.changes import (
    must_read,
    other_kind,
    refused_state,
    unchanged_state,
)
from sat_retriever.index.sync.steps import ToRead
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.kind import is_named


@dataclass(frozen=True, slots=True)
class Met:
    """A file that a walk met inside the named places.

    Attributes:
        job: The step that reads it, if it must be read.
        file: The file.
        old: Its state in the index; None if it is not known.
        again: Reasons to read it again although it is unchanged.
        explicit: True if the user named the file itself.
    """

    job: ToRead
    file: Path
    old: WorkbookState | None
    again: Set[SkipReason]
    explicit: bool


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at a file found; a file without any of these must be read.

    Attributes:
        same: The state of an unchanged workbook, with its present time.
        ignored: True for a file that is neither a spreadsheet nor named like one.
        refused: The state of a file that is named like a spreadsheet, or was one, and is none.
    """

    same: WorkbookState | None = None
    ignored: bool = False
    refused: WorkbookState | None = None


class Looks(Protocol):
    """Looks at many files, here or on other machines."""

    def __call__(self, met: Sequence[Met], *, verify: bool) -> Iterable[Look]:
        """Return the result of `look` for each file, in order."""
        ...


def look(met: Met, *, verify: bool) -> Look:
    """Look at a file; the result depends on nothing but the file and the arguments.

    Args:
        met: The file.
        verify: Hash it, whatever its time.
    """
    old, now = met.old, met.job.state
    if old is not None and not must_read(old, met.again, clashes=verify or bool(met.job.left)):
        same = unchanged_state(old, now, met.file, verify=verify)
        if same is not None:
            return Look(same=same)
    other = None if met.explicit else other_kind(met.file, old)
    if other is None:
        return Look()
    if old is None and not is_named(met.file):
        return Look(ignored=True)
    return Look(refused=refused_state(now, met.file, other))


def looks_here(met: Sequence[Met], *, verify: bool) -> Iterator[Look]:
    """Yield the result of `look` for each file, in order."""
    return (look(each, verify=verify) for each in met)
