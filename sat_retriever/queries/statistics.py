"""How many questions of what, beside the published ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import mean, median
from typing import TypeVar

from sat_retriever.labels import Query
from sat_retriever.queries.published import HARD, HARD_NEGATIVES, HARD_TYPES, POSITIVES, QUESTIONS

_Name = TypeVar("_Name", str, tuple[str, str])


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, median and largest of some numbers; zeros if there are none."""

    mean: float
    median: float
    largest: int

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Spread:
        """The spread of some numbers.

        >>> Spread.of([1, 2, 6])
        Spread(mean=3.0, median=2.0, largest=6)
        """
        values = list(numbers)
        if not values:
            return cls(0.0, 0.0, 0)
        return cls(float(mean(values)), float(median(values)), max(values))


@dataclass(frozen=True, slots=True)
class QueryStatistics:
    """What a set of labelled questions is made of.

    Attributes:
        number: How many questions.
        by_type: Questions by query type and dependency type.
        positives: Positives a question.
        hard: Hard negatives a question.
        hard_types: Hard negatives by type.
    """

    number: int
    by_type: Mapping[tuple[str, str], int]
    positives: Spread
    hard: Spread
    hard_types: Mapping[str, int]


def query_statistics(queries: Iterable[Query]) -> QueryStatistics:
    """The figures of questions, read once."""
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


def published_statistics() -> QueryStatistics:
    """The figures of the published IndustryTab-1K questions."""
    hard_types = {
        name: sum(counts[name] for counts in HARD_NEGATIVES.values()) for name in HARD_TYPES
    }
    return QueryStatistics(
        sum(QUESTIONS.values()), QUESTIONS, Spread(*POSITIVES), Spread(*HARD), hard_types
    )


def beside_published(own: QueryStatistics) -> list[tuple[str, str, str]]:
    """Rows of a table: what, here, published; shares in percent of all.

    >>> beside_published(published_statistics())[0]
    ('queries', '1797', '1797')
    """
    other = published_statistics()
    rows = [("queries", str(own.number), str(other.number))]
    for types in dict.fromkeys((*other.by_type, *own.by_type)):
        rows.append((" / ".join(types), *_shares(types, own.by_type, other.by_type)))
    for what in ("mean", "median", "largest"):
        for name in ("positives", "hard"):
            label = f"{name.replace('hard', 'hard negatives')} a query, {what}"
            values = (getattr(getattr(each, name), what) for each in (own, other))
            here, there = (f"{value:g}" if what != "mean" else f"{value:.2f}" for value in values)
            rows.append((label, here, there))
    for name in dict.fromkeys((*other.hard_types, *own.hard_types)):
        rows.append((name, *_shares(name, own.hard_types, other.hard_types)))
    return rows


def _shares(name: _Name, own: Mapping[_Name, int], other: Mapping[_Name, int]) -> tuple[str, str]:
    first, second = (
        f"{100 * counts.get(name, 0) / (sum(counts.values()) or 1):.1f} %"
        for counts in (own, other)
    )
    return first, second
