"""A query as every stage of a search reads it: made once, then handed on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date

from sat_retriever.errors import EmptyInputError
from sat_retriever.index.search.query import Query
from sat_retriever.index.search.scores import Scores
from sat_retriever.index.settings import check_dense_weight
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.period.spans import QueryPeriods


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A query, encoded, split into words and scored; `SheetIndex.question` makes it.

    Attributes:
        query: Its text, token, periods that count, and weight of cosines.
        words: Its distinct words that count, as stems, in order.
        times: The times of sheets that it names; none if times do not count.
        today: The day that "last year" in it counts from.
        read_as: The query, with words of the index in place of misspelt ones.
        scores: Scores of all sheets at the moment when the question was made, or of the best of a
            large index. The index computes them anew if it has changed since.
        parts: Scores of the best sheets of a large index, by its state, filters and their number.
    """

    query: Query
    words: tuple[str, ...]
    times: QueryPeriods
    today: date
    read_as: str
    scores: Scores = field(repr=False)
    parts: dict[str, Scores] = field(default_factory=dict, repr=False)

    @property
    def text(self) -> str:
        """The query, without lone surrogates."""
        return self.query.text

    @property
    def token(self) -> FloatArray:
        """Its token (d,) float32, unit length."""
        return self.query.token

    @property
    def dense_weight(self) -> float:
        """Share of the cosine in its scores, in [0, 1]."""
        return self.query.dense_weight

    def weighing(self, dense_weight: float) -> Question:
        """The same question, its scores with another share of the cosine.

        Raises:
            InputError: If `dense_weight` is not in [0, 1].
        """
        if dense_weight == self.dense_weight:
            return self
        check_dense_weight(dense_weight)
        query = replace(self.query, dense_weight=dense_weight)
        return replace(self, query=query, scores=self.scores.weighing(dense_weight), parts={})


def query_text(query: str) -> str:
    """A query without lone surrogates.

    Raises:
        EmptyInputError: If it has no character other than white space.
    """
    if not query.strip():
        raise EmptyInputError("the query is empty; ask in a few words")
    return query.encode("utf-8", "replace").decode()
