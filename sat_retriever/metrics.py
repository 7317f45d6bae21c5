"""Ranking metrics over binary relevance, candidate ceilings and a paired bootstrap.

Every per-query function takes one ranking (sheet ids, best first, each once) and
the query's gold set, and gives a number in [0, 1]. Means are macro over queries.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from sat_retriever.errors import EmptyInputError, InputError

_CHUNK = 500  # bootstrap resamples drawn at once: bounds memory at ~10 MB for 2,000 queries


def _hits(ranking: Sequence[str], positives: Collection[str], k: int | None) -> list[bool]:
    """Whether each of the first k ranks is relevant."""
    if not positives:
        raise EmptyInputError("the query has no relevant sheet, so no metric is defined for it")
    if k is not None and k < 1:
        raise InputError(f"k must be at least 1, not {k}")
    top = ranking[:k]
    if len(set(top)) != len(top):
        twice = next(sheet for i, sheet in enumerate(top) if sheet in top[:i])
        raise InputError(f"sheet {twice!r} stands twice in a ranking; rank each sheet once")
    gold = set(positives)
    return [sheet in gold for sheet in top]


def ndcg(ranking: Sequence[str], positives: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain of the first k ranks.

    Source: paper, section 4 (metrics): DCG = Σ hit_r / log2(r + 2) with r from 0,
    divided by the DCG of min(k, number of positives) leading hits.

    Raises:
        EmptyInputError: If there are no positives.
        InputError: If k < 1 or a sheet is ranked twice.

    >>> ndcg(["a", "x", "b"], {"a", "b"}, k=3)  # (1 + 1/2) / (1 + 1/log2(3))
    0.9197207891481876
    """
    gain = sum(hit / math.log2(rank + 2) for rank, hit in enumerate(_hits(ranking, positives, k)))
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(k, len(set(positives)))))
    return gain / ideal


def recall(ranking: Sequence[str], positives: Collection[str], k: int) -> float:
    """Share of the positives among the first k ranks; not capped at k.

    Six positives give at most 5/6 at k = 5, as in the paper.

    Raises:
        EmptyInputError: If there are no positives.
        InputError: If k < 1 or a sheet is ranked twice.

    >>> recall(["a", "x", "b"], {"a", "b"}, k=2)
    0.5
    """
    return sum(_hits(ranking, positives, k)) / len(set(positives))


def all_relevant(ranking: Sequence[str], positives: Collection[str], k: int) -> float:
    """1.0 if every positive is among the first k ranks, else 0.0.

    Raises:
        EmptyInputError: If there are no positives.
        InputError: If k < 1 or a sheet is ranked twice.

    >>> all_relevant(["a", "x", "b"], {"a", "b"}, k=3)
    1.0
    """
    return float(sum(_hits(ranking, positives, k)) == len(set(positives)))


def hit(ranking: Sequence[str], positives: Collection[str], k: int) -> float:
    """1.0 if at least one positive is among the first k ranks, else 0.0.

    Raises:
        EmptyInputError: If there are no positives.
        InputError: If k < 1 or a sheet is ranked twice.

    >>> hit(["x", "a"], {"a", "b"}, k=1)
    0.0
    """
    return float(any(_hits(ranking, positives, k)))


def reciprocal_rank(
    ranking: Sequence[str], positives: Collection[str], k: int | None = None
) -> float:
    """One over the rank of the first positive; 0.0 if none is in the first k ranks.

    Its mean over queries is MRR@k, and plain MRR without k.

    Raises:
        EmptyInputError: If there are no positives.
        InputError: If k < 1 or a sheet is ranked twice.

    >>> reciprocal_rank(["x", "a", "b"], {"a", "b"})
    0.5
    """
    hits = _hits(ranking, positives, k)
    return 1 / (hits.index(True) + 1) if True in hits else 0.0


def oracle_recall(
    candidates: Sequence[str], positives: Collection[str], k: int, depth: int
) -> float:
    """Recall@k of a perfect reranker of the first `depth` candidates.

    Raises:
        EmptyInputError: If there are no positives.
        InputError: If k < 1, depth < 1 or a sheet is ranked twice.

    >>> oracle_recall(["x", "a", "b"], {"a", "b", "c"}, k=1, depth=3)
    0.3333333333333333
    """
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}")
    return min(k, sum(_hits(candidates, positives, depth))) / len(set(positives))


