"""Count labelled queries by type, and their positives and hard negatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import mean, median

from sat_retriever.datasets.labels import Query


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean, median and largest of some numbers; zeros if there are none."""

    mean: float
    median: float
    largest: int

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Spread:
        """Compute the spread of some numbers.

        >>> Spread.of([1, 2, 6])
        Spread(mean=3.0, median=2.0, largest=6)
        """
        values = list(numbers)
        if not values:
            return cls(0.0, 0.0, 0)
        return cls(float(mean(values)), float(median(values)), max(values))


@dataclass(frozen=True, slots=True)
class QueryStatistics:
    """The composition of a set of labelled questions.

    Attributes:
        number: Number of questions.
        by_type: Questions by query type and dependency type.
        positives: Number of positives per question.
        hard: Number of hard negatives per question.
        hard_types: Hard negatives by type.
    """

    number: int
    by_type: Mapping[tuple[str, str], int]
    positives: Spread
    hard: Spread
    hard_types: Mapping[str, int]


def query_statistics(queries: Iterable[Query]) -> QueryStatistics:
    """Compute the statistics of questions in one pass."""
    types: Counter[tuple[str, str]] = Counter()
    hard_types: Counter[str] = Counter()
    positives, hard = [], []
    for query in queries:
        types[query.query_type, query.dependency_type] += 1
        hard_types.update(query.hard_negative_types.values())
        positives.append(len(query.positives))
        hard.append(len(query.hard_negatives))
    return QueryStatistics(
        len(positives), dict(types), Spread.of(positives), Spread.of(hard), dict(hard_types)
    )
