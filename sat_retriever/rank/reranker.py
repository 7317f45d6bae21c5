"""The contract of Stage 2: a question and its candidates in, a better order out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from sat_retriever.errors import InputError
from sat_retriever.index.search.candidates import CandidateSet
from sat_retriever.records.candidates import Candidate

# Chosen on Spider's training questions and 1K's validation split (benchmarks/LOG.md).
COMPLETE_SHARE = 0.9


def complete_set(
    candidates: Sequence[Candidate], max_k: int = 20, *, share: float = COMPLETE_SHARE
) -> int:
    """Return how many leading candidates together answer the query, at most `max_k`.

    The answer ends before the first sheet that scores less than a share of the best one. After
    `LinkReranker` the scores take account of links and of the words still missing.

    >>> scores = (0.8, 0.75, 0.5)
    >>> ranking = [Candidate(str(n), n, s, s, s, n, n) for n, s in enumerate(scores, start=1)]
    >>> complete_set(ranking), complete_set(ranking, 1), complete_set(ranking, share=0.6)
    (2, 1, 3)
    """
    if max_k < 1:
        raise InputError(f"max_k is {max_k}; ask for at least 1")
    if not 0 < share <= 1:
        raise InputError(f"share is {share}; give a share above 0, at most 1")
    if not candidates or candidates[0].score <= 0:
        return 0
    least = share * candidates[0].score
    size = 0
    for candidate in candidates[:max_k]:
        if candidate.score < least:
            break
        size += 1
    return size


_Values = NDArray[Any]


def rescored(candidates: Sequence[Candidate], values: _Values, scores: _Values) -> list[Candidate]:
    """Return candidates with new scores and ranks, in the order of values (k,), best first.

    Ties are in the order of sheet ids. Different values may round to the same shown score.
    """
    places = zip((-values).tolist(), candidates, scores.tolist(), strict=True)
    order = sorted(places, key=lambda place: (place[0], place[1].sheet_id))
    return [each.placed(rank, score) for rank, (_, each, score) in enumerate(order, start=1)]


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates with ranks from 1, in their order."""
    return [
        candidate if candidate.rank == rank else candidate.placed(rank, candidate.score)
        for rank, candidate in enumerate(candidates, start=1)
    ]


class Reranker(Protocol):
    """Stage 2: candidates in, the same sheets in a better order out.

    A reranker of your own inherits from this class and defines `rerank`; it overrides attributes
    whose values do not fit:

        class ShortNamesFirst(Reranker):
            def rerank(self, found):
                order = sorted(found.candidates, key=lambda each: len(each.sheet_id))
                return [each.placed(n, 1 / n) for n, each in enumerate(order, 1)]

        SheetRetriever(index, ShortNamesFirst()).retrieve("orders by region")

    It needs no index: all that it may know about the sheets is in the set that it is given.
    """

    dense_weight: float | None = None
    """Share of the cosine in the score that finds candidates; None is the index's own."""
    trained_candidates: int | None = None
    """Number of candidates per query that it was trained on; None for any number."""
    complete_share: float = COMPLETE_SHARE
    """Smallest share of the best score for a sheet of a complete answer, in (0, 1]."""
    keeps_scale: bool = False
    """True if its scores are comparable with the candidates' earlier ones."""

    @abstractmethod
    def rerank(self, found: CandidateSet) -> Sequence[Candidate]:
        """Return candidates with new scores and ranks, best first.

        Args:
            found: The result of Stage 1, in any order, with the question (its `text`, `token`,
                `words`, `times` and more) and the sheets' records, contents, links and words.
                `found.further` scores sheets to add.
        """
        ...


@dataclass(frozen=True, slots=True)
class UntrainedKind:
    """A reranker that needs no training."""

    name: str
    make: Callable[[], Reranker]
