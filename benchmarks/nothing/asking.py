"""Ask an index what it holds and what it does not, and note the evidence of each question."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sat_retriever.datasets.labels import Query
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.search.question import Question
from sat_retriever.index.search.scores import Evidence, best_rows, evidence

Kind = Literal["own", "removed", "book_removed", "foreign", "few", "few_removed"]
ANSWERED: tuple[Kind, ...] = ("own", "few")
FEW = 20  # sheets of a small index
_BEST = 5  # hits among which the right sheet has to be
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Row:
    """One question, asked in one way.

    Attributes:
        query: Its place among those asked.
        kind: "own": of the sheets; "removed": of the sheets without those that answer it;
            "book_removed": without all sheets of their workbooks; "few": of the sheets that
            answer it and twenty others; "few_removed": of these others alone; "foreign": a
            question of another corpus.
        right: True if one of the five best of all sheets answers it.
        evidence: What speaks for an answer.
    """

    query: int
    kind: Kind
    right: bool
    evidence: Evidence

    def to_dict(self) -> dict[str, object]:
        """The row as it is kept in result files."""
        numbers = {name: round(value, 5) for name, value in asdict(self.evidence).items()}
        return {"query": self.query, "kind": self.kind, "right": self.right, **numbers}


class Asker:
    """Asks one index.

    Args:
        index: The index.
    """

    def __init__(self, index: SheetIndex) -> None:
        self._index = index
        self._ids = index.sheet_ids()
        self._books = index.workbook_of(self._ids)
        self._places: dict[str, int] = {}

    def own(self, queries: Sequence[Query]) -> Iterator[Row]:
        """Rows of questions that the index answers."""
        for place, query in enumerate(queries):
            question = self._index.question(query.text)
            at = self._at(question)
            answers = np.array(sorted(at[each] for each in query.positives if each in at))
            if len(answers):
                yield from self._asked(place, question, answers.astype(np.intp), query)

    def foreign(self, queries: Iterable[Query]) -> Iterator[Row]:
        """Rows of questions of other corpora."""
        for place, query in enumerate(queries):
            question = self._index.question(query.text)
            every = np.arange(len(self._at(question)))
            yield Row(place, "foreign", right=False, evidence=evidence(question.scores, every))

    def _asked(self, place: int, question: Question, answers: Rows, query: Query) -> Iterator[Row]:
        every = np.arange(len(self._ids))
        right = bool(np.isin(best_rows(question.scores, _BEST, None), answers).any())
        others = np.setdiff1d(every, answers)
        books = {self._books.get(each) for each in query.positives}
        apart = [
            row for name, row in self._at(question).items() if self._books.get(name) not in books
        ]
        few = others[np.random.default_rng(_seed(query.text)).permutation(len(others))[:FEW]]
        searched: Mapping[Kind, Rows] = {
            "own": every,
            "removed": others,
            "book_removed": np.array(sorted(apart), dtype=np.intp),
            "few": np.union1d(few, answers),
            "few_removed": np.sort(few),
        }
        for kind, rows in searched.items():
            if kind != "book_removed" or 0 < len(rows) < len(others):
                yield Row(place, kind, right, evidence(question.scores, rows))

    def _at(self, question: Question) -> Mapping[str, int]:
        """Position of each sheet in the scores of a question; the index does not change."""
        if not self._places:
            ids = question.scores.snapshot.tie_rank  # place of each sheet in the order of ids
            ordered = sorted(self._ids)
            self._places = {ordered[rank]: row for row, rank in enumerate(ids.tolist())}
        return self._places


def _seed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
