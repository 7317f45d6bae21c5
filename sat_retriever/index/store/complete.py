"""Check an index file that nobody writes to, and note settings in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sat_retriever.errors import IndexDamagedError, IndexFormatError
from sat_retriever.index.store.connection import open_as_it_is, translated
from sat_retriever.index.store.packing import register
from sat_retriever.index.store.place import Place

_NAMED = 5  # damaged sheets that an error names
_DAMAGED = (
    "SELECT sheet_id FROM sheets WHERE crc != checksum(CAST(record AS BLOB)) UNION ALL "
    "SELECT s.sheet_id FROM contents c JOIN sheets s ON s.id = c.id "
    f"WHERE c.crc != checksum(c.packed) LIMIT {_NAMED}"
)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a checked index file holds.

    Attributes:
        schema: Number of its schema.
        meta: Its settings.
    """

    schema: int
    workbooks: int
    sheets: int
    meta: Mapping[str, str]


def checked_facts(file: Path, place: Place) -> FileFacts:
    """Check a copy of an index, and return what it holds.

    Args:
        file: The copy.
        place: Where the index is, for errors.

    Raises:
        IndexFormatError: If the file is broken, or no index.
        IndexDamagedError: If rows are damaged.
    """
    with closing(open_as_it_is(file)) as copy, translated(file):
        found = copy.execute("PRAGMA quick_check(1)").fetchall()
        if found != [("ok",)]:
            raise IndexFormatError(
                f"{place} is broken ({found[0][0]}), so no backup was made; restore an earlier "
                "one, or index the folders anew into another file"
            )
        register(copy)
        damaged = [row[0] for row in copy.execute(_DAMAGED)]
        if damaged:
            raise IndexDamagedError(
                f"{place} has damaged rows ({', '.join(damaged)}), so no backup was made; repair "
                f"them from their files with: sat index FOLDER --verify --index {place}"
            )
        [(schema,)] = copy.execute("PRAGMA user_version")
        workbooks, sheets = (
            copy.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("workbooks", "sheets")
        )
        return FileFacts(schema, workbooks, sheets, _meta(copy))


def meta_of(file: Path) -> Mapping[str, str]:
    """Return the settings in an index file."""
    with closing(open_as_it_is(file)) as copy, translated(file):
        return _meta(copy)


def note_meta(file: Path, values: Mapping[str, str | None]) -> None:
    """Note settings in an index file; None drops one."""
    with translated(file), closing(sqlite3.connect(file)) as copy, copy:
        for key, value in values.items():
            copy.execute("DELETE FROM meta WHERE key = ?", (key,))
            if value is not None:
                copy.execute("INSERT INTO meta VALUES (?, ?)", (key, value))


def _meta(copy: sqlite3.Connection) -> dict[str, str]:
    return dict(copy.execute("SELECT key, value FROM meta"))
