"""Define the contract of Stage 2: a question and its candidates in, a better order out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Protocol

from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.rank.complete import COMPLETE_SHARE
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters


class Reranker(Protocol):
    """Stage 2: candidates in, the same sheets in a better order out.

    A reranker of your own inherits from this class and defines `rerank`; it overrides properties
    whose values do not fit:

        class ShortNamesFirst(Reranker):
            def rerank(self, question, candidates, filters=None):
                order = sorted(candidates, key=lambda each: len(each.sheet_id))
                return [replace(each, rank=n, score=1 / n) for n, each in enumerate(order, 1)]

        SheetRetriever(index, ShortNamesFirst()).retrieve("orders by region")
    """

    @property
    def dense_weight(self) -> float | None:
        """Share of the cosine in the score that finds candidates; None is the index's own."""
        return None

    @property
    def trained_candidates(self) -> int | None:
        """Number of candidates per query that it was trained on; None for any number."""
        return None

    @property
    def complete_share(self) -> float:
        """Smallest share of the best score for a sheet of a complete answer, in (0, 1]."""
        return COMPLETE_SHARE

    @property
    def keeps_scale(self) -> bool:
        """True if its scores are comparable with the candidates' earlier ones."""
        return False

    def over(self, index: SheetIndex) -> Reranker:
        """Return the same reranker for an index as some groups see it: see `SheetIndex.seen_by`.

        Args:
            index: What it reads from now on. A reranker that reads the index by an attribute other
                than `index` overrides this.
        """
        other = copy(self)
        if hasattr(other, "index"):
            other.index = index
        return other

    @abstractmethod
    def rerank(
        self,
        question: Question,
        candidates: Sequence[Candidate],
        filters: Filters | None = None,
    ) -> Sequence[Candidate]:
        """Return candidates with new scores and ranks, best first.

        Args:
            question: The question with its `text`, `token`, `words`, `times` and more. The index
                can score further sheets for it: `SheetIndex.score_sheets`.
            candidates: The result of Stage 1, in any order.
            filters: Conditions on sheets that the reranker adds.
        """
        ...
