"""A store in a schema of a PostgreSQL database: its statements where they differ."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever.errors import IndexBusyError
from sat_retriever.index.store.damage import Damage
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.index.store.postgres import database, vectors
from sat_retriever.index.store.postgres.damage import find_damage, take_out
from sat_retriever.index.store.postgres.migrating import export_file
from sat_retriever.index.store.postgres.rowsecurity import holds_back, protect, protect_vectors
from sat_retriever.index.store.postgres.schema import PROTECTED
from sat_retriever.index.store.postgres.session import PostgresSession, Table, statement
from sat_retriever.index.store.postgres.write import (
    delete_sheets,
    drop_spellings,
    in_names,
    insert_sheets,
    key_of,
)
from sat_retriever.index.store.rows import IdArray, RowToken

_AT_ONCE = 4_096  # tokens that are fetched together
_SAMPLED = 20_000  # sheets, at least, whose contents tell which words are common
_WORDS_AT_ONCE = 256  # whose postings in contents are in memory together
MANY = 1_000  # notes of a second pass from which on its joins are planned with fresh statistics
_SOME = (
    "(SELECT 1 FROM unsettled OFFSET ? LIMIT 1) UNION (SELECT 1 FROM stale_copies OFFSET ? LIMIT 1)"
)
_JOINED = (
    "sheets, workbooks, links, external_references, key_columns, key_blocks, crowded_blocks, "
    "unsettled, copies, copy_blocks, stale_copies"
)


class PostgresStore(database.Database):
    """A reader and writer of one index."""

    counted = {name: name for name in ("format", "visibility", "formulas")}  # noqa: RUF012

    @classmethod
    def create(cls, url: IndexUrl, meta: Mapping[str, str]) -> PostgresStore:
        database.create(url, meta)
        return cls.open(url)

    @classmethod
    def open(cls, url: IndexUrl) -> PostgresStore:
        return cls(url, writable=database.prepare(url))

    # ---- readings

    def _tokens_in(self, ids: Sequence[int]) -> list[Any]:
        return self._rows("SELECT id, token FROM tokens WHERE id = ANY(?)", (list(ids),))

    def common_words(self, least: int, *, contents: bool) -> list[str]:
        step = max(1, self.counts()["sheets"] // _SAMPLED) if contents else 1
        words = (
            f"SELECT word FROM words, unnest(contents) AS word WHERE id % {step} = 0"
            if contents
            else "SELECT DISTINCT id, substr(name, 2) AS word FROM words, unnest(names) AS name"
        )
        sql = (
            f"SELECT word FROM ({words}) found GROUP BY word HAVING count(*) >= ? "
            'ORDER BY word COLLATE "C"'
        )
        return [row[0] for row in self._rows(sql, (max(1, least // step),))]

    def postings(self, word: str, after: int = -1) -> tuple[IdArray, ...]:
        each = f"(SELECT {_packed('id', 'id')} FROM words WHERE names @> ARRAY[?] AND id > ?)"
        stored = in_names(word)
        values = [value for name in stored for value in (name, after)]
        [row] = self._rows(f"SELECT {', '.join([each] * len(stored))}", values)
        return tuple(unpacked_ids(data) for data in row)

    def all_postings(self, words: Sequence[str]) -> Iterator[tuple[IdArray, ...]]:
        found = self._postings_of("names", [name for word in words for name in in_names(word)])
        for word in words:
            yield tuple(found.get(name, unpacked_ids(None)) for name in in_names(word))

    def content_postings(self, word: str, after: int = -1, most: int | None = None) -> IdArray:
        # Row ids in an expression: in their order the index of words would not be used.
        source = (
            "(SELECT id FROM words WHERE contents @> ARRAY[?] AND id > ? ORDER BY id + 0 LIMIT ?) "
            "found"
        )
        return self._ids("id", source, "id", (key_of(word), after, most))

    def all_content_postings(self, words: Sequence[str]) -> Iterator[IdArray]:
        for start in range(0, len(words), _WORDS_AT_ONCE):
            part = [key_of(word) for word in words[start : start + _WORDS_AT_ONCE]]
            found = self._postings_of("contents", part)
            yield from (found.get(word, unpacked_ids(None)) for word in part)

    def _postings_of(self, column: str, words: Sequence[str]) -> dict[str, IdArray]:
        """Row ids of the sheets with each of many words as they are stored, in one pass."""
        sql = (
            f"SELECT word, {_packed('id', 'id')} FROM words, unnest({column}) AS word "
            "WHERE word = ANY(?) GROUP BY word"
        )
        with self._translated():
            return {word: unpacked_ids(data) for word, data in self._stream(sql, (list(words),))}

    def groups_among(self, names: Sequence[str]) -> list[str]:
        return sorted(row[0] for row in self._rows("SELECT known_groups(?)", (list(names),)))

    def holds_back(self) -> bool:
        with self._translated(), self._connection() as session:
            return holds_back(session)

    def has_field(self, name: str) -> bool:
        sql = (
            "SELECT 1 FROM fields WHERE key = ? AND substr(key, 1, 100) = substr(?, 1, 100) LIMIT 1"
        )
        return bool(self._rows(sql, (name, name)))

    def fields(self) -> list[str]:
        return [row[0] for row in self._rows("SELECT DISTINCT key FROM fields ORDER BY key")]

    def _ids(self, name: str, source: str, order: str, values: Sequence[Any] = ()) -> IdArray:
        # Packed by the server: many times faster than rows.
        [[data]] = self._rows(f"SELECT {_packed(name, order)} FROM {source}", values)
        return unpacked_ids(data)

    def _stream(self, sql: str, values: Sequence[Any]) -> Generator[Sequence[Any]]:
        with self._transaction() as session, session.connection.cursor("long", binary=True) as long:
            long.execute(statement(sql), values)
            while part := long.fetchmany(_AT_ONCE):
                yield from part

    # ---- changes

    def copy_to(self, path: Path) -> None:
        with self.reading(), self._connection() as session:
            export_file(session, path)

    def _replace_tokens(
        self, session: PostgresSession, tokens: Iterable[RowToken], width: int, /
    ) -> int:
        vectors.name_vectors(session)
        session.execute(
            "CREATE TEMP TABLE fresh (id bigint PRIMARY KEY, token bytea NOT NULL, "
            "vector halfvec NOT NULL) ON COMMIT DROP"
        )
        half = vectors.HalfVector.of
        session.copy(
            Table("fresh", ("id", "token", "vector"), ("int8", "bytea", "halfvec")),
            ((row_id, x, half(np.frombuffer(x, dtype="<f4"))) for row_id, x in tokens),
        )
        update = "UPDATE tokens t SET token = f.token FROM fresh f WHERE f.id = t.id"
        done = session.execute(update).rowcount
        _replace_vectors(session, width)
        return done

    def settle(self) -> None:
        if self._rows(_SOME, (MANY, MANY)):  # the server has no idea of new rows until it looks
            with suppress(IndexBusyError), self._transaction() as session:
                session.execute(f"ANALYZE {_JOINED}")
        super().settle()

    def forget_words(self) -> None:
        """Do nothing: the server takes deleted words out by itself (VACUUM)."""

    def unrepaired(self, damage: Damage) -> list[tuple[str, str]]:
        ids = [workbook_id for workbook_id, _root, _path in damage.workbooks]
        return self._in("SELECT root, path FROM workbooks WHERE id IN ({})", ids)

    _insert_sheets = staticmethod(insert_sheets)
    _delete_sheets = staticmethod(delete_sheets)
    _drop_spellings = staticmethod(drop_spellings)
    _find_damage = staticmethod(find_damage)
    _take_out = staticmethod(take_out)

    def _protect(self, session: PostgresSession, *, protected: bool) -> None:
        protect(session, PROTECTED, protected=protected)


def _packed(name: str, order: str) -> str:
    return f"string_agg(int8send({name}), ''::bytea ORDER BY {order})"


def unpacked_ids(data: bytes | None) -> IdArray:
    """Row ids from the bytes that the server packs them into."""
    return np.frombuffer(data or b"", dtype=">i8").astype(np.int64)


def _replace_vectors(session: PostgresSession, width: int) -> None:
    """Fill another table, which takes the place of the old one at once: readers hardly wait."""
    session.execute("CREATE TABLE new_vectors (LIKE vectors)")
    session.execute(
        "INSERT INTO new_vectors (stored, token) SELECT s.stored, f.vector "
        "FROM fresh f JOIN sheets s ON s.id = f.id"
    )
    session.execute(
        "ALTER TABLE new_vectors ADD PRIMARY KEY (stored), ADD FOREIGN KEY (stored) "
        "REFERENCES sheets (stored) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
    )
    if vectors.has_vector_index(session) and width <= vectors.MAX_INDEXED:
        vectors.index_vectors(session, width, "new_vectors")
    session.execute("DROP TABLE vectors")
    session.execute("ALTER TABLE new_vectors RENAME TO vectors")
    protect_vectors(session)
