"""An index in PostgreSQL as some groups see it: row-level security holds back the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from sat_retriever.errors import PermissionsError
from sat_retriever.index.store.postgres.rowsecurity import SETTING, packed_principals
from sat_retriever.index.store.postgres.session import PostgresSession
from sat_retriever.index.store.postgres.store import PostgresStore, unpacked_ids
from sat_retriever.index.store.postgres.write import in_names, key_of
from sat_retriever.index.store.reader import NOTED
from sat_retriever.index.store.restricted import (
    RestrictedReader,
    UnrestrictedReader,
    say_who_asks,
    unnamed_damage,
)
from sat_retriever.index.store.rows import IdArray
from sat_retriever.records.permissions import EVERYONE
from sat_retriever.text.spelling import MOST_CHANGES

_WORKBOOKS = re.compile(r"\bworkbooks\b")
_SET = f"SELECT set_config('{SETTING}', ?, false)"


class UnrestrictedDatabase(UnrestrictedReader, PostgresStore):
    """An index in PostgreSQL read for nobody in particular; safe to share between threads."""

    @classmethod
    def of(cls, store: PostgresStore) -> UnrestrictedDatabase:
        return cls(store.path, writable=False, pool=store.pool)

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        if sql != NOTED:
            self._look()
        return super()._rows(sql, values)

    @contextmanager
    def _transaction(self) -> Iterator[PostgresSession]:
        self._look()
        with super()._transaction() as session:
            yield session

    def _look(self) -> None:
        if self.is_restricted():  # in one view of the database it is read once
            raise say_who_asks(self.path)


class RestrictedDatabase(RestrictedReader, PostgresStore):
    """What some groups see; each connection of the whole index that it takes is set to them."""

    @classmethod
    def of(cls, store: PostgresStore, principals: Sequence[str]) -> RestrictedDatabase:
        """Return what some groups see of an open store, whose role must not own the index."""
        if not store.holds_back():
            raise PermissionsError(
                f"the role of {store.path} owns the index, or is free of row-level security: it "
                "sees all sheets; search for groups as a role that may only read"
            )
        made = cls(store.path, writable=False, pool=store.pool)
        made.principals = tuple(principals)
        return made

    def close(self) -> None:
        """Do nothing: the connections are those of the whole index."""

    @contextmanager
    def _connection(self) -> Iterator[PostgresSession]:
        if getattr(self._own, "session", None) is not None:
            yield self._own.session
            return
        groups = packed_principals(sorted({*(self.principals or ()), EVERYONE}))
        with super()._connection() as session:
            session.execute(_SET, (groups,))
            try:
                yield session
            finally:
                with suppress(psycopg.Error):  # a broken connection is not used again
                    session.execute(_SET, ("",))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        with unnamed_damage(self.path), super()._translated():
            yield

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a statement; the server shows workbooks by a view alone."""
        with self._translated():
            return super()._rows(_WORKBOOKS.sub("seen_workbooks", sql), values)

    def postings(self, word: str, after: int = -1) -> tuple[IdArray, ...]:
        stored = in_names(word)
        sql = f"SELECT {', '.join(['seen_names(?, ?)'] * len(stored))}"
        [row] = self._rows(sql, [value for name in stored for value in (name, after)])
        return tuple(map(unpacked_ids, row))

    def content_postings(self, word: str, after: int = -1, most: int | None = None) -> IdArray:
        key = [key_of(word)]
        [[data]] = self._rows(
            "SELECT seen_contents(?::text[], ?::text[], '[]', ?)", (key, key, most)
        )
        found = unpacked_ids(data)
        return found[found > after]

    def _spelled_as(self, word: str, start: str, end: str) -> list[str]:
        ranges = [(text, text[:-1] + chr(ord(text[-1]) + 1)) for text in (start, end[::-1])]
        lengths = (len(word) - MOST_CHANGES, len(word) + MOST_CHANGES)
        values = (*ranges[0], *ranges[1], word[0], *lengths)
        found = self._rows("SELECT * FROM seen_spellings(?, ?, ?, ?, ?, ?, ?)", values)
        return [row[0] for row in found]
