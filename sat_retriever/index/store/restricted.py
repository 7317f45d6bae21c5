"""A store as some groups see it: what all such stores share, and an index file.

In a file, views of its tables stand before the tables. A name without a schema means the view, so
no statement can forget to leave out the other sheets. Should one name a table itself, SQLite
refuses it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from sat_retriever.errors import IndexDamagedError, IndexStorageError, PermissionsError
from sat_retriever.index.store.connection import identity_of, open_reader, translated
from sat_retriever.index.store.reader import NOTED
from sat_retriever.index.store.rows import RESTRICTED, SOURCE, FileConnection, IdArray
from sat_retriever.index.store.sqlite import SqliteStore
from sat_retriever.index.store.store import Store
from sat_retriever.index.store.words import spellings
from sat_retriever.records.permissions import EVERYONE
from sat_retriever.text.contents import content_words
from sat_retriever.text.segment import stem
from sat_retriever.text.spelling import nearest

_LOOKED_AT = 256  # sheets with a word that are read to find its spelling
_AT_ONCE = 16
_REMEMBERED = 4_096  # spellings
_OF_GROUPS = "p.name IN (SELECT name FROM temp.principals)"


def _seen(row_id: str) -> str:
    return f"EXISTS (SELECT 1 FROM main.permissions p WHERE p.sheet = {row_id} AND {_OF_GROUPS})"


def _seen_end(sheet_id: str) -> str:
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
# Words of all sheets: `RestrictedReader` shows those that a visible one has.
_SPELLINGS = "CREATE TEMP VIEW all_spellings AS SELECT word, reversed FROM main.spellings"
_OWN = frozenset((*_VIEWS, "all_spellings"))


@contextmanager
def unnamed_damage(path: object) -> Iterator[None]:
    """Name no sheet in an error about damage in the block; it may be a hidden one."""
    try:
        yield
    except IndexDamagedError:
        raise IndexDamagedError(
            f"{path} has damaged rows; let its owner run: sat index FOLDER --verify"
        ) from None


class ReadingAlone(Store):
    """What a store that is open for reading alone refuses."""

    def copy_to(self, path: Path) -> None:
        """Refuse: a copy would hold every sheet."""
        raise PermissionsError(f"only the owner of {self.path} can copy it to {path}")

    def delete(self) -> None:
        self._check_writable()

    def _check_writable(self) -> None:
        raise PermissionsError(
            f"{self.path} is open for some groups alone, which may read: change it as its owner"
        )


class RestrictedReader(ReadingAlone):
    """Readings of what some groups may see; the rest is as if it were not there.

    It stands before the class of a store, all of whose tables show only rows of visible sheets.
    """

    @property
    def beside(self) -> Path | None:
        return None  # nobody who sees all sheets has left files for this role

    def bytes(self) -> int:
        """Size of the visible records, their contents and tokens."""
        sized = (("sheets", "record"), ("contents", "packed"), ("tokens", "token"))
        sql = "SELECT coalesce(sum(length({})), 0) FROM {}"
        return sum(int(self._rows(sql.format(name, table))[0][0]) for table, name in sized)

    def spelled_near(self, word: str) -> list[str]:
        known = partial(self._known_spelling, self.generation())
        return nearest(word, partial(self._spelled_as, word), known)

    def _spelled_as(self, _word: str, start: str, end: str) -> list[str]:
        """Words that may be known, among them all known ones that begin or end with letters."""
        return self._spelled_like(start, end)

    def groups_of(self, _sheet_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return {}  # groups are the owner's

    def group_counts(self) -> dict[str, int]:
        return {}

    @cached_property
    def _known_spelling(self) -> Callable[[int, str], bool]:
        return lru_cache(maxsize=_REMEMBERED)(self._is_spelled)

    def _is_spelled(self, _generation: int, word: str) -> bool:
        """True if a visible sheet has a word in this spelling.

        Of a word with the same stem in very many sheets the first ones are read.
        """
        having = self._with_stem(stem(word))[:_LOOKED_AT].tolist()
        return any(
            word in self._spellings(having[start : start + _AT_ONCE])
            for start in range(0, len(having), _AT_ONCE)
        )

    def _spellings(self, ids: Sequence[int]) -> set[str]:
        sheet_ids = list(self.sheet_ids(ids).values())
        records, contents = self.records(sheet_ids), self.contents(sheet_ids)
        return {
            word
            for each, texts in contents.items()
            if each in records
            for word in spellings(records[each], content_words(texts))
        }

    def _with_stem(self, stemmed: str) -> IdArray:
        """Row ids of the visible sheets with a stem in names or contents, ascending."""
        found = (*self.postings(stemmed), self.content_postings(stemmed, most=_LOOKED_AT))
        return np.unique(np.concatenate(found))


class RestrictedFile(RestrictedReader, SqliteStore):
    """What some groups see of an index file; safe to share between threads."""

    spelled = "all_spellings"
    beside = SqliteStore.beside  # of all sheets: `read_columns` takes the visible ones

    @classmethod
    def of(cls, store: SqliteStore, principals: Sequence[str]) -> RestrictedFile:
        connection = open_reader(store.path)
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


class UnrestrictedReader(ReadingAlone):
    """Readings for nobody in particular, as long as there are no permissions.

    Another process may give some at any time, so each statement looks anew. It stands before the
    class of a store, and uses connections of the store of all sheets.
    """

    def close(self) -> None:
        """Do nothing: the connections are those of the whole index."""


def say_who_asks(path: object) -> PermissionsError:
    """The error of reading sheets that are for their groups alone for nobody in particular."""
    return PermissionsError(
        f"{path} has permissions: say who asks, by principals=['a group'], or --as GROUP in the "
        "shell; OWNER or --as-owner sees all"
    )


class _OpenSession:
    """A connection that runs no statement once an index has permissions.

    It has nothing but what readings need, so that none can pass it by.
    """

    def __init__(self, connection: FileConnection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._looked = False  # in the transaction that is open, which has one view
        self.listed = connection.listed

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> sqlite3.Cursor:
        """Run a statement; `PermissionsError` if it reads anything but permissions, once given."""
        if sql not in _ALWAYS and not self._looked:
            if self._connection.execute(_IS_RESTRICTED, (RESTRICTED,)).fetchone():
                raise say_who_asks(self._path)
            self._looked = self._connection.in_transaction
        elif sql == "ROLLBACK":
            self._looked = False
        return self._connection.execute(sql, values)


_ALWAYS = frozenset((NOTED, "BEGIN", "ROLLBACK"))
_IS_RESTRICTED = "SELECT 1 FROM meta WHERE key = ?"


class UnrestrictedFile(UnrestrictedReader, SqliteStore):
    """An index file read for nobody in particular; safe to share between threads."""

    @classmethod
    def of(cls, store: SqliteStore) -> UnrestrictedFile:
        session = cast("FileConnection", _OpenSession(store._connection, store.path))
        made = cls(session, store.path, writable=False, identity=store.identity)
        made._lock = store._lock
        return made


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
    """Refuse to read a column past its view; a common table expression has a name, but no view."""
    direct = action == sqlite3.SQLITE_READ and schema == "main" and view not in _OWN
    return sqlite3.SQLITE_DENY if direct and column and table in _VIEWS else sqlite3.SQLITE_OK
