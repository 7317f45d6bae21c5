"""A compared method: what finds candidates, and what orders them anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sat_retriever.datasets.labels import Query
from sat_retriever.evaluation.run import DEPTH, Ranked, Ranking, Run
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.progress import Progress

Find = Callable[[str], Sequence[Candidate]]
Rerank = Callable[[str, Sequence[Candidate]], Sequence[Candidate]]


def no_progress(*_: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to rank the sheets of an index.

    Attributes:
        find: Stage 1: a question to candidates of the whole corpus, best first.
        rerank: Stage 2: the question and its candidates to a new order; None without one.
    """

    find: Find
    rerank: Rerank | None = None

    def rank(self, query: str) -> Sequence[Candidate]:
        """Both stages of one question."""
        found = self.find(query)
        return found if self.rerank is None else self.rerank(query, found)

    def run(self, queries: Mapping[int, Query], progress: Progress = no_progress) -> Run:
        """The first 50 sheets of every question, by its place in the data set."""
        run: dict[int, Ranking] = {}
        for place, query in queries.items():
            found = self.rank(query.text)[:DEPTH]
            run[place] = [Ranked(sheet.sheet_id, sheet.score) for sheet in found]
            progress(len(run), len(queries))
        return run
