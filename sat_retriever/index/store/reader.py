"""Readings of a store: those in statements that every store understands, and those of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever.errors import IndexFormatError
from sat_retriever.index.store.copies import StoredCopies
from sat_retriever.index.store.links import StoredLinks
from sat_retriever.index.store.packing import (
    RowDamage,
    contents_of,
    finite,
    forward_of,
    may_say,
    record_of,
    skips_from_text,
)
from sat_retriever.index.store.place import Place
from sat_retriever.index.store.rows import RESTRICTED, IdArray, SheetName, WorkbookState
from sat_retriever.records.contents import SheetContents
from sat_retriever.records.filters import Filters
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.forward import ForwardIndex
from sat_retriever.text.period.relation import Times, unpacked
from sat_retriever.text.spelling import nearest

_ALIKE = 20_000  # known words that share half of their letters with a misspelt one
_SHORT = 16_384  # characters; parsed records up to this length are kept in memory
# Without values: of one view of a database it is read once.
NOTED = f"SELECT key, value FROM meta WHERE key IN ('generation', '{RESTRICTED}')"
_CONTENTS = (
    "SELECT s.sheet_id, c.packed, c.crc FROM sheets s JOIN contents c ON c.id = s.id "
    "WHERE s.sheet_id IN ({})"
)


class StoreReader(ABC):
    """Readings of a store; safe to share between threads.

    Attributes:
        principals: Groups for whom alone it is open; None if all sheets can be read.
        kept_by_readers: True if each host's readers write the folder `beside` for themselves;
            else writers do.
        counted: What counts of sheets are by, as the database says it.
        spelled: The table of known words.
    """

    path: Place
    principals: tuple[str, ...] | None = None
    kept_by_readers: bool
    counted: Mapping[str, str]
    spelled = "spellings"
    links: StoredLinks
    copies: StoredCopies

    # ---- what each database does in its own way

    @abstractmethod
    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a statement; `?` stands for a value."""

    @abstractmethod
    def _in(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """Return the rows of a statement whose `{}` stands for a list of values of any length."""

    @abstractmethod
    def _translated(self) -> AbstractContextManager[None]:
        """Turn errors of the database and of damaged rows into this package's."""

    @abstractmethod
    def _tokens_in(self, ids: Sequence[int]) -> list[Any]:
        """Return row id and token, in any order, of the sheets with some row ids."""

    @abstractmethod
    def _ids(self, name: str, source: str, order: str, values: Sequence[Any] = ()) -> IdArray:
        """One column of whole numbers of some rows, in an order."""

    @property
    @abstractmethod
    def beside(self) -> Path | None:
        """The folder in which readers find a large index as mapped files; None without one."""

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """Give everything read in the block one consistent view of the store."""

    @abstractmethod
    def answering(self) -> AbstractContextManager[None]:
        """Read what one answer needs with as few trips to the store as there can be."""

    @abstractmethod
    def _stream(self, sql: str, values: Sequence[Any]) -> Generator[Sequence[Any]]:
        """Yield the rows of a long result; the store answers nothing else meanwhile."""

    @abstractmethod
    def common_words(self, least: int, *, contents: bool) -> list[str]:
        """Words that names, or contents, of about so many sheets or more have, in order."""

    @abstractmethod
    def postings(self, word: str, after: int = -1) -> tuple[IdArray, ...]:
        """Row ids of the sheets after one that have a word, ascending, one array per field."""

    @abstractmethod
    def all_postings(self, words: Sequence[str]) -> Iterator[tuple[IdArray, ...]]:
        """The postings of many words, in their order."""

    @abstractmethod
    def content_postings(self, word: str, after: int = -1, most: int | None = None) -> IdArray:
        """Row ids of the first sheets after one whose contents have a word, ascending.

        Sheets that were deleted may be among them.
        """

    @abstractmethod
    def all_content_postings(self, words: Sequence[str]) -> Iterator[IdArray]:
        """The postings in contents of many words, in their order."""

    @abstractmethod
    def has_field(self, name: str) -> bool:
        """True if a record has a metadata field of this name."""

    @abstractmethod
    def fields(self) -> list[str]:
        """Names of the metadata fields of all records, in order."""

    # ---- what all databases do alike

    def sheet_counts(self, fact: str) -> dict[str, int]:
        """Number of sheets for each "format", "visibility" or "formulas"."""
        sql = f"SELECT {self.counted[fact]} AS fact, count(*) FROM sheets GROUP BY 1 ORDER BY 1"
        return dict(self._rows(sql))

    def ids_by_sheet_id(self) -> IdArray:
        """Row ids of all sheets in the order of their sheet ids."""
        return self._ids("id", "sheets", "sheet_id")

    def documentation(self, after: int = -1) -> IdArray:
        """Row ids of the sheets after one that only explain others, ascending."""
        return self._ids("id", "tokens WHERE documentation = 1 AND id > ?", "id", (after,))

    def main_sheets(self, after: int = -1) -> IdArray:
        """Row ids of the sheets after one whose names abbreviate their workbooks', ascending."""
        return self._ids("id", "tokens WHERE main = 1 AND id > ?", "id", (after,))

    def workbook_numbers(self) -> tuple[IdArray, IdArray]:
        """Row ids of all sheets that have a workbook file, and its number, each (n,)."""
        found, order = "sheets WHERE workbook_id > 0", "workbook_id, id"
        return self._ids("id", found, order), self._ids("workbook_id", found, order)

    def matching(self, filters: Filters) -> IdArray:
        """Row ids of the sheets that meet all conditions but the period, which the search knows."""
        where, values = self.copies.conditions(replace(filters, period=None))
        found = f"sheets s LEFT JOIN workbooks w ON w.id = s.workbook_id WHERE {where}"
        return self._ids("s.id", found, "s.id", values)

    def _spelled_like(self, start: str, end: str) -> list[str]:
        """Known words that begin or end with some letters, each at most 20,000."""
        found: dict[str, None] = {}
        for column, first in (("word", start), ("reversed", end[::-1])):
            sql = (
                f"SELECT word FROM {self.spelled} WHERE {column} >= ? AND {column} < ? "
                f"ORDER BY {column} LIMIT ?"
            )
            beyond = first[:-1] + chr(ord(first[-1]) + 1)
            found.update(dict.fromkeys(r[0] for r in self._rows(sql, (first, beyond, _ALIKE))))
        return list(found)

    def meta(self) -> dict[str, str]:
        """All notes about the index as a whole."""
        return dict(self._rows("SELECT key, value FROM meta"))

    def generation(self) -> int:
        """A number that grows with every write; `IndexFormatError` if its note is damaged."""
        noted = self._noted().get("generation", "0")
        try:
            return int(noted)
        except ValueError as error:
            raise IndexFormatError(
                f"{self.path} notes {noted[:40]!r} as the number of its writes: it was changed by "
                "others; index the folder anew into another place"
            ) from error

    def is_restricted(self) -> bool:
        """True if its sheets are for their groups alone."""
        return RESTRICTED in self._noted()

    def _noted(self) -> dict[str, str]:
        return dict(self._rows(NOTED))

    def groups_of(self, sheet_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Groups that may see each sheet, in order; sheets that nobody may see are absent."""
        found: dict[str, list[str]] = {}
        for sheet_id, name in self._in(
            "SELECT s.sheet_id, p.name FROM permissions p JOIN sheets s ON s.id = p.sheet "
            "WHERE s.sheet_id IN ({}) ORDER BY p.name",
            sheet_ids,
        ):
            found.setdefault(sheet_id, []).append(name)
        return {sheet_id: tuple(names) for sheet_id, names in found.items()}

    def holds_back(self) -> bool:
        """True if the server itself holds back sheets from the role; a file has none."""
        return False

    def group_counts(self) -> dict[str, int]:
        """Number of sheets that each group may see, by its name, in order."""
        sql = "SELECT name, count(*) FROM permissions GROUP BY name ORDER BY name"
        return dict(self._rows(sql))

    def groups_among(self, names: Sequence[str]) -> list[str]:
        """Those of some groups that may see a sheet, in order."""
        found = self._in("SELECT DISTINCT name FROM permissions WHERE name IN ({})", names)
        return sorted(row[0] for row in found)

    def spelled_near(self, word: str) -> list[str]:
        """Known words that a misspelt one may mean, in order; see `text.spelling`."""
        return nearest(word, self._spelled_like)

    def workbooks(self) -> list[WorkbookState]:
        """Every workbook that the index knows, by root and path."""
        rows = self._rows(
            "SELECT root, path, size, mtime_ns, checked_ns, content_hash, skipped, within, "
            "version FROM workbooks ORDER BY root, path"
        )
        with self._translated():
            return [WorkbookState(*(*row[:6], skips_from_text(row[6]), *row[7:])) for row in rows]

    def counts(self) -> dict[str, int]:
        tables = ("workbooks", "sheets")
        return {name: int(self._rows(f"SELECT count(*) FROM {name}")[0][0]) for name in tables}

    def has_contents(self) -> bool:
        """True if texts of cells are stored of a sheet."""
        return bool(self._rows("SELECT EXISTS (SELECT 1 FROM contents)")[0][0])

    def tokens_after(
        self, row_id: int, until: int, count: int, width: int
    ) -> tuple[FloatArray, FloatArray, Times]:
        """Tokens (n, d), word counts (n, 2) and times (n, 5) of a stretch of sheets, by row id.

        Words are counted in names and in contents. The stretch begins after `row_id`, ends with
        `until`, and must have `count` sheets.
        """
        tokens = np.empty((count, width), dtype="<f4")
        lengths = np.empty((count, 2), dtype=np.float32)
        months = np.zeros(count, dtype=np.int64)
        # Row by row into place: joining the blobs first takes twice the time and memory.
        space, size, row = tokens.data.cast("B"), 4 * width, 0
        sql = "SELECT words, texts, token, months FROM tokens WHERE id > ? AND id <= ? ORDER BY id"
        with self._translated(), closing(self._stream(sql, (row_id, until))) as rows:
            for words, texts, token, when in rows:
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
        """Tokens by row id, in order, (n, d); `IndexDamagedError` if one is missing or damaged."""
        found = dict(self._tokens_in(ids))
        with self._translated():
            data = [found.get(each, b"") for each in ids]
            if not all(type(each) is bytes and len(each) == 4 * width for each in data):
                raise RowDamage("a token is missing, or has another width")
            tokens = np.frombuffer(b"".join(data), dtype="<f4").reshape(len(ids), width)
            if not finite(tokens):
                raise RowDamage("a token has no direction")
        return tokens

    def count_after(self, row_id: int) -> int:
        return int(self._rows("SELECT count(*) FROM sheets WHERE id > ?", (row_id,))[0][0])

    def checksums(self, ids: Sequence[int]) -> dict[str, int]:
        """Checksum of the record of each row id that exists, by the row id as text."""
        found = self._in("SELECT id, crc FROM sheets WHERE id IN ({})", ids)
        return {str(row_id): crc for row_id, crc in found}

    def sheet_ids(self, ids: Sequence[int]) -> dict[int, str]:
        return dict(self._in("SELECT id, sheet_id FROM sheets WHERE id IN ({})", ids))

    def row_ids(self, sheet_ids: Sequence[str]) -> dict[str, int]:
        """The row id of each sheet id; unknown ids are absent."""
        return dict(self._in("SELECT sheet_id, id FROM sheets WHERE sheet_id IN ({})", sheet_ids))

    def contents(
        self, sheet_ids: Sequence[str], phrases: Sequence[str] = ()
    ) -> dict[str, SheetContents]:
        """Contents by sheet id; those not kept, or without any of some phrases, are absent."""
        found = self._in(_CONTENTS, sheet_ids)
        with self._translated():
            return {
                sheet_id: contents_of(data, crc)
                for sheet_id, data, crc in found
                if not phrases or may_say(data, crc, phrases)
            }

    def texts(self, sheet_ids: Sequence[str]) -> dict[str, ForwardIndex]:
        """Contents by sheet id as questions are matched with them; those not kept are absent."""
        with self._translated():
            found = {
                sheet_id: forward_of(data, crc)
                for sheet_id, data, crc in self._in(_CONTENTS, sheet_ids)
            }
        bare = [sheet_id for sheet_id, texts in found.items() if texts is None]
        if bare:  # written by an older version, or too long
            records, contents = self.records(bare), self.contents(bare)
            found |= {
                each: ForwardIndex.of(replace(records[each], contents=contents[each]))
                for each in bare
                if each in records and each in contents
            }
        return {sheet_id: texts for sheet_id, texts in found.items() if texts is not None}

    def names(self, sheet_ids: Sequence[str]) -> dict[str, SheetName]:
        """The name of each sheet, and what else ranking needs of its record."""
        found = self._in(
            "SELECT s.sheet_id, t.name, CASE s.path WHEN '' THEN s.workbook ELSE s.path END, "
            "t.documentation, c.family FROM sheets s JOIN tokens t ON t.id = s.id "
            "LEFT JOIN copies c ON c.sheet = s.id WHERE s.sheet_id IN ({})",
            sheet_ids,
        )
        return {sheet_id: SheetName(*row) for sheet_id, *row in found}

    def records(self, sheet_ids: Sequence[str]) -> dict[str, SheetRecord]:
        """Records by sheet id, without contents; unknown ids are absent."""
        found = self._in(
            "SELECT sheet_id, record, crc FROM sheets WHERE sheet_id IN ({})", sheet_ids
        )
        with self._translated():
            return {sheet_id: _record(text, crc) for sheet_id, text, crc in found}

    def records_called(self, workbook: str) -> list[SheetRecord]:
        """Records without a file that name a workbook, in the order of insertion."""
        found = self._rows(
            "SELECT record, crc FROM sheets WHERE workbook = ? AND workbook_id IS NULL ORDER BY id",
            (workbook,),
        )
        with self._translated():
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

    def tabs(self, path: str) -> list[str]:
        """Sheet ids of the workbook at a path, in the order of its tabs."""
        # All sheets of a workbook are written at once, in this order.
        found = self._rows("SELECT sheet_id FROM sheets WHERE path = ? ORDER BY id", (path,))
        return [row[0] for row in found]

    def paths(self) -> list[str]:
        """Paths of all workbooks that have sheets, in their order."""
        sql = "SELECT DISTINCT path FROM sheets WHERE path != '' ORDER BY path"
        return [row[0] for row in self._rows(sql)]

    def workbook_of(self, sheet_ids: Sequence[str]) -> dict[str, str]:
        """The path of each sheet's workbook, or its name if it has no file."""
        return dict(
            self._in(
                "SELECT sheet_id, CASE path WHEN '' THEN workbook ELSE path END "
                "FROM sheets WHERE sheet_id IN ({}) AND (path != '' OR workbook != '')",
                sheet_ids,
            )
        )

    def files(self, sheet_ids: Sequence[str]) -> dict[str, tuple[str, str, str]]:
        """Root, path below it, and `within` of each sheet's file; others are absent."""
        found = self._in(
            "SELECT s.sheet_id, w.root, w.path, w.within FROM sheets s "
            "JOIN workbooks w ON w.id = s.workbook_id WHERE s.sheet_id IN ({})",
            sheet_ids,
        )
        return {sheet_id: tuple(place) for sheet_id, *place in found}


def _record(text: str, crc: int) -> SheetRecord:
    """Parse a record, from memory if possible: 50 candidates take .75 ms, or .2 ms from memory.

    The text itself is the key, so a changed record is always parsed anew.
    """
    return _short_record(text, crc) if len(text) <= _SHORT else record_of(text, crc)


@lru_cache(maxsize=1_024)
def _short_record(text: str, crc: int) -> SheetRecord:
    return record_of(text, crc)
