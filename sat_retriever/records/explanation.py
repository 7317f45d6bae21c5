"""Explanation of the rank of one sheet for a question: why it is not higher."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sat_retriever.records.hits import Hit
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.sheets import Skipped


@dataclass(frozen=True, slots=True)
class WordPart:
    """One word of a question and its share of a sheet's score.

    Attributes:
        word: As the question spells it, without case.
        share: What it gives, of the question's best possible lexical score; 0 if it is not there.
        most: The most that it can give any sheet; 0 if no sheet's names have it.
        known: True if names or cells of any sheet have it.
        inside: True if cells of the sheet have it, and its names do not.
        code: What stands for it in the sheet's names, as they write it; empty without that.
    """

    word: str
    share: float
    most: float
    known: bool = True
    inside: bool = False
    code: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """A sheet in a ranking.

    Attributes:
        words: Every word of the question.
        found_rank: Its rank among all sheets before the reranker.
        found_score: Its score there.
        time: Share of that score that the times of the question left, in (0, 1].
        role: Share of that score that its role left, in (0, 1].
        together: BM25 over its names and contents as one, as a share of the best possible.
    """

    hit: Hit
    words: tuple[WordPart, ...]
    found_rank: int
    found_score: float
    time: float
    role: float
    together: float

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            **self.hit.to_dict(),
            "found_rank": self.found_rank,
            "found_score": round(self.found_score, 6),
            "time": round(self.time, 6),
            "role_share": round(self.role, 6),
            "together": round(self.together, 6),
            "words": [
                asdict(x) | {"share": round(x.share, 6), "most": round(x.most, 6)}
                for x in self.words
            ],
        }


@dataclass(frozen=True, slots=True)
class RankExplanation:
    """The rank of a sheet for a question, beside that of the sheet above it.

    Attributes:
        placed: The sheet in the ranking; None if it was skipped, and is not in the index.
        above: The sheet right above it; None if it is the first.
        sheets: Number of sheets that are ranked: those that meet the filters.
        candidates: Number of the best that the reranker puts in order; 0 without one.
        dense_weight: Share of the cosine in the scores before the reranker, in [0, 1].
        filters: Names of the filters that it does not meet; it is ranked without any then.
        skipped: What was not read of it or of its workbook, and why.
        shown_by: The copy of it that an answer shows in its place; None if it is shown itself.
            Then it is ranked with all copies.
    """

    query: str
    sheet_id: str
    placed: Placed | None
    above: Placed | None
    sheets: int
    candidates: int
    dense_weight: float
    filters: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    shown_by: str | None = None

    @property
    def lacking(self) -> tuple[WordPart, ...]:
        """Words that give the sheet above more than this one, greatest difference first."""
        if self.placed is None or self.above is None:
            return ()
        own = {part.word: part.share for part in self.placed.words}
        more = [part for part in self.above.words if part.share > own[part.word]]
        return tuple(sorted(more, key=lambda part: own[part.word] - part.share))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, as `sat why --json` prints them."""
        return {
            "query": self.query,
            "sheet_id": self.sheet_id,
            "sheets": self.sheets,
            "candidates": self.candidates,
            "dense_weight": self.dense_weight,
            "placed": self.placed.to_dict() if self.placed else None,
            "above": self.above.to_dict() if self.above else None,
            "lacking": [part.word for part in self.lacking],
            "filters": list(self.filters),
            "skipped": to_json(self.skipped),
            "shown_by": self.shown_by,
        }
