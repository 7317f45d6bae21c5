"""A compared method: what finds candidates, and what orders them anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sat_retriever.datasets.labels import Query
from sat_retriever.metrics.run import DEPTH, Ranked, Ranking, Run
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.progress import Progress

Asked = Any  # what a method asks with: the index's `Question` of a text, or the text itself
Find = Callable[[Asked], Sequence[Candidate]]
Rerank = Callable[[Asked, Sequence[Candidate]], Sequence[Candidate]]


def no_progress(*_: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to rank the sheets of an index.

    Attributes:
        find: Stage 1: a question to candidates of the whole corpus, best first.
        rerank: Stage 2: the question and its candidates to a new order; None without one.
        ask: Makes the question of a text, once for both stages; by default the text itself.
    """

    find: Find
    rerank: Rerank | None = None
    ask: Callable[[str], Asked] = str

    def stage1(self, query: str) -> tuple[Asked, Sequence[Candidate]]:
        """The question of a text, and its candidates."""
        asked = self.ask(query)
        return asked, self.find(asked)

    def rank(self, query: str) -> Sequence[Candidate]:
        """The answer of both stages to a text."""
        asked, found = self.stage1(query)
        return found if self.rerank is None else self.rerank(asked, found)

    def run(self, queries: Mapping[int, Query], progress: Progress = no_progress) -> Run:
        """The first 50 sheets of every question, by its place in the data set."""
        run: dict[int, Ranking] = {}
        for place, query in queries.items():
            found = self.rank(query.text)[:DEPTH]
            run[place] = [Ranked(sheet.sheet_id, sheet.score) for sheet in found]
            progress(len(run), len(queries))
        return run
