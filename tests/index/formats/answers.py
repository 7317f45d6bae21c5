"""What an index of one format is asked, and its answers as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sat_retriever import LinkReranker, SheetIndex, SheetRetriever, load_reranker

QUESTIONS = (
    "revenue by region in the second quarter of 2023",
    "salaries of the staff",
    "GX-14",
)
RERANKERS = ("links", "features", "graph")


def answers(index: SheetIndex, folder: Path, reranker: str) -> dict[str, list[dict[str, Any]]]:
    """The sheets for each question, with their scores and reasons, by id: some score alike.

    Args:
        index: The open index.
        folder: The folder of its format, which holds the rerankers.
        reranker: One of `RERANKERS`.
    """
    chosen = LinkReranker() if reranker == "links" else load_reranker(index, folder / reranker)
    retriever = SheetRetriever(index, chosen)
    return {
        question: [
            {
                "sheet": hit.sheet_id,
                "score": round(hit.score, 4),
                "words": list(hit.why.words),
                "citation": hit.citation,
            }
            for hit in sorted(retriever.retrieve(question, top_k=6), key=lambda hit: hit.sheet_id)
        ]
        for question in QUESTIONS
    }
