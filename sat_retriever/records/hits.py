"""The sheets of an answer, each with the reasons that speak for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sat_retriever.records.copies import NO_COPIES, Copies
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import SheetRecord


@dataclass(frozen=True, slots=True)
class Why:
    """What speaks for a sheet.

    Attributes:
        words: Words of the query that its name, headers or folder have.
        headers: Its headers that share a word with the query, at most ten.
        dense: Cosine of query and sheet token.
        lexical: BM25 as a share of the query's best possible.
        dense_rank: Rank by cosine alone among all sheets.
        lexical_rank: Rank by BM25 alone; None when no word matches.
        links: Links from or to other hits of the same answer.
        via: Link that lifted it most; None when no link did.
        period: Its time, if that lies within one that the query names.
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


@dataclass(frozen=True, slots=True)
class Hit:
    """One sheet of an answer.

    Attributes:
        rank: 1 for the best.
        score: What the ranking is by; higher is better.
        record: The sheet.
        why: What speaks for it.
        copies: Its other versions, for which it stands.
    """

    rank: int
    score: float
    record: SheetRecord
    why: Why
    copies: Copies = NO_COPIES

    @property
    def sheet_id(self) -> str:
        """Id of the sheet."""
        return self.record.sheet_id

    def to_dict(self) -> dict[str, Any]:
        """The hit as plain JSON values, as `sat search --json` prints it."""
        record = self.record
        return {
            "sheet_id": record.sheet_id,
            "citation": record.citation,
            "rank": self.rank,
            "score": round(self.score, 6),
            "workbook": record.workbook,
            "path": record.path,
            "sheet": record.sheet,
            "range": record.main_range,
            "header_row": record.header_row,
            "columns": to_json(record.columns),
            "visibility": record.visibility.value,
            "copies": self.copies.to_dict(),
            "why": {
                "words": list(self.why.words),
                "headers": list(self.why.headers),
                "dense": round(self.why.dense, 6),
                "lexical": round(self.why.lexical, 6),
                "dense_rank": self.why.dense_rank,
                "lexical_rank": self.why.lexical_rank,
                "links": [_link(link) for link in self.why.links],
                "via": _link(self.why.via) if self.why.via else None,
                "period": self.why.period,
            },
        }


def _link(link: Link) -> dict[str, str]:
    ends = {"from": link.source, "to": link.target}
    return {**ends, "type": link.type, "evidence": link.evidence}
