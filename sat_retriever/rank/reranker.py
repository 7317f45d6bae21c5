"""What Stage 2 is: candidates in, the same sheets in a better order out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sat_retriever.records.candidates import Candidate
from sat_retriever.records.filters import Filters


class Reranker(Protocol):
    """Stage 2: candidates in, the same sheets in a better order out."""

    @property
    def dense_weight(self) -> float | None:
        """Share of the cosine in the score that candidates are found by; None: the index's."""
        ...

    @property
    def candidates(self) -> int | None:
        """How many candidates it was trained on; None: any number."""
        ...

    @property
    def complete_share(self) -> float:
        """Share of the best score that a sheet of a complete answer has at least, in (0, 1]."""
        ...

    def rerank(
        self, query: str, candidates: Sequence[Candidate], filters: Filters | None = None
    ) -> Sequence[Candidate]:
        """Candidates with new scores and ranks, best first.

        More may be added, if they meet the filters.
        """
        ...
