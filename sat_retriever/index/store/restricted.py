"""An index file as some groups see it: views of its tables stand before the tables.

A name without a schema means the view, so no statement can forget to leave out the other sheets.
Should one name a table itself, SQLite refuses it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sat_retriever.errors import IndexStorageError
from sat_retriever.index.store.connection import identity_of, open_reader, translated
from sat_retriever.index.store.insight import InSight, unnamed_damage
from sat_retriever.index.store.permissions import SOURCE
from sat_retriever.index.store.sqlite import SqliteStore
from sat_retriever.records.permissions import EVERYONE

_BUSY_S = 10.0
_OF_GROUPS = "p.name IN (SELECT name FROM temp.principals)"


def _seen(row_id: str) -> str:
    """Condition that the sheet of a row id is visible."""
    return f"EXISTS (SELECT 1 FROM main.permissions p WHERE p.sheet = {row_id} AND {_OF_GROUPS})"


def _seen_end(sheet_id: str) -> str:
    """Condition that the sheet of a sheet id is visible."""
    return (
        "EXISTS (SELECT 1 FROM main.sheets s JOIN main.permissions p ON p.sheet = s.id "
        f"WHERE s.sheet_id = {sheet_id} AND {_OF_GROUPS})"
    )


_SEEN_WORKBOOK = (
    "EXISTS (SELECT 1 FROM main.sheets s JOIN main.permissions p ON p.sheet = s.id "
    f"WHERE s.workbook_id = t.id AND {_OF_GROUPS})"
)
# What writers alone need, and what cannot be told apart by sheet.
_HIDDEN = (
    "permissions", "spellings", "key_blocks", "copy_blocks", "stale_families", "stale_copies",
    "unsettled", "crowded_blocks",
)  # fmt: skip
# Of each table its columns and the condition on its row `t`. A workbook's hash and skipped parts
# are about all of its sheets.
_VIEWS = {
    "meta": ("*", f"t.key != '{SOURCE}'"),
    "workbooks": (
        "id, root, path, file, size, mtime_ns, checked_ns, '' AS content_hash, '[]' AS skipped, "
        "within, version, '' AS seal",
        _SEEN_WORKBOOK,
    ),
    "sheets": ("*", _seen("t.id")),
    "tokens": ("*", _seen("t.id")),
    "contents": ("*", _seen("t.id")),
    "lexical": ("t.rowid AS rowid, t.lexical AS lexical", _seen("t.rowid")),
    "content_words": ("t.rowid AS rowid, t.content_words AS content_words", _seen("t.rowid")),
    "links": ("*", f"{_seen_end('t.source')} AND {_seen_end('t.target')}"),
    "external_references": ("t.rowid AS rowid, *", _seen("t.sheet")),
    "periods": ("*", _seen("t.sheet")),
    "key_columns": ("*", _seen("t.sheet")),
    "copies": ("*", _seen("t.sheet")),
    **dict.fromkeys(_HIDDEN, ("*", "0")),
}
# Words of all sheets: `InSight` shows those that a visible one has.
_SPELLINGS = "CREATE TEMP VIEW all_spellings AS SELECT word, reversed FROM main.spellings"
_OWN = frozenset((*_VIEWS, "all_spellings"))


class RestrictedFile(InSight, SqliteStore):
    """What some groups see of an index file; safe to share between threads."""

    @classmethod
    def of(cls, store: SqliteStore, principals: Sequence[str]) -> RestrictedFile:
        """Open the file of a store anew, for reading what some groups may see.

        Args:
            store: The store, open.
            principals: The groups; everyone's need not be named.

        Raises:
            IndexStorageError: If the file cannot be opened, or is no longer at its path.
        """
        connection = open_reader(store.path, busy_timeout_s=_BUSY_S)
        try:
            if identity_of(store.path) != store.identity:
                raise IndexStorageError(f"{store.path} was replaced meanwhile; open it again")
            with translated(store.path):
                _restrict(connection, principals)
        except BaseException:
            connection.close()
            raise
        restricted = cls(connection, store.path, writable=False, identity=store.identity)
        restricted.principals = tuple(principals)
        return restricted

    @contextmanager
    def _translated(self) -> Iterator[None]:
        with unnamed_damage(self.path), super()._translated():
            yield

    def _spelled_like(self, start: str, end: str) -> list[str]:
        return self._spelled_in("all_spellings", start, end)


def _restrict(connection: sqlite3.Connection, principals: Sequence[str]) -> None:
    """Let a new connection see the sheets of some groups, and write nothing."""
    connection.execute("CREATE TEMP TABLE principals (name TEXT PRIMARY KEY) WITHOUT ROWID")
    names = sorted({*principals, EVERYONE})
    connection.executemany("INSERT INTO principals VALUES (?)", [(name,) for name in names])
    for name, (columns, condition) in _VIEWS.items():
        connection.execute(
            f"CREATE TEMP VIEW {name} AS SELECT {columns} FROM main.{name} t WHERE {condition}"
        )
    connection.execute(_SPELLINGS)
    connection.execute("PRAGMA query_only = ON")
    connection.set_authorizer(_authorized)


def _authorized(
    action: int, table: str | None, column: str | None, schema: str | None, view: str | None
) -> int:
    """Refuse to read a column of a table itself, past its view.

    A common table expression has a name as well, but is no view.
    """
    direct = action == sqlite3.SQLITE_READ and schema == "main" and view not in _OWN
    return sqlite3.SQLITE_DENY if direct and column and table in _VIEWS else sqlite3.SQLITE_OK
