"""Rows of a store as values, and the sessions that read and write them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias

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
RESTRICTED = "restricted"
"""Note of an index whose sheets are for their groups alone."""
SOURCE = "permissions"
"""Note of where the groups come from; for the owner alone."""
SqlType: TypeAlias = Literal["text", "bigint"]


@dataclass(frozen=True, slots=True)
class WorkbookState:
    """State of one workbook file when it was indexed."""

    root: str  # absolute POSIX path, or URL, of the folder that its path is relative to
    path: str  # POSIX path relative to the root
    size: int
    mtime_ns: int  # modification time, nanoseconds since 1970
    checked_ns: int  # time at which size and modification time were read, likewise
    content_hash: str  # hash of its bytes; empty if they could not be read
    skipped: tuple[Skipped, ...] = ()  # its parts that gave no record
    # Absolute POSIX path of the named folder or file that it was or lay in when it was read, links
    # followed; it is opened only there. Empty means its own path.
    within: str = ""
    version: str = ""  # ETag of a workbook at a URL, or whatever else changes with its content


@dataclass(frozen=True, slots=True)
class SheetName:
    """What ranking needs to know of a sheet, without its record."""

    sheet: str  # name of the tab
    home: str  # path of the workbook, or its name if it has no file; may be empty
    documentation: int  # 1 for a sheet that only explains others, else 0
    family: int | None  # its group of copies


NO_TOKEN = np.empty(0, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One sheet on its way into a store."""

    record: SheetRecord
    # (d,) float32, unit length; without numbers until the sheet is encoded
    token: FloatArray = field(default_factory=lambda: NO_TOKEN)
    groups: tuple[str, ...] = ()  # that may see it, in an index with permissions


@dataclass(frozen=True, slots=True)
class NewWorkbook:
    """A workbook as it is to be stored, and what it takes the place of."""

    state: WorkbookState
    rows: Sequence[SheetRow] = ()
    discovery: Discovery = Discovery.EMPTY  # links between its sheets, and their claims on others
    # Other roots under which the same file was indexed before; its entries there are removed in the
    # same transaction.
    superseded: Sequence[str] = ()
    # Roots that are no longer folders; a workbook of the same path there is removed as well if it
    # has one of these sheets.
    left: Sequence[str] = ()

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Root and path of the entries that it replaces in any case."""
        place = joined(self.state.root, self.state.path)
        return [(root, under(root, place)) for root in (self.state.root, *self.superseded)]


class Session(Protocol):
    """A connection in a transaction, of any store; `?` in a statement stands for a value."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Any:
        """Run one statement and return its cursor."""

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> Any:
        """Run one statement for each row of values."""

    def listed(self, values: Sequence[Any], kind: SqlType = "text", /) -> tuple[str, Any]:
        """Return a subquery whose column `item` has some values, and the value of its `?`."""

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        """Add new rows to a table, the fastest way."""

    def new_ids(self, table: str, count: int, /) -> list[int]:
        """Return ids for new rows of a table, ascending, after those of all its rows."""


def run_in(
    session: Session, sql: str, values: Sequence[Any], kind: SqlType = "text", *others: Any
) -> list[Any]:
    """The rows of a statement whose `{}` stands for a list of values, before any other values."""
    listed, value = session.listed(values, kind)
    cursor = session.execute(sql.format(listed), (value, *others))
    return list(cursor) if cursor.description else []


class Statements:
    """Statements on some tables within the caller's transaction, the same for every store."""

    def __init__(self, connection: Session) -> None:
        self._connection = connection
        self._run_in = partial(run_in, connection)


class FileConnection(sqlite3.Connection):
    """The session of an index file."""

    @staticmethod
    def listed(values: Sequence[Any], _kind: SqlType = "text", /) -> tuple[str, str]:
        return "(SELECT value AS item FROM json_each(?))", json.dumps(list(values))

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        slots = ", ".join("?" * len(columns))
        self.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({slots})", rows)

    def new_ids(self, table: str, count: int, /) -> list[int]:
        last = self.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0]
        return list(range(last + 1, last + 1 + count))
