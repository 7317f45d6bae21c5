"""Read sheets, tokens and words of an open index in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from psycopg_pool import ConnectionPool

from sat_retriever.index.store.copies import StoredCopies
from sat_retriever.index.store.damage import RowDamage, finite
from sat_retriever.index.store.place import IndexUrl
from sat_retriever.index.store.postgres.conditions import conditions
from sat_retriever.index.store.postgres.database import Database
from sat_retriever.index.store.postgres.rowsecurity import holds_back
from sat_retriever.index.store.postgres.session import Connection, statement
from sat_retriever.index.store.postgres.words import in_names, key_of
from sat_retriever.index.store.records import RecordReader
from sat_retriever.index.store.rows import IdArray
from sat_retriever.index.store.stored_links import StoredLinks
from sat_retriever.records.filters import Filters
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.period.relation import Times, unpacked

_COUNTED = ("format", "visibility", "formulas")
_ALIKE = 20_000  # known words that share half of their letters with a misspelt one
_AT_ONCE = 4_096  # tokens that are fetched together
_OVER, _LEAST_FOUND = 4, 100  # sheets found by an index for each that is asked for, and at least


class PostgresReader(Database, RecordReader):
    """A reader of one index; its links are in `links`, its groups of copies in `copies`."""

    def __init__(
        self, url: IndexUrl, *, writable: bool, pool: ConnectionPool[Connection] | None = None
    ) -> None:
        super().__init__(url, writable=writable, pool=pool)
        self.links = StoredLinks(self._rows, self._in, _listed, self._translated)
        self.copies = StoredCopies(self._rows, self._in, conditions)

    def sheet_counts(self, fact: str) -> dict[str, int]:
        """Return the number of sheets for each "format", "visibility" or "formulas"."""
        if fact not in _COUNTED:
            raise ValueError(f"no counts by {fact!r}")
        return dict(
            self._rows(f"SELECT {fact}, count(*) FROM sheets GROUP BY {fact} ORDER BY {fact}")
        )

    def ids_by_sheet_id(self) -> IdArray:
        """Return the row ids of all sheets in the order of their sheet ids."""
        return self._ids("id", "FROM sheets", "sheet_id")

    def tokens_after(
        self, row_id: int, until: int, count: int, width: int
    ) -> tuple[FloatArray, FloatArray, Times]:
        """Return tokens (n, d), word counts (n, 2) and times (n, 5) of a stretch of sheets.

        All are in the order of row ids. Words are counted in names and in contents.

        Args:
            row_id: The row id before the first.
            until: The last row id.
            count: Number of sheets that there must be.
            width: Token width d.
        """
        tokens = np.empty((count, width), dtype="<f4")
        lengths = np.empty((count, 2), dtype=np.float32)
        months = np.zeros(count, dtype=np.int64)
        row, size = 0, 4 * width
        sql = "SELECT words, texts, months, token FROM tokens WHERE id > ? AND id <= ? ORDER BY id"
        with self._translated():
            for part in self._parts(sql, (row_id, until)):
                if row + len(part) > count or any(len(token) != size for *_, token in part):
                    raise RowDamage("a token has another width, or is no sheet's")
                ends = row + len(part)
                facts = np.array([each[:3] for each in part], dtype=np.int64)
                lengths[row:ends], months[row:ends] = facts[:, :2], facts[:, 2]
                joined = b"".join(each[3] for each in part)
                tokens[row:ends] = np.frombuffer(joined, dtype="<f4").reshape(-1, width)
                row = ends
            if row != count or not finite(tokens):
                raise RowDamage("a token is missing, or has no direction")
        return tokens, lengths, unpacked(months)

    def _tokens_in(self, ids: Sequence[int]) -> list[Any]:
        return self._rows("SELECT id, token FROM tokens WHERE id = ANY(?)", (list(ids),))

    def common_words(self, least: int) -> dict[str, int]:
        """Words that names of so many sheets or more have, in order, and their number."""
        sql = (
            "SELECT word, count(*) FROM (SELECT DISTINCT id, substr(name, 2) AS word "
            "FROM words, unnest(names) AS name) found GROUP BY word HAVING count(*) >= ? "
            'ORDER BY word COLLATE "C"'
        )
        return dict(self._rows(sql, (least,)))

    def postings(self, word: str, after: int = -1) -> tuple[IdArray, ...]:
        """Row ids of the sheets after one that have a word, ascending, one array per field."""
        each = f"(SELECT {_packed('id', 'id')} FROM words WHERE names @> ARRAY[?] AND id > ?)"
        stored = in_names(word)
        values = [value for name in stored for value in (name, after)]
        [row] = self._rows(f"SELECT {', '.join([each] * len(stored))}", values)
        return tuple(unpacked_ids(data) for data in row)

    def all_postings(self, words: Sequence[str]) -> Iterator[tuple[IdArray, ...]]:
        """The postings of many words, in their order.

        All are read in one pass: a search for each word reads most rows again and again.
        """
        sql = (
            f"SELECT name, {_packed('id', 'id')} FROM words, unnest(names) AS name "
            "WHERE name = ANY(?) GROUP BY name"
        )
        stored = {name: word for word in words for name in in_names(word)}
        found: dict[str, IdArray] = {}
        with self._translated():
            for part in self._parts(sql, (list(stored),)):
                found.update((name, unpacked_ids(data)) for name, data in part)
        for word in words:
            yield tuple(found.get(name, unpacked_ids(None)) for name in in_names(word))

    def content_postings(self, groups: Sequence[Sequence[str]], most: int) -> IdArray:
        """Row ids of the first sheets whose contents have a word of each group, ascending.

        Args:
            groups: Words; of each group one is enough.
            most: Most row ids.
        """
        where = " AND ".join(["contents && ?::text[]"] * len(groups))
        # Row ids in an expression: in their order the index of words would not be used.
        source = f"FROM (SELECT id FROM words WHERE {where} ORDER BY id + 0 LIMIT ?) found"
        values = [[key_of(word) for word in group] for group in groups]
        return self._ids("id", source, "id", (*values, most))

    def _spelled_like(self, start: str, end: str) -> list[str]:
        found: dict[str, None] = {}
        for column, first in (("word", start), ("reversed", end[::-1])):
            sql = (
                f"SELECT word FROM spellings WHERE {column} >= ? AND {column} < ? "
                f"ORDER BY {column} LIMIT ?"
            )
            beyond = first[:-1] + chr(ord(first[-1]) + 1)
            found.update(dict.fromkeys(r[0] for r in self._rows(sql, (first, beyond, _ALIKE))))
        return list(found)

    def groups_among(self, names: Sequence[str]) -> list[str]:
        """Return those of some groups that may see a sheet, in order."""
        return sorted(row[0] for row in self._rows("SELECT known_groups(?)", (list(names),)))

    def holds_back(self) -> bool:
        """Return True if the server itself holds back sheets from the role."""
        with self._translated(), self._connection() as session:
            return holds_back(session)

    def documentation(self, after: int = -1) -> IdArray:
        """Row ids of the sheets after one that only explain others, ascending."""
        return self._ids("id", "FROM tokens WHERE documentation = 1 AND id > ?", "id", (after,))

    def main_sheets(self, after: int = -1) -> IdArray:
        """Row ids of the sheets after one whose names abbreviate their workbooks', ascending."""
        return self._ids("id", "FROM tokens WHERE main = 1 AND id > ?", "id", (after,))

    def workbook_numbers(self) -> tuple[IdArray, IdArray]:
        """Row ids of all sheets that have a workbook file, and its number, each (n,)."""
        source, order = "FROM sheets WHERE workbook_id > 0", "workbook_id, id"
        return self._ids("id", source, order), self._ids("workbook_id", source, order)

    def matching(self, filters: Filters) -> IdArray:
        """Return row ids of the sheets that meet all conditions but the period, ascending.

        The search knows the times of all sheets already, and need not read them.
        """
        where, values = conditions(replace(filters, period=None))
        source = f"FROM sheets s LEFT JOIN workbooks w ON w.id = s.workbook_id WHERE {where}"
        return self._ids("s.id", source, "s.id", values)

    def nearest(self, token: FloatArray, k: int) -> IdArray:
        """Row ids of the sheets whose tokens are nearest to a token, best first.

        The index finds several times as many by half precision, roughly; they are ranked by the
        exact tokens, equal ones by row id.

        Args:
            token: A token (d,), unit length.
            k: Most sheets.
        """
        width = len(token)
        asked = np.array2string(token, separator=",", threshold=width + 1, max_line_width=10**6)
        sql = (
            "SELECT s.id, t.token FROM (SELECT stored FROM vectors "
            f"ORDER BY token::halfvec({width}) <#> ?::halfvec({width}) LIMIT ?) found "
            "JOIN sheets s ON s.stored = found.stored JOIN tokens t ON t.id = s.id"
        )
        most = max(_LEAST_FOUND, _OVER * k)
        with self._transaction() as session:
            session.execute(
                "SELECT set_config('hnsw.ef_search', ?, true)", (str(min(most, 1_000)),)
            )
            session.execute("SELECT set_config('hnsw.iterative_scan', 'strict_order', true)")
            rows = session.execute(sql, (asked, most)).fetchall()
        ids = np.array([row_id for row_id, _ in rows], dtype=np.int64)
        tokens = np.frombuffer(b"".join(each for _, each in rows), "<f4").reshape(-1, width)
        return ids[np.lexsort((ids, -(tokens @ token)))][:k]

    def has_field(self, name: str) -> bool:
        """True if a record has a metadata field of this name."""
        sql = (
            "SELECT 1 FROM fields WHERE key = ? AND substr(key, 1, 100) = substr(?, 1, 100) LIMIT 1"
        )
        return bool(self._rows(sql, (name, name)))

    def fields(self) -> list[str]:
        """Return names of the metadata fields of all records, in order."""
        return [row[0] for row in self._rows("SELECT DISTINCT key FROM fields ORDER BY key")]

    def _ids(self, name: str, source: str, order: str, values: Sequence[Any] = ()) -> IdArray:
        """One column of whole numbers, packed by the server: many times faster than rows."""
        [[data]] = self._rows(f"SELECT {_packed(name, order)} {source}", values)
        return unpacked_ids(data)

    def _parts(self, sql: str, values: Sequence[Any]) -> Any:
        """Yield the rows of a long result in lists; nothing else runs on the connection then."""
        with self._transaction() as session, session.connection.cursor("long", binary=True) as long:
            long.execute(statement(sql), values)
            while part := long.fetchmany(_AT_ONCE):
                yield part


def _packed(name: str, order: str) -> str:
    return f"string_agg(int8send({name}), ''::bytea ORDER BY {order})"


def unpacked_ids(data: bytes | None) -> IdArray:
    """Row ids from the bytes that the server packs them into."""
    return np.frombuffer(data or b"", dtype=">i8").astype(np.int64)


def _listed(texts: Sequence[str]) -> tuple[str, list[str]]:
    return "(SELECT unnest(?::text[]))", list(texts)
