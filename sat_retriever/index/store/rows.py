"""Define rows of an index file as values: a workbook file, and one sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.links.claims import Discovery
from sat_retriever.records.sheets import SheetRecord, Skipped
from sat_retriever.records.tokens import FloatArray
from sat_retriever.workbook.remote.url import joined, under

IdArray = NDArray[np.int64]
"""Row ids, (n,)."""
RowToken = tuple[int, bytes]
"""Row id of a sheet, and its stored token."""
LEXICAL_FIELDS = ("workbook", "sheet", "headers", "folder")


@dataclass(frozen=True, slots=True)
class WorkbookState:
    """State of one workbook file when it was indexed.

    Attributes:
        root: Absolute POSIX path, or URL, of the folder that its path is relative to.
        path: POSIX path relative to the root.
        size: Size in bytes.
        mtime_ns: Modification time, nanoseconds since 1970.
        checked_ns: Time at which size and time were read, nanoseconds since 1970.
        content_hash: Hash of its bytes; empty if they could not be read.
        skipped: Its parts that gave no record.
        within: Absolute POSIX path of the named folder or file that it was or lay in when it was
            read, links followed; it is opened only there. Empty means its own path.
        version: ETag of a workbook at a URL, or whatever else changes with its content.
    """

    root: str
    path: str
    size: int
    mtime_ns: int
    checked_ns: int
    content_hash: str
    skipped: tuple[Skipped, ...] = ()
    within: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One sheet in its stored form.

    Attributes:
        record: The record.
        token: Its token, (d,) float32, unit length.
        words: Words of each lexical field, in the order of `LEXICAL_FIELDS`.
        groups: Groups that may see it, in an index with permissions.
    """

    record: SheetRecord
    token: FloatArray
    words: tuple[Sequence[str], ...]
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewWorkbook:
    """A workbook as it is to be stored, and what it takes the place of.

    Attributes:
        state: Its state.
        rows: Its sheets.
        discovery: Links between them, and their claims on other workbooks.
        superseded: Other roots under which the same file was indexed before; its entries there
            are removed in the same transaction.
        left: Roots that are no longer folders; a workbook of the same path there is removed as
            well if it has one of these sheets.
    """

    state: WorkbookState
    rows: Sequence[SheetRow] = ()
    discovery: Discovery = Discovery.EMPTY
    superseded: Sequence[str] = ()
    left: Sequence[str] = ()

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Root and path of the entries that it replaces in any case."""
        place = joined(self.state.root, self.state.path)
        return [(root, under(root, place)) for root in (self.state.root, *self.superseded)]
