"""A store in one SQLite file: its statements where they differ from other databases'."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever.errors import IndexStorageError
from sat_retriever.index.store.conditions import sqlite_conditions
from sat_retriever.index.store.connection import create_file, identity_of, is_writable, open_file
from sat_retriever.index.store.damage import Damage, check_file, find_damage, seal, take_out
from sat_retriever.index.store.file import StoreFile
from sat_retriever.index.store.packing import RowDamage, finite
from sat_retriever.index.store.rows import (
    LEXICAL_FIELDS,
    IdArray,
    RowToken,
)
from sat_retriever.index.store.store import put_meta
from sat_retriever.index.store.words import check_words, drop_spellings, expression, merge_words
from sat_retriever.index.store.write import delete_sheets, insert_sheets
from sat_retriever.records.filters import Filters
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.period.relation import Times, unpacked

_COUNTED = {
    "format": "format",
    "visibility": "visibility",
    "formulas": "coalesce(json_extract(record, '$.formulas'), 'none')",
}
_ALIKE = 20_000  # known words that share half of their letters with a misspelt one


class SqliteStore(StoreFile):
    """A reader and writer of one index file."""

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, str]) -> SqliteStore:
        create_file(path, meta)
        return cls.open(path)

    @classmethod
    def open(cls, path: Path, *, busy_timeout_s: float = 10.0) -> SqliteStore:
        identity = identity_of(path)  # before it is opened: a false error does no harm
        connection = open_file(path, busy_timeout_s=busy_timeout_s)
        return cls(connection, path, writable=is_writable(path), identity=identity)

    # ---- readings

    def _ids(self, name: str, source: str, values: Sequence[Any] = ()) -> IdArray:
        """One column of ids as a JSON array, which NumPy parses many times faster than rows."""
        text = self._rows(f"SELECT json_group_array({name}) FROM {source}", values)[0][0][1:-1]
        return np.fromstring(text, dtype=np.int64, sep=",") if text else np.empty(0, np.int64)

    def sheet_counts(self, fact: str) -> dict[str, int]:
        if fact not in _COUNTED:
            raise ValueError(f"no counts by {fact!r}")
        return dict(
            self._rows(
                f"SELECT {_COUNTED[fact]} AS fact, count(*) FROM sheets GROUP BY 1 ORDER BY 1"
            )
        )

    def ids_by_sheet_id(self) -> IdArray:
        return self._ids("id", "(SELECT id FROM sheets ORDER BY sheet_id)")

    def tokens_after(
        self, row_id: int, until: int, count: int, width: int
    ) -> tuple[FloatArray, FloatArray, Times]:
        tokens = np.empty((count, width), dtype="<f4")
        lengths = np.empty((count, 2), dtype=np.float32)
        months = np.zeros(count, dtype=np.int64)
        # Row by row into place: joining the blobs first takes twice the time and memory.
        space, size, row = tokens.data.cast("B"), 4 * width, 0
        with self._lock, self._translated():
            for words, texts, token, when in self._connection.execute(
                "SELECT words, texts, token, months FROM tokens WHERE id > ? AND id <= ? "
                "ORDER BY id",
                (row_id, until),
            ):
                kinds = (type(words), type(texts), type(token))
                if row == count or kinds != (int, int, bytes) or len(token) != size:
                    raise RowDamage("a token has another width or no words, or is no sheet's")
                space[row * size : (row + 1) * size] = token
                lengths[row], months[row] = (words, texts), when
                row += 1
            if row != count or not finite(tokens):
                raise RowDamage("a token is missing, or has no direction")
        return tokens, lengths, unpacked(months)

    def _tokens_in(self, ids: Sequence[int]) -> list[Any]:
        # A tenth of the time of a list of placeholders.
        sql = "SELECT t.id, t.token FROM json_each(?) j JOIN tokens t ON t.id = j.value"
        return self._rows(sql, (json.dumps(ids),))

    def common_words(self, least: int) -> dict[str, int]:
        made = (
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.name_words USING fts5vocab(main, lexical, row)"
        )
        self._rows(made)
        sql = "SELECT term, doc FROM temp.name_words WHERE doc >= ? ORDER BY term"
        return dict(self._rows(sql, (least,)))

    def postings(self, word: str, after: int = -1) -> tuple[IdArray, ...]:
        quoted = word.replace('"', '""')
        found = "lexical WHERE lexical MATCH ? AND rowid > ?"
        return tuple(
            self._ids("rowid", found, (f'{field} : "{quoted}"', after)) for field in LEXICAL_FIELDS
        )

    def all_postings(self, words: Sequence[str]) -> Iterator[tuple[IdArray, ...]]:
        return map(self.postings, words)

    def content_postings(self, groups: Sequence[Sequence[str]], most: int) -> IdArray:
        found = "SELECT rowid FROM content_words WHERE content_words MATCH ? ORDER BY rowid LIMIT ?"
        return self._ids("rowid", f"({found})", (expression(groups), most))

    def _spelled_like(self, start: str, end: str) -> list[str]:
        return self._spelled_in("spellings", start, end)

    def _spelled_in(self, table: str, start: str, end: str) -> list[str]:
        found: dict[str, None] = {}
        for column, first in (("word", start), ("reversed", end[::-1])):
            sql = f"SELECT word FROM {table} WHERE {column} >= ? AND {column} < ? LIMIT ?"
            beyond = first[:-1] + chr(ord(first[-1]) + 1)
            found.update(dict.fromkeys(r[0] for r in self._rows(sql, (first, beyond, _ALIKE))))
        return list(found)

    def documentation(self, after: int = -1) -> IdArray:
        sql = "(SELECT id FROM tokens WHERE id > ? AND documentation = 1 ORDER BY id)"
        return self._ids("id", sql, (after,))

    def main_sheets(self, after: int = -1) -> IdArray:
        return self._ids(
            "id", "(SELECT id FROM tokens WHERE id > ? AND main = 1 ORDER BY id)", (after,)
        )

    def workbook_numbers(self) -> tuple[IdArray, IdArray]:
        order = "FROM sheets WHERE workbook_id > 0 ORDER BY workbook_id, id"
        return self._ids("id", f"(SELECT id {order})"), self._ids(
            "workbook_id", f"(SELECT workbook_id {order})"
        )

    def matching(self, filters: Filters) -> IdArray:
        where, values = sqlite_conditions(replace(filters, period=None))
        joined = "sheets s LEFT JOIN workbooks w ON w.id = s.workbook_id"
        return self._ids("id", f"(SELECT s.id FROM {joined} WHERE {where} ORDER BY s.id)", values)

    def has_field(self, name: str) -> bool:
        sql = "SELECT 1 FROM sheets, json_each(sheets.metadata) WHERE key = ? LIMIT 1"
        return bool(self._rows(sql, (name,)))

    def fields(self) -> list[str]:
        sql = "SELECT DISTINCT key FROM sheets, json_each(sheets.metadata) ORDER BY key"
        return [row[0] for row in self._rows(sql)]

    # ---- changes

    def replace_tokens(self, tokens: Iterable[RowToken], meta: Mapping[str, str | None]) -> None:
        with self._writing() as connection:
            update, done = "UPDATE tokens SET token = ? WHERE id = ?", 0
            for row_id, token in tokens:
                done += connection.execute(update, (token, row_id)).rowcount
            sheets = connection.execute("SELECT count(*) FROM tokens").fetchone()[0]
            if done != sheets:
                raise IndexStorageError(
                    f"{done:,} new tokens do not fit the {sheets:,} sheets of {self.path}; another "
                    "program changed it meanwhile, try again"
                )
            put_meta(connection, meta)
            sealed = "SELECT id FROM workbooks WHERE seal != ''"
            seal(connection, [row[0] for row in connection.execute(sealed).fetchall()])

    def repair(self, width: int) -> Damage:
        with self._writing() as connection:
            check_words(connection)
            check_file(connection, self.path)
            damage = find_damage(connection, width)
            take_out(connection, damage)
        return damage

    def forget_words(self) -> None:
        with self._writing() as connection:
            merge_words(connection)

    def unrepaired(self, damage: Damage) -> list[tuple[str, str]]:
        ids = [workbook_id for workbook_id, _root, _path in damage.workbooks]
        return self._in("SELECT root, path FROM workbooks WHERE seal = '' AND id IN ({})", ids)

    _insert_sheets = staticmethod(insert_sheets)
    _delete_sheets = staticmethod(delete_sheets)
    _drop_spellings = staticmethod(drop_spellings)
    _seal = staticmethod(seal)
