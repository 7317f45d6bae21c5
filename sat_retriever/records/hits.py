"""The answer to a query: its hits, each with the reasons why it was found, and their copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from sat_retriever.errors import InputError
from sat_retriever.records.contents import CellText
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, SheetRecord, Table
from sat_retriever.records.typedtable import TypedTable

COPIES_LISTED = 20  # of one hit; the rest is counted
NOTHING = "Nothing here seems to answer this; the nearest sheets are:"


@dataclass(frozen=True, slots=True)
class Why:
    """The reasons why a sheet was found; scores and ranks as in `Candidate`.

    Attributes:
        words: Words of the query that occur in its name, headers or folder.
        headers: Its headers that share words with the query, at most the ten that share most.
        links: Links from or to other hits of the same answer.
        via: Link that raised its score most.
        period: Its time, if that lies within a time that the query names.
        cells: Cells, comments, shapes and charts that match the query, best first, at most ten.
        cell_words: Words of the query that are not among `words`, but in texts of its cells.
    """

    words: tuple[str, ...]
    headers: tuple[str, ...]
    dense: float
    lexical: float
    dense_rank: int
    lexical_rank: int | None
    links: tuple[Link, ...] = ()
    via: Link | None = None
    period: str | None = None
    cells: tuple[CellText, ...] = ()
    contents: float = 0.0
    contents_rank: int | None = None
    cell_words: tuple[str, ...] = ()

    def common(self, most: int = 20) -> str:
        """The words that sheet and query have in common; more than `most` of a kind are counted.

        >>> why = Why(("fare",), (), 0.5, 0.5, 1, 1, cell_words=("oslo", "bus"))
        >>> why.common(), why.common(1)
        ('fare; in cells oslo, bus', 'fare; in cells oslo and 1 more')
        """
        found = []
        for kind, words in (("", self.words), ("in cells ", self.cell_words)):
            more = f" and {len(words) - most} more" if len(words) > most else ""
            found += [f"{kind}{', '.join(words[:most])}{more}"] if words else []
        return "; ".join(found)


@dataclass(frozen=True, slots=True)
class Copies:
    """The other members of a sheet's group of copies.

    Attributes:
        number: How many there are.
        newer: How many of them are newer than the sheet.
        sheet_ids: Their ids, newest first, at most 20.
        equal: Ids of those whose files are byte for byte the same, at most 20.
    """

    number: int = 0
    newer: int = 0
    sheet_ids: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.number > 0

    @property
    def label(self) -> str:
        """The number in words, to stand behind a sheet; "" for none.

        >>> Copies(3).label, Copies(3, newer=1).label, Copies(1).label
        ('and 3 older copies', 'and 3 other copies', 'and 1 older copy')
        >>> Copies(1, 1, equal=("a",)).label, Copies(3, equal=("a",)).label
        ('and 1 equal copy', 'and 3 older copies, 1 equal')
        """
        if not self.number:
            return ""
        noun = "copy" if self.number == 1 else "copies"
        if len(self.equal) == min(self.number, COPIES_LISTED):
            return f"and {self.number:,} equal {noun}"
        equal = f", {len(self.equal)} equal" if self.equal else ""
        return f"and {self.number:,} {'other' if self.newer else 'older'} {noun}{equal}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "number": self.number,
            "newer": self.newer,
            "sheet_ids": list(self.sheet_ids),
            "equal": list(self.equal),
        }


NO_COPIES = Copies()
CopiesOf = Mapping[str, Copies]
Load = Callable[[str, int, bool], TypedTable]
"""Loads the data of a table, by a sheet's id, the table's place, and True to keep totals."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One sheet of an answer.

    Attributes:
        score: Value that hits are ranked by; higher is better.
        record: The sheet, with its contents if the index keeps them.
        table_place: Place in `record.tables` of the table that answers; 0 without tables or
            contents.
        part: A1 range of the rows that answer, if that table is long and they are known.
        copies: Other versions of the sheet, which are no hits of their own.
        load: Loads the data of its tables; None for a hit that is of no index.
    """

    rank: int
    score: float
    record: SheetRecord
    why: Why
    table_place: int = 0
    part: str | None = None
    copies: Copies = NO_COPIES
    load: Load | None = field(default=None, compare=False, repr=False)

    def table(self, *, totals: bool = False) -> TypedTable:
        """The data of the table that answers, read anew from its file.

        Args:
            totals: True keeps totals and subtotals among the records.

        Raises:
            PathNotFoundError: If the file is gone.
            InputError: If it cannot be read, has no such table now, or the hit is of no index.
        """
        if self.load is None:
            raise InputError(f"the hit {self.sheet_id!r} is of no index; search an index for one")
        return self.load(self.sheet_id, self.table_place, totals)

    def __reduce__(self) -> tuple[type[Hit], tuple[Any, ...]]:
        # A copied or unpickled hit must open no index.
        kept = (getattr(self, each.name) for each in fields(self) if each.name != "load")
        return Hit, tuple(kept)

    @property
    def sheet_id(self) -> str:
        """The id in its record."""
        return self.record.sheet_id

    @property
    def answering(self) -> Table | None:
        """The table that answers; None if the sheet has no known table."""
        tables = self.record.tables
        return tables[self.table_place] if self.table_place < len(tables) else None

    @property
    def range(self) -> str | None:
        """A1 range that answers: rows of a table, a table, else the used range; None if unknown."""
        whole = self.answering.range if self.answering else self.record.range
        return self.part or whole

    @property
    def citation(self) -> str:
        """Where the answer is: the sheet, as `SheetRecord.cited`, and the range.

        >>> why = Why((), (), 0.5, 0.5, 1, 1)
        >>> Hit(1, 0.5, SheetRecord("a/Sales.xlsx#Q1", "Q1", range="A1:D20"), why).citation
        'a/Sales.xlsx#Q1!A1:D20'
        """
        cited = self.record.cited
        return f"{cited}!{self.range}" if self.range else cited

    @property
    def header_row(self) -> int | None:
        """1-based header row of the table that answers; None without one."""
        return self.answering.header_row if self.answering else self.record.header_row

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of the table that answers."""
        return self.answering.columns if self.answering else self.record.columns

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as `sat search --json` prints them."""
        record = self.record
        return {
            "sheet_id": record.sheet_id,
            "citation": self.citation,
            "rank": self.rank,
            "score": round(self.score, 6),
            "workbook": record.workbook,
            "path": record.path,
            **record.at_url(),
            "sheet": record.sheet,
            "range": self.range,
            "table": self.table_place,
            "table_range": self.answering.range if self.answering else None,
            "table_note": self.answering.note if self.answering else "",
            "header_row": self.header_row,
            "columns": to_json(self.columns),
            "visibility": record.visibility.value,
            "role": record.role.value,
            "copies": self.copies.to_dict(),
            "why": {
                "words": list(self.why.words),
                "cell_words": list(self.why.cell_words),
                "headers": list(self.why.headers),
                "cells": [
                    {"cell": each.cell, "text": each.text, "kind": each.kind.value}
                    for each in self.why.cells
                ],
                "dense": round(self.why.dense, 6),
                "lexical": round(self.why.lexical, 6),
                "dense_rank": self.why.dense_rank,
                "lexical_rank": self.why.lexical_rank,
                "contents": round(self.why.contents, 6),
                "contents_rank": self.why.contents_rank,
                "links": [_link(link) for link in self.why.links],
                "via": _link(self.why.via) if self.why.via else None,
                "period": self.why.period,
            },
        }


class Answer(list[Hit]):
    """The hits of a query, best first, and the confidence in them.

    Args:
        hits: The hits.
        confidence: Probability that the sheets searched hold an answer, in [0, 1].
        answered: False if that is too little to show the hits without a warning.
        note: Further information for the reader.
    """

    def __init__(
        self,
        hits: Iterable[Hit] = (),
        *,
        confidence: float = 0.0,
        answered: bool = True,
        note: str = "",
    ) -> None:
        super().__init__(hits)
        self.confidence = confidence
        self.answered = answered
        self.note = note

    @property
    def heading(self) -> str:
        """The warning above hits that are only the nearest sheets; else ""."""
        return NOTHING if self and not self.answered else ""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as `sat search --json` prints them.

        >>> Answer(confidence=0.25, answered=False).to_dict()
        {'confidence': 0.25, 'answered': False, 'note': '', 'hits': []}
        """
        return {
            "confidence": round(self.confidence, 4),
            "answered": self.answered,
            "note": self.note,
            "hits": [hit.to_dict() for hit in self],
        }


def _link(link: Link) -> dict[str, str]:
    ends = {"from": link.source, "to": link.target}
    return {**ends, "type": link.type, "evidence": link.evidence}
