"""Forward index of a sheet: the words of each of its texts, stored ready to be matched."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from itertools import accumulate, zip_longest
from typing import Any

from sat_retriever.errors import IndexDamagedError
from sat_retriever.records.contents import CellText, SheetContents, TableContents, TextKind
from sat_retriever.records.sheets import SheetRecord, Table
from sat_retriever.text.segment import ReadText, read_chunks

# What the reading of a stored form raises that somebody else wrote.
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


class Part(IntEnum):
    """Where on a sheet a text stands."""

    NOTE = 0
    CAPTION = 1
    HEADER = 2
    LABEL = 3
    VALUE = 4


# Parts of a table in the order of its lines, and the place of each in its stored form; the names
# of tables and the headers are no texts of contents.
_OF_TABLE = ((Part.CAPTION, 0), (Part.CAPTION, None), (Part.HEADER, None), (Part.LABEL, 1),
             (Part.VALUE, 2))  # fmt: skip
_PARTS = len(_OF_TABLE)


@dataclass(frozen=True, eq=False)
class ForwardIndex:
    """The texts of a sheet's contents and headers, and the words of each on a line of its own.

    A line has the stems of a text in order, each between blanks. The further stems of a word
    follow it, each behind a plus sign: ` iso9001 + iso + 9001 standard `.

    Attributes:
        texts: The contents as JSON, as `SheetContents.to_json` gives them.
        counts: Number of lines of the notes, then of caption, name, headers, labels and values
            of each table of the record or of its contents.
        lines: The lines, in this order.
    """

    texts: str
    counts: tuple[int, ...]
    lines: str

    @classmethod
    def of(cls, record: SheetRecord, read: ReadText = read_chunks) -> ForwardIndex:
        """The words of a record's texts, each read by `read`."""
        contents = record.contents or SheetContents()
        parts = [[each.text for each in contents.notes]]
        for table, own in zip_longest(record.tables, contents.tables):
            parts += _texts(table, own or TableContents())
        return cls(
            json.dumps(contents.to_json(), ensure_ascii=False, separators=(",", ":")),
            tuple(map(len, parts)),
            "\n".join(
                f" {' '.join(chunk.line for chunk in read(text))} " for own in parts for text in own
            ),
        )

    def packed(self) -> str:
        """Its stored form."""
        return f"{self.texts}\n{json.dumps(self.counts, separators=(',', ':'))}\n{self.lines}"

    @classmethod
    def unpacked(cls, plain: str) -> ForwardIndex | None:
        """What `packed` gave; None for contents that are stored without their words.

        Raises:
            ValueError: If the parts do not fit together.

        >>> record = SheetRecord("a#b", "b", contents=SheetContents((CellText("A1", "Sales"),)))
        >>> ForwardIndex.unpacked(ForwardIndex.of(record).packed()).lines
        ' sale '
        """
        texts, *words = plain.split("\n", 2)
        if not words:
            return None
        counts = tuple(json.loads(words[0]))
        lines = words[1].count("\n") + 1 if words[1] else 0
        if len(counts) % _PARTS != 1 or any(type(each) is not int for each in counts):
            raise ValueError("the words of contents are of no table")
        if sum(counts) != lines or min(counts) < 0:
            raise ValueError("the words of contents are not those of their texts")
        return cls(texts, counts, words[1])

    @property
    def tables(self) -> int:
        """Number of tables."""
        return len(self.counts) // _PARTS

    def having(self, groups: Iterable[Iterable[str]]) -> Iterator[tuple[int, str]]:
        """Number and words of each line that has all stems of a group, in their order."""
        starts = set()
        for group in groups:
            starts |= set.intersection(*map(self._starts, group))
        line = before = 0
        for start in sorted(starts):
            line, before = line + self.lines.count("\n", before, start), start
            end = self.lines.find("\n", start)
            yield line, self.lines[start : end if end >= 0 else len(self.lines)]

    def _starts(self, word: str) -> set[int]:
        lines, wanted, found = self.lines, f" {word} ", set()
        at = lines.find(wanted)
        while at >= 0:
            found.add(lines.rfind("\n", 0, at) + 1)
            end = lines.find("\n", at)
            at = lines.find(wanted, end) if end >= 0 else -1
        return found

    def part(self, line: int) -> tuple[Part, int]:
        """Where a line's text stands: its part, and the place of its table; -1 for a note."""
        run = bisect_right(self._ends, line)
        return (_OF_TABLE[(run - 1) % _PARTS][0], (run - 1) // _PARTS) if run else (Part.NOTE, -1)

    def has_cell(self, line: int) -> bool:
        """False for a line of a header or of a table's name."""
        run = bisect_right(self._ends, line)
        return not run or _OF_TABLE[(run - 1) % _PARTS][1] is not None

    def text(self, line: int) -> CellText:
        """A line's text and its cell; both are empty for a header and for a table's name."""
        run = bisect_right(self._ends, line)
        at = line - (self._ends[run - 1] if run else 0)
        try:
            if not run:
                cell, text, *kind = self._stored["notes"][at]
                return CellText(cell, text, *map(TextKind, kind))
            _part, place = _OF_TABLE[(run - 1) % _PARTS]
            if place is None:
                return CellText("", "")
            own = self._stored["tables"][(run - 1) // _PARTS][place]
            return CellText(*(own[at] if place else own))
        except _MALFORMED as error:
            raise _damage() from error

    def cells(self, table: int) -> list[str]:
        """The cells of the labels and values of a table."""
        try:
            own = self._stored["tables"][table : table + 1]
            return [cell for _, *texts in own for each in texts for cell, _text in each]
        except _MALFORMED as error:
            raise _damage() from error

    def contents(self) -> SheetContents:
        """The texts as contents."""
        try:
            return SheetContents.from_json(self._stored)
        except _MALFORMED as error:
            raise _damage() from error

    @cached_property
    def _stored(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.texts)
        return found

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(self.counts))


class StoredContents(SheetContents):
    """Contents of an index, which are read from their stored form when somebody looks at them."""

    def __init__(self, texts: ForwardIndex) -> None:
        self.__dict__["_texts"] = texts

    @cached_property
    def _read(self) -> SheetContents:
        texts: ForwardIndex = self.__dict__["_texts"]
        return texts.contents()

    @property
    def notes(self) -> tuple[CellText, ...]:
        """As in `SheetContents`."""
        return self._read.notes

    @property
    def tables(self) -> tuple[TableContents, ...]:
        """As in `SheetContents`."""
        return self._read.tables

    def __eq__(self, other: object) -> bool:
        return self._read == (other._read if isinstance(other, StoredContents) else other)

    def __hash__(self) -> int:
        return hash(self._read)

    def __repr__(self) -> str:
        return repr(self._read)

    def __reduce__(self) -> tuple[type[SheetContents], tuple[Any, ...]]:
        return SheetContents, (self.notes, self.tables)


def _damage() -> IndexDamagedError:
    return IndexDamagedError(
        "the index has contents of a sheet that cannot be read; run: sat index FOLDER --verify"
    )


def _texts(table: Table | None, own: TableContents) -> list[list[str]]:
    """The texts of each part of a table, as `_OF_TABLE` orders them."""
    columns = table.columns if table else ()
    return [
        [] if own.caption is None else [own.caption.text],
        [table.name] if table and table.name else [],
        [f"{each.name} {each.unit}" if each.unit else each.name for each in columns],
        [each.text for each in own.labels],
        [each.text for each in own.values],
    ]
