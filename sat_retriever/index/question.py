"""A query as every stage of a search reads it: made once, then handed on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date

from sat_retriever.errors import EmptyInputError
from sat_retriever.index.scores import Scores
from sat_retriever.index.settings import check_dense_weight
from sat_retriever.index.snapshot import Snapshot
from sat_retriever.period.asked import AskedTimes
from sat_retriever.records.tokens import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A query, encoded, split into words and scored; `SheetIndex.question` makes it.

    Attributes:
        text: The query, without lone surrogates.
        token: Its token (d,) float32, unit length.
        words: Its distinct words that count, as stems, in order.
        times: The times of sheets that it names; none if times do not count.
        today: The day that "last year" in it counts from.
        dense_weight: Share of the cosine in its scores, in [0, 1].
        read_as: The query, with words of the index in place of misspelt ones.
        scores: Scores of all sheets at the moment when the question was made. The index
            computes them anew if it has changed since.
        parts: Sheets of a large index that it is scored against, by state of the index and filters.
    """

    text: str
    token: FloatArray = field(repr=False)
    words: tuple[str, ...]
    times: AskedTimes
    today: date
    dense_weight: float
    read_as: str
    scores: Scores = field(repr=False)
    parts: dict[str, Snapshot] = field(default_factory=dict, repr=False)

    def weighing(self, dense_weight: float) -> Question:
        """The same question, its scores with another share of the cosine.

        Raises:
            InputError: If `dense_weight` is not in [0, 1].
        """
        if dense_weight == self.dense_weight:
            return self
        check_dense_weight(dense_weight)
        scores = self.scores.weighing(dense_weight)
        return replace(self, dense_weight=dense_weight, scores=scores)


def query_text(query: str) -> str:
    """A query without lone surrogates.

    Raises:
        EmptyInputError: If it has no character other than white space.
    """
    if not query.strip():
        raise EmptyInputError("the query is empty; ask in a few words")
    return query.encode("utf-8", "replace").decode()
