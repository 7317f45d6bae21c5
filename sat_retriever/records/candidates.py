"""Sheets found for a question, before reranking."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.records.links import Link


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sheet of a candidate list, before reranking.

    Attributes:
        score: Fused score in [-1, 1], or down to -1.5 if times lower a negative score.
        dense: Cosine of query and sheet token in [-1, 1].
        lexical: BM25 over its names as a share of the query's best possible, in [0, 1].
        dense_rank: Rank by `dense` among all sheets; equal cosines share a rank.
        lexical_rank: Rank by `lexical` among all sheets; None when no word matches.
        via: Link that raised its score most; None when no link did.
        time: Factor in (0, 1] that the query's times applied to the score. A negative score is
            lowered by the same share of its size.
        contents: BM25 over the texts of its cells as a share of the query's best possible, in
            [0, 1]; or that of documentation in its workbook, if this is higher.
        contents_rank: Rank by `contents`; None when no word matches.
        role: Factor in (0, 1] that its role applied to the score.
        phrase: True if it holds all that the query has in quotation marks.
        together: BM25 over names and contents as one, as a share of the best possible, in [0, 1].
    """

    sheet_id: str
    rank: int
    score: float
    dense: float
    lexical: float
    dense_rank: int
    lexical_rank: int | None
    via: Link | None = None
    time: float = 1.0
    contents: float = 0.0
    contents_rank: int | None = None
    role: float = 1.0
    phrase: bool = False
    together: float = 0.0

    def placed(self, rank: int, score: float, via: Link | None = None) -> Candidate:
        """It with another rank, score, and link if one is given; `dataclasses.replace` is slow."""
        return Candidate(
            self.sheet_id, rank, score, self.dense, self.lexical, self.dense_rank,
            self.lexical_rank, via or self.via, self.time, self.contents, self.contents_rank,
            self.role, self.phrase, self.together,
        )  # fmt: skip
