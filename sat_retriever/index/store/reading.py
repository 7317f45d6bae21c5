"""Read sheets, workbooks, tokens and words of an open index file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.store.conditions import sql_conditions
from sat_retriever.index.store.connection import translated
from sat_retriever.index.store.contents import token_of
from sat_retriever.index.store.copies import StoredCopies
from sat_retriever.index.store.damage import (
    RowDamage,
    contents_of,
    finite,
    may_say,
    record_of,
    skips_from_text,
)
from sat_retriever.index.store.file import StoreFile
from sat_retriever.index.store.rows import LEXICAL_FIELDS, WorkbookState
from sat_retriever.index.store.stored_links import StoredLinks
from sat_retriever.index.store.words import expression
from sat_retriever.period.relation import Times, unpacked
from sat_retriever.records.contents import SheetContents
from sat_retriever.records.filters import Filters
from sat_retriever.records.sheets import SheetRecord, Skipped
from sat_retriever.records.tokens import FloatArray

IdArray = NDArray[np.int64]

_COUNTED = {
    "format": "format",
    "visibility": "visibility",
    "formulas": "coalesce(json_extract(record, '$.formulas'), 'none')",
}
_ALIKE = 20_000  # known words that share half of their letters with a misspelt one
_SHORT = 16_384  # characters; parsed records up to this length are kept in memory
_SMALL = 8_192  # bytes; parsed contents up to this length are kept in memory


class StoreReader(StoreFile):
    """A reader of one index file; its links are in `links`, its groups of copies in `copies`."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        *,
        writable: bool,
        identity: tuple[int, ...],
    ) -> None:
        super().__init__(connection, path, writable=writable, identity=identity)
        self.links = StoredLinks(self._rows, self._in, path)
        self.copies = StoredCopies(self._rows, self._in)

    def meta(self) -> dict[str, str]:
        """Return all notes about the index as a whole."""
        return dict(self._rows("SELECT key, value FROM meta"))

    def generation(self) -> int:
        """Return a number that grows with every write."""
        found = self._rows("SELECT value FROM meta WHERE key = 'generation'")
        return int(found[0][0]) if found else 0

    def workbooks(self) -> list[WorkbookState]:
        """Return every workbook that the index knows, by root and path."""
        return [
            WorkbookState(
                root,
                path,
                size,
                mtime,
                checked,
                digest,
                self._skipped(skipped),
                within,
                version,
            )
            for root, path, size, mtime, checked, digest, skipped, within, version in self._rows(
                "SELECT root, path, size, mtime_ns, checked_ns, content_hash, skipped, within, "
                "version FROM workbooks ORDER BY root, path"
            )
        ]

    def _marked(self, column: str, after: int) -> IdArray:
        """Row ids of the sheets after one with a 1 in a column of the tokens, ascending."""
        marked = f"SELECT id FROM tokens WHERE id > ? AND {column} = 1 ORDER BY id"
        return _id_array(self._rows(f"SELECT json_group_array(id) FROM ({marked})", (after,)))

    def _skipped(self, text: str) -> tuple[Skipped, ...]:
        with translated(self.path):
            return skips_from_text(text)

    def counts(self) -> dict[str, int]:
        """Return the number of workbooks and sheets."""
        tables = ("workbooks", "sheets")
        return {name: int(self._rows(f"SELECT count(*) FROM {name}")[0][0]) for name in tables}

    def has_contents(self) -> bool:
        """Return True if texts of cells are stored of a sheet."""
        return bool(self._rows("SELECT EXISTS (SELECT 1 FROM contents)")[0][0])

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
            self._rows(
                "SELECT json_group_array(id) FROM "
                "(SELECT id FROM sheets INDEXED BY sqlite_autoindex_sheets_1 ORDER BY sheet_id)"
            )
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
        with self._lock, translated(self.path):
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

    def tokens_of(self, ids: Sequence[int], width: int) -> FloatArray:
        """Tokens of the sheets of some row ids, (n, d), in their order.

        Raises:
            IndexDamagedError: If one is missing or damaged.
        """
        sql = "SELECT t.id, t.token FROM json_each(?) j JOIN tokens t ON t.id = j.value"
        return self._tokens_of(sql, ids, width, 4)

    def contents_tokens_of(self, ids: Sequence[int], width: int) -> FloatArray:
        """Tokens of the contents of the sheets of some row ids, (n, d), in their order.

        Raises:
            IndexDamagedError: If one is missing or damaged.
        """
        sql = "SELECT t.id, t.token FROM json_each(?) j JOIN contents_tokens t ON t.id = j.value"
        return self._tokens_of(sql, ids, width, 2)

    def _tokens_of(self, sql: str, ids: Sequence[int], width: int, size: int) -> FloatArray:
        found = dict(self._rows(sql, (json.dumps(ids),)))
        with translated(self.path):
            data = [found.get(each, b"") for each in ids]
            if not all(type(each) is bytes and len(each) == size * width for each in data):
                raise RowDamage("a token is missing, or has another width")
            joined = np.frombuffer(b"".join(data), dtype=f"<f{size}")
            tokens = joined.astype(np.float32, copy=False).reshape(len(ids), width)
            if not finite(tokens):
                raise RowDamage("a token has no direction")
        return tokens

    def contents_tokens_after(
        self, row_id: int, until: int, width: int
    ) -> tuple[IdArray, FloatArray]:
        """Row ids, ascending, and tokens (n, d) of the contents of a stretch of sheets.

        Args:
            row_id: The row id before the first.
            until: The last row id.
            width: Token width d.
        """
        where = "FROM contents_tokens WHERE id > ? AND id <= ?"
        count = int(self._rows(f"SELECT count(*) {where}", (row_id, until))[0][0])
        ids, tokens = np.empty(count, dtype=np.int64), np.empty((count, width), dtype=np.float32)
        rows = f"SELECT id, token {where} ORDER BY id"
        with self._lock, translated(self.path):
            for row, (each, data) in enumerate(self._connection.execute(rows, (row_id, until))):
                if type(data) is not bytes or len(data) != 2 * width:
                    raise RowDamage("a token of contents has another width")
                ids[row], tokens[row] = each, token_of(data)
            if not finite(tokens):
                raise RowDamage("a token of contents has no direction")
        return ids, tokens

    def count_after(self, row_id: int) -> int:
        """Number of sheets after a row id."""
        return int(self._rows("SELECT count(*) FROM sheets WHERE id > ?", (row_id,))[0][0])

    def checksums(self, ids: Sequence[int]) -> dict[str, int]:
        """Checksum of the record of each row id that exists, by the row id as text."""
        found = self._in("SELECT id, crc FROM sheets WHERE id IN ({})", ids)
        return {str(row_id): crc for row_id, crc in found}

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

    def spelled_like(self, start: str, end: str) -> list[str]:
        """Known words that begin or end with some letters, each at most 20,000."""
        found: dict[str, None] = {}
        for column, first in (("word", start), ("reversed", end[::-1])):
            sql = f"SELECT word FROM spellings WHERE {column} >= ? AND {column} < ? LIMIT ?"
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

    def sheet_ids(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the sheet id of each row id."""
        return dict(self._in("SELECT id, sheet_id FROM sheets WHERE id IN ({})", ids))

    def row_ids(self, sheet_ids: Sequence[str]) -> dict[str, int]:
        """Return the row id of each sheet id; unknown ids are absent."""
        return dict(self._in("SELECT sheet_id, id FROM sheets WHERE sheet_id IN ({})", sheet_ids))

    def contents(
        self, sheet_ids: Sequence[str], phrases: Sequence[str] = ()
    ) -> dict[str, SheetContents]:
        """Contents by sheet id; sheets of which none are kept are absent.

        Args:
            sheet_ids: The sheets.
            phrases: Phrases; contents that have none of them are absent as well.
        """
        found = self._in(
            "SELECT s.sheet_id, c.packed, c.crc FROM sheets s JOIN contents c ON c.id = s.id "
            "WHERE s.sheet_id IN ({})",
            sheet_ids,
        )
        with translated(self.path):
            return {
                sheet_id: _contents(data, crc)
                for sheet_id, data, crc in found
                if not phrases or may_say(data, crc, phrases)
            }

    def records(self, sheet_ids: Sequence[str]) -> dict[str, SheetRecord]:
        """Return records by sheet id, without contents; unknown ids are absent."""
        found = self._in(
            "SELECT sheet_id, record, crc FROM sheets WHERE sheet_id IN ({})", sheet_ids
        )
        with translated(self.path):
            return {sheet_id: _record(text, crc) for sheet_id, text, crc in found}

    def records_called(self, workbook: str) -> list[SheetRecord]:
        """Return records without a file that name a workbook, in the order of insertion."""
        found = self._rows(
            "SELECT record, crc FROM sheets WHERE workbook = ? AND workbook_id IS NULL ORDER BY id",
            (workbook,),
        )
        with translated(self.path):
            return [_record(text, crc) for text, crc in found]

    def all_sheet_ids(self, workbook: str | None = None) -> list[str]:
        """Return sheet ids in their order, of all sheets or of one workbook name or path."""
        if workbook is None:
            found = self._rows("SELECT sheet_id FROM sheets ORDER BY sheet_id")
        else:
            found = self._rows(
                "SELECT sheet_id FROM sheets WHERE workbook = ? OR path = ? ORDER BY sheet_id",
                (workbook, workbook),
            )
        return [row[0] for row in found]

    def paths(self) -> list[str]:
        """Return the paths of all workbooks that have sheets, in their order."""
        sql = "SELECT DISTINCT path FROM sheets WHERE path != '' ORDER BY path"
        return [row[0] for row in self._rows(sql)]

    def workbook_of(self, sheet_ids: Sequence[str]) -> dict[str, str]:
        """Return the path of each sheet's workbook, or its name if it has no file."""
        return dict(
            self._in(
                "SELECT sheet_id, CASE path WHEN '' THEN workbook ELSE path END AS home "
                "FROM sheets WHERE sheet_id IN ({}) AND home != ''",
                sheet_ids,
            )
        )

    def files(self, sheet_ids: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """Return root, path below it, and `within` of each sheet's file; others are absent."""
        found = self._in(
            "SELECT s.sheet_id, w.root, w.path, w.within FROM sheets s "
            "JOIN workbooks w ON w.id = s.workbook_id WHERE s.sheet_id IN ({})",
            sheet_ids,
        )
        return {sheet_id: tuple(place) for sheet_id, *place in found}

    def matching(self, filters: Filters) -> IdArray:
        """Return row ids of the sheets that meet all conditions but the period, ascending.

        The search knows the times of all sheets already, and need not read them.
        """
        where, values = sql_conditions(replace(filters, period=None))
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


def _record(text: str, crc: int) -> SheetRecord:
    """Parse a record, from memory if possible: 50 candidates take .75 ms, or .2 ms from memory.

    The text itself is the key, so a changed record is always parsed anew.
    """
    return _short_record(text, crc) if len(text) <= _SHORT else record_of(text, crc)


@lru_cache(maxsize=1_024)
def _short_record(text: str, crc: int) -> SheetRecord:
    return record_of(text, crc)


def _contents(data: bytes, crc: int) -> SheetContents:
    """Parse contents, from memory if possible: a question reads those of its hits twice."""
    return _small_contents(data, crc) if len(data) <= _SMALL else contents_of(data, crc)


@lru_cache(maxsize=128)
def _small_contents(data: bytes, crc: int) -> SheetContents:
    return contents_of(data, crc)


def _id_array(rows: list[Any]) -> IdArray:
    """Parse a JSON array of ids from SQLite with NumPy, many times faster than row by row."""
    text = rows[0][0][1:-1]
    return np.fromstring(text, dtype=np.int64, sep=",") if text else np.empty(0, np.int64)
