"""Define a compared method: it finds candidates and puts them in a new order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.metrics.run import DEPTH, Ranked, Ranking, Run
from sat_retriever.records.candidates import Candidate
from sat_retriever.records.progress import Progress

Asked = Any  # a method's form of a question: the index's `Question`, or the text itself
Find = Callable[[Asked], Sequence[Candidate]]
Rerank = Callable[[Asked, Sequence[Candidate]], Sequence[Candidate]]


def no_progress(*_: object) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, slots=True)
class Method:
    """One way to rank the sheets of an index.

    Attributes:
        find: Stage 1: finds candidates in the whole corpus, best first.
        rerank: Stage 2: puts a question's candidates in a new order; None without one.
        ask: Makes the question from a text, once for both stages; by default the text itself.
    """

    find: Find
    rerank: Rerank | None = None
    ask: Callable[[str], Asked] = str

    def stage1(self, query: str) -> tuple[Asked, Sequence[Candidate]]:
        """Return the question made from a text, and its candidates."""
        asked = self.ask(query)
        return asked, self.find(asked)

    def rank(self, query: str) -> Sequence[Candidate]:
        """Return the answer of both stages to a text."""
        asked, found = self.stage1(query)
        return found if self.rerank is None else self.rerank(asked, found)

    def run(self, queries: Mapping[int, Query], progress: Progress = no_progress) -> Run:
        """Return the first 50 sheets of every question, by its place in the data set."""
        run: dict[int, Ranking] = {}
        for place, query in queries.items():
            found = self.rank(query.text)[:DEPTH]
            run[place] = [Ranked(sheet.sheet_id, sheet.score) for sheet in found]
            progress(len(run), len(queries))
        return run
