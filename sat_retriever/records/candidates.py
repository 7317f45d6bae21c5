"""Sheets that are found for a question, before and after reranking."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.records.links import Link


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sheet of a candidate list, before reranking.

    Attributes:
        sheet_id: The sheet.
        rank: 1 for the best.
        score: Fused score in [-1, 1], or down to -1.5 where times hold a negative one back.
        dense: Cosine of query and sheet token in [-1, 1].
        lexical: BM25 over its names as a share of the query's best possible, in [0, 1].
        dense_rank: Rank by cosine alone among all sheets; equal ones share a rank.
        lexical_rank: Rank by BM25 alone among all sheets; None when no word matches.
        via: Link that lifted it most; None when no link did.
        time: Share of its score that the times of the query left, in (0, 1]; a negative score
            lost the same share of its size downwards.
        contents: BM25 over the texts of its cells, as a share of the query's best possible, in
            [0, 1]; or that of documentation in its workbook, if this is more.
        contents_rank: Rank by `contents` alone; None when no word matches.
        role: Share of its score that its role left, in (0, 1].
        phrase: True if it holds all that the query has in quotation marks.
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