def hard_negative_rate(
    rankings: Sequence[Sequence[str]], hard_negatives: Sequence[Collection[str]]
) -> float | None:
    """HN-FPR@1: how often a query's first sheet is one of its hard negatives.

    Counted over the queries that have annotated hard negatives. An empty ranking
    is no false positive.

    Returns:
        A share in [0, 1]; None where no query has any, so nothing is measured.

    Raises:
        InputError: If the two lists differ in length.

    >>> hard_negative_rate([["a"], ["b"], ["c"]], [{"a"}, {"x"}, set()])
    0.5
    >>> hard_negative_rate([["a"]], [set()]) is None
    True
    """
    if len(rankings) != len(hard_negatives):
        raise InputError(f"{len(rankings)} rankings, but {len(hard_negatives)} hard-negative sets")
    wrong = [
        bool(ranking) and ranking[0] in hard
        for ranking, hard in zip(rankings, hard_negatives, strict=True)
        if hard
    ]
    return sum(wrong) / len(wrong) if wrong else None


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What a candidate list allows at best: means over queries, each in [0, 1].

    Attributes:
        recall: Share of the positives among the candidates.
        hit: Share of queries with at least one positive among them.
        all_relevant: Share of queries with every positive among them.
        oracle_recall: Recall@k after a perfect rerank.
    """

    recall: float
    hit: float
    all_relevant: float
    oracle_recall: float


def candidate_ceilings(
    candidates: Sequence[Sequence[str]],
    positives: Sequence[Collection[str]],
    *,
    depth: int = 50,
    k: int = 5,
) -> Ceilings:
    """What reranking the first `depth` candidates of each query can reach.

    Raises:
        EmptyInputError: If there is no query, or one without positives.
        InputError: If the lists differ in length, or a sheet is listed twice.

    >>> candidate_ceilings([["a", "x"], ["x"]], [{"a"}, {"b"}], depth=2)
    Ceilings(recall=0.5, hit=0.5, all_relevant=0.5, oracle_recall=0.5)
    """
    if len(candidates) != len(positives):
        raise InputError(f"{len(candidates)} candidate lists, but {len(positives)} gold sets")
    pairs = list(zip(candidates, positives, strict=True))
    return Ceilings(
        recall=mean([recall(found, gold, depth) for found, gold in pairs]),
        hit=mean([hit(found, gold, depth) for found, gold in pairs]),
        all_relevant=mean([all_relevant(found, gold, depth) for found, gold in pairs]),
        oracle_recall=mean([oracle_recall(found, gold, k, depth) for found, gold in pairs]),
    )


def mean(values: Sequence[float]) -> float:
    """The macro average.

    Raises:
        EmptyInputError: If there are no values.

    >>> mean([0.0, 0.5])
    0.25
    """
    if not values:
        raise EmptyInputError("there is no query to average over")
    return math.fsum(values) / len(values)


@dataclass(frozen=True, slots=True)
class Difference:
    """How far one system is ahead of another, with its uncertainty.

    Attributes:
        mean: Mean of first minus second, over all rows.
        low: 2.5 % quantile of the resampled means.
        high: 97.5 % quantile of the resampled means.
    """

    mean: float
    low: float
    high: float


def paired_bootstrap(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Difference:
    """Mean difference of two systems on the same rows, with an interval.

    Whole clusters are resampled, so rows of one query under several seeds stay
    together and do not count as independent evidence.

    Args:
        first: One score a row.
        second: The other system's score on the same rows.
        clusters: The query each row belongs to; None if every row is its own.
        level: Share of the draws that lie in the interval, in (0, 1), as many left out below it
            as above.
        resamples: Number of bootstrap draws.
        seed: Seed of the draws; equal seeds give equal intervals.

    Raises:
        EmptyInputError: If there are no rows.
        InputError: If the lists differ in length, or resamples < 1.

    >>> paired_bootstrap([1.0, 0.5], [0.5, 0.0])
    Difference(mean=0.5, low=0.5, high=0.5)
    """
    keys = range(len(first)) if clusters is None else clusters
    if not len(first) == len(second) == len(keys):
        raise InputError(f"{len(first)} scores against {len(second)}, in {len(keys)} cluster rows")
    if not first:
        raise EmptyInputError("there are no scores to compare")
    if resamples < 1:
        raise InputError(f"resamples must be at least 1, not {resamples}")
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    place_of_row = np.array([places[key] for key in keys])
    gaps = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    sums = np.bincount(place_of_row, weights=gaps)
    sizes = np.bincount(place_of_row).astype(np.float64)
    rng = np.random.default_rng(seed)
    means: list[np.ndarray] = []
    for start in range(0, resamples, _CHUNK):
        drawn = rng.integers(0, len(sums), size=(min(_CHUNK, resamples - start), len(sums)))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [(1 - level) / 2, (1 + level) / 2])
    return Difference(mean=float(gaps.mean()), low=float(low), high=float(high))
