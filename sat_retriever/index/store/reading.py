"""Read sheets, workbooks, tokens and words of an open index file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever.index.store.conditions import sqlite_conditions
from sat_retriever.index.store.connection import FileConnection
from sat_retriever.index.store.copies import StoredCopies
from sat_retriever.index.store.damage import RowDamage, finite
from sat_retriever.index.store.file import StoreFile
from sat_retriever.index.store.records import RecordReader
from sat_retriever.index.store.rows import LEXICAL_FIELDS, IdArray
from sat_retriever.index.store.stored_links import StoredLinks
from sat_retriever.index.store.words import expression
from sat_retriever.records.filters import Filters
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.period.relation import Times, unpacked

_COUNTED = {
    "format": "format",
    "visibility": "visibility",
    "formulas": "coalesce(json_extract(record, '$.formulas'), 'none')",
}
_ALIKE = 20_000  # known words that share half of their letters with a misspelt one


class StoreReader(StoreFile, RecordReader):
    """A reader of one index file; its links are in `links`, its groups of copies in `copies`."""

    def __init__(
        self,
        connection: FileConnection,
        path: Path,
        *,
        writable: bool,
        identity: tuple[int, ...],
    ) -> None:
        super().__init__(connection, path, writable=writable, identity=identity)
        self.links = StoredLinks(self._rows, self._in, _listed, self._translated)
        self.copies = StoredCopies(self._rows, self._in, sqlite_conditions)

    def _marked(self, column: str, after: int) -> IdArray:
        """Row ids of the sheets after one with a 1 in a column of the tokens, ascending."""
        marked = f"SELECT id FROM tokens WHERE id > ? AND {column} = 1 ORDER BY id"
        return _id_array(self._rows(f"SELECT json_group_array(id) FROM ({marked})", (after,)))

    def sheet_counts(self, fact: str) -> dict[str, int]:
        """Return the number of sheets for each "format", "visibility" or "formulas"."""
        if fact not in _COUNTED:
            raise ValueError(f"no counts by {fact!r}")
        return dict(
            self._rows(
                f"SELECT {_COUNTED[fact]} AS fact, count(*) FROM sheets GROUP BY 1 ORDER BY 1"
            )
        )

    def ids_by_sheet_id(self) -> IdArray:
        """Return the row ids of all sheets in the order of their sheet ids."""
        return _id_array(
            self._rows("SELECT json_group_array(id) FROM (SELECT id FROM sheets ORDER BY sheet_id)")
        )

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
        """Words that names of so many sheets or more have, in order, and their number."""
        made = (
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.name_words USING fts5vocab(main, lexical, row)"
        )
        self._rows(made)
        sql = "SELECT term, doc FROM temp.name_words WHERE doc >= ? ORDER BY term"
        return dict(self._rows(sql, (least,)))

    def postings(self, word: str, after: int = -1) -> tuple[IdArray, ...]:
        """Row ids of the sheets after one that have a word, ascending, one array per field."""
        quoted = word.replace('"', '""')
        return tuple(
            _id_array(
                self._rows(
                    "SELECT json_group_array(rowid) FROM lexical "
                    "WHERE lexical MATCH ? AND rowid > ?",
                    (f'{field} : "{quoted}"', after),
                )
            )
            for field in LEXICAL_FIELDS
        )

    def all_postings(self, words: Sequence[str]) -> Iterator[tuple[IdArray, ...]]:
        """The postings of many words, in their order."""
        return map(self.postings, words)

    def content_postings(self, groups: Sequence[Sequence[str]], most: int) -> IdArray:
        """Row ids of the first sheets whose contents have a word of each group, ascending.

        Sheets that were deleted may be among them.

        Args:
            groups: Words; of each group one is enough.
            most: Most row ids.
        """
        sql = (
            "SELECT json_group_array(rowid) FROM "
            "(SELECT rowid FROM content_words WHERE content_words MATCH ? ORDER BY rowid LIMIT ?)"
        )
        return _id_array(self._rows(sql, (expression(groups), most)))

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
        """Row ids of the sheets after one that only explain others, ascending."""
        return self._marked("documentation", after)

    def main_sheets(self, after: int = -1) -> IdArray:
        """Row ids of the sheets after one whose names abbreviate their workbooks', ascending."""
        return self._marked("main", after)

    def workbook_numbers(self) -> tuple[IdArray, IdArray]:
        """Row ids of all sheets that have a workbook file, and its number, each (n,)."""
        order = "FROM sheets WHERE workbook_id > 0 ORDER BY workbook_id, id"
        ids, numbers = (
            _id_array(self._rows(f"SELECT json_group_array({name}) FROM (SELECT {name} {order})"))
            for name in ("id", "workbook_id")
        )
        return ids, numbers

    def matching(self, filters: Filters) -> IdArray:
        """Return row ids of the sheets that meet all conditions but the period, ascending.

        The search knows the times of all sheets already, and need not read them.
        """
        where, values = sqlite_conditions(replace(filters, period=None))
        return _id_array(
            self._rows(
                "SELECT json_group_array(id) FROM (SELECT s.id FROM sheets s LEFT JOIN workbooks w "
                f"ON w.id = s.workbook_id WHERE {where} ORDER BY s.id)",
                values,
            )
        )

    def has_field(self, name: str) -> bool:
        """True if a record has a metadata field of this name."""
        sql = "SELECT 1 FROM sheets, json_each(sheets.metadata) WHERE key = ? LIMIT 1"
        return bool(self._rows(sql, (name,)))

    def fields(self) -> list[str]:
        """Return names of the metadata fields of all records, in order."""
        sql = "SELECT DISTINCT key FROM sheets, json_each(sheets.metadata) ORDER BY key"
        return [row[0] for row in self._rows(sql)]


def _listed(texts: Sequence[str]) -> tuple[str, str]:
    return "(SELECT value FROM json_each(?))", json.dumps(list(texts))


def _id_array(rows: list[Any]) -> IdArray:
    """Parse a JSON array of ids from SQLite with NumPy, many times faster than row by row."""
    text = rows[0][0][1:-1]
    return np.fromstring(text, dtype=np.int64, sep=",") if text else np.empty(0, np.int64)
