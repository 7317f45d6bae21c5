"""A query as every stage of a search reads it: made once, then handed on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date

from sat_retriever.errors import EmptyInputError
from sat_retriever.index.search.scores import Query, Scores
from sat_retriever.index.settings import check_dense_weight
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.period.spans import QueryPeriods


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A query, encoded, split into words and scored; `SheetIndex.question` makes it."""

    query: Query
    words: tuple[str, ...]  # its distinct words that count, as stems, in order
    times: QueryPeriods  # the times of sheets that it names; none if times do not count
    today: date  # the day that "last year" in it counts from
    read_as: str  # the query, with words of the index in place of misspelt ones
    # Scores of all sheets at the moment when the question was made, or of the best of a large
    # index. The index computes them anew if it has changed since.
    scores: Scores = field(repr=False)
    # Scores of the best sheets of a large index, by its state, filters and their number.
    parts: dict[str, Scores] = field(default_factory=dict, repr=False)

    @property
    def text(self) -> str:
        """See `Query`."""
        return self.query.text

    @property
    def token(self) -> FloatArray:
        """See `Query`."""
        return self.query.token

    @property
    def dense_weight(self) -> float:
        """See `Query`."""
        return self.query.dense_weight

    def weighing(self, dense_weight: float) -> Question:
        """The same question, with another share of the cosine; `InputError` if not in [0, 1]."""
        if dense_weight == self.dense_weight:
            return self
        check_dense_weight(dense_weight)
        query = replace(self.query, dense_weight=dense_weight)
        return replace(self, query=query, scores=self.scores.weighing(dense_weight), parts={})


def query_text(query: str) -> str:
    """A query without lone surrogates; raises `EmptyInputError` if it is blank."""
    if not query.strip():
        raise EmptyInputError("the query is empty; ask in a few words")
    return query.encode("utf-8", "replace").decode()
