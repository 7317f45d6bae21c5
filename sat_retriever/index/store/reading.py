"""An open index file, read: sheets, workbooks, tokens and words."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.store.conditions import sql_conditions
from sat_retriever.index.store.connection import translated
from sat_retriever.index.store.copies import StoredCopies
from sat_retriever.index.store.damage import RowDamage, finite, record_of, skips_from_text
from sat_retriever.index.store.file import StoreFile
from sat_retriever.index.store.rows import LEXICAL_FIELDS, WorkbookState
from sat_retriever.index.store.stored_links import StoredLinks
from sat_retriever.period.relation import Times, unpacked
from sat_retriever.records.filters import Filters
from sat_retriever.records.sheets import SheetRecord, Skipped
from sat_retriever.records.tokens import FloatArray

IdArray = NDArray[np.int64]

_COUNTED = {
    "format": "format",
    "visibility": "visibility",
    "formulas": "coalesce(json_extract(record, '$.formulas'), 'none')",
}
_SHORT = 4_096  # characters; a stored record up to this length stays in memory once read


class StoreReader(StoreFile):
    """Reads one index file; its links are at `links`, groups of copies at `copies`."""

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
        """Everything noted about the index as a whole."""
        return dict(self._rows("SELECT key, value FROM meta"))

    def generation(self) -> int:
        """A number that grows with every write."""
        found = self._rows("SELECT value FROM meta WHERE key = 'generation'")
        return int(found[0][0]) if found else 0

    def workbooks(self) -> list[WorkbookState]:
        """Every workbook the index knows, by root and path."""
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
            )
            for root, path, size, mtime, checked, digest, skipped, within in self._rows(
                "SELECT root, path, size, mtime_ns, checked_ns, content_hash, skipped, within "
                "FROM workbooks ORDER BY root, path"
            )
        ]

    def _skipped(self, text: str) -> tuple[Skipped, ...]:
        with translated(self.path):
            return skips_from_text(text)

    def counts(self) -> dict[str, int]:
        """Number of workbooks and sheets."""
        tables = ("workbooks", "sheets")
        return {name: int(self._rows(f"SELECT count(*) FROM {name}")[0][0]) for name in tables}

    def sheet_counts(self, fact: str) -> dict[str, int]:
        """Number of sheets for each "format", "visibility" or "formulas"."""
        if fact not in _COUNTED:
            raise ValueError(f"no counts by {fact!r}")
        return dict(
            self._rows(
                f"SELECT {_COUNTED[fact]} AS fact, count(*) FROM sheets GROUP BY 1 ORDER BY 1"
            )
        )

    def ids_by_sheet_id(self) -> IdArray:
        """Row ids of all sheets in the order of their sheet ids."""
        return _id_array(
            self._rows(
                "SELECT json_group_array(id) FROM "
                "(SELECT id FROM sheets INDEXED BY sqlite_autoindex_sheets_1 ORDER BY sheet_id)"
            )
        )

    def tokens_after(
        self, row_id: int, count: int, width: int
    ) -> tuple[FloatArray, FloatArray, Times]:
        """Tokens (n, d), word counts (n,) and times (n, 5) of the `count` sheets after a row id.

        All by row id.
        """
        tokens = np.empty((count, width), dtype="<f4")
        lengths = np.empty(count, dtype=np.float32)
        months = np.zeros(count, dtype=np.int64)
        if count == 0:
            return tokens, lengths, unpacked(months)
        # Row by row into place: joining the blobs first takes twice the time and memory.
        space, size, row = tokens.data.cast("B"), 4 * width, 0
        with self._lock, translated(self.path):
            for words, token, when in self._connection.execute(
                "SELECT words, token, months FROM tokens WHERE id > ? ORDER BY id", (row_id,)
            ):
                if row == count or (type(words), type(token)) != (int, bytes) or len(token) != size:
                    raise RowDamage("a token has another width or no words, or is no sheet's")
                space[row * size : (row + 1) * size] = token
                lengths[row], months[row] = words, when
                row += 1
            if row != count or not finite(tokens):
                raise RowDamage("a token is missing, or has no direction")
        return tokens, lengths, unpacked(months)

    def postings(self, word: str) -> tuple[IdArray, ...]:
        """Row ids of the sheets that have a word, ascending, one array a lexical field."""
        quoted = word.replace('"', '""')
        return tuple(
            _id_array(
                self._rows(
                    "SELECT json_group_array(rowid) FROM lexical WHERE lexical MATCH ?",
                    (f'{field} : "{quoted}"',),
                )
            )
            for field in LEXICAL_FIELDS
        )

    def sheet_ids(self, ids: Sequence[int]) -> dict[int, str]:
        """Sheet id of each row id."""
        return dict(self._in("SELECT id, sheet_id FROM sheets WHERE id IN ({})", ids))

    def row_ids(self, sheet_ids: Sequence[str]) -> dict[str, int]:
        """Row id of each sheet id; unknown ids are absent."""
        return dict(self._in("SELECT sheet_id, id FROM sheets WHERE sheet_id IN ({})", sheet_ids))

    def records(self, sheet_ids: Sequence[str]) -> dict[str, SheetRecord]:
        """Records by sheet id; unknown ids are absent."""
        found = self._in(
            "SELECT sheet_id, record, crc FROM sheets WHERE sheet_id IN ({})", sheet_ids
        )
        with translated(self.path):
            return {sheet_id: _record(text, crc) for sheet_id, text, crc in found}

    def records_called(self, workbook: str) -> list[SheetRecord]:
        """Records without a file that name a workbook, in the order they were added."""
        found = self._rows(
            "SELECT record, crc FROM sheets WHERE workbook = ? AND workbook_id IS NULL ORDER BY id",
            (workbook,),
        )
        with translated(self.path):
            return [_record(text, crc) for text, crc in found]

    def all_sheet_ids(self, workbook: str | None = None) -> list[str]:
        """Sheet ids in their order, of all sheets or of one workbook name or path."""
        if workbook is None:
            found = self._rows("SELECT sheet_id FROM sheets ORDER BY sheet_id")
        else:
            found = self._rows(
                "SELECT sheet_id FROM sheets WHERE workbook = ? OR path = ? ORDER BY sheet_id",
                (workbook, workbook),
            )
        return [row[0] for row in found]

    def workbook_of(self, sheet_ids: Sequence[str]) -> dict[str, str]:
        """Path, or name without a file, of each sheet's workbook; sheets of none are absent."""
        return dict(
            self._in(
                "SELECT sheet_id, CASE path WHEN '' THEN workbook ELSE path END AS home "
                "FROM sheets WHERE sheet_id IN ({}) AND home != ''",
                sheet_ids,
            )
        )

    def files(self, sheet_ids: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """Root, path below it, and `within` of the file of each sheet; others are absent."""
        found = self._in(
            "SELECT s.sheet_id, w.root, w.path, w.within FROM sheets s "
            "JOIN workbooks w ON w.id = s.workbook_id WHERE s.sheet_id IN ({})",
            sheet_ids,
        )
        return {sheet_id: tuple(place) for sheet_id, *place in found}

    def matching(self, filters: Filters) -> IdArray:
        """Row ids of the sheets that meet all conditions, ascending."""
        where, values = sql_conditions(filters)
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
        """Names of the metadata fields of all records, in order."""
        sql = "SELECT DISTINCT key FROM sheets, json_each(sheets.metadata) ORDER BY key"
        return [row[0] for row in self._rows(sql)]


def _record(text: str, crc: int) -> SheetRecord:
    """The record in a text, kept in memory: 50 candidates take .75 ms, .2 ms when read before.

    The text itself is the key, so a changed record is always read anew.
    """
    return _short_record(text, crc) if len(text) <= _SHORT else record_of(text, crc)


@lru_cache(maxsize=4_096)
def _short_record(text: str, crc: int) -> SheetRecord:
    return record_of(text, crc)


def _id_array(rows: list[Any]) -> IdArray:
    """A JSON array of ids, made by SQLite, as numpy: many times quicker than row by row."""
    text = rows[0][0][1:-1]
    return np.fromstring(text, dtype=np.int64, sep=",") if text else np.empty(0, np.int64)
