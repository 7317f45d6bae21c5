"""Compute ranking metrics with binary relevance for one ranking.

Every function takes one ranking (sheet ids, best first, each once) and the set of relevant sheets
of its query, or the `Hits` of both, and returns a number in [0, 1]. Means are macro averages over
queries. A query without relevant sheets is an EmptyInputError; k < 1, or a sheet that is ranked
twice, an InputError.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple

from sat_retriever.errors import EmptyInputError, InputError

Ids = Sequence[Hashable]  # sheet ids, or row numbers in a training
Gold = Collection[Hashable]


class Hits(NamedTuple):
    """The ranks of a query's positives, from 1, ascending, and their number, ranked or not."""

    ranks: Sequence[int]
    relevant: int


def hits_of(ranking: Ids, positives: Gold, k: int | None = None) -> Hits:
    """Return the positives among the first k ranks.

    >>> hits_of(["x", "a", "b"], ["b", "a", "q"])
    Hits(ranks=[2, 3], relevant=3)
    """
    if not positives:
        raise EmptyInputError("the query has no relevant sheet, so no metric is defined for it")
    if k is not None and k < 1:
        raise InputError(f"k must be at least 1, not {k}")
    top = ranking[:k]
    if len(set(top)) != len(top):
        twice = next(sheet for i, sheet in enumerate(top) if sheet in top[:i])
        raise InputError(f"sheet {twice!r} stands twice in a ranking; rank each sheet once")
    gold = set(positives)
    ranks = [rank for rank, sheet in enumerate(top, start=1) if sheet in gold]
    return Hits(ranks, len(gold))


def ndcg(ranking: Ids, positives: Gold, k: int) -> float:
    """Return the normalised discounted cumulative gain of the first k ranks.

    Source: paper, section 4 (metrics): DCG = Σ hit_r / log2(r + 2) with r from 0,
    divided by the DCG of min(k, number of positives) leading hits.

    >>> ndcg(["a", "x", "b"], {"a", "b"}, k=3)  # (1 + 1/2) / (1 + 1/log2(3))
    0.9197207891481876
    """
    return ndcg_of(hits_of(ranking, positives, k), k)


def recall(ranking: Ids, positives: Gold, k: int) -> float:
    """Return the share of the positives among the first k ranks; not capped at k.

    Six positives give at most 5/6 at k = 5, as in the paper.

    >>> recall(["a", "x", "b"], {"a", "b"}, k=2)
    0.5
    """
    return recall_of(hits_of(ranking, positives, k), k)


def all_relevant(ranking: Ids, positives: Gold, k: int) -> float:
    """Return 1.0 if every positive is among the first k ranks, else 0.0.

    >>> all_relevant(["a", "x", "b"], {"a", "b"}, k=3)
    1.0
    """
    return all_relevant_of(hits_of(ranking, positives, k), k)


def hit(ranking: Ids, positives: Gold, k: int) -> float:
    """Return 1.0 if at least one positive is among the first k ranks, else 0.0.

    >>> hit(["x", "a"], {"a", "b"}, k=1)
    0.0
    """
    return hit_of(hits_of(ranking, positives, k), k)


def reciprocal_rank(ranking: Ids, positives: Gold, k: int | None = None) -> float:
    """Return one over the rank of the first positive; 0.0 if none is in the first k ranks.

    The mean over queries is MRR@k, or MRR if k is None.

    >>> reciprocal_rank(["x", "a", "b"], {"a", "b"})
    0.5
    """
    return reciprocal_rank_of(hits_of(ranking, positives, k), k)


def oracle_recall(candidates: Ids, positives: Gold, k: int, depth: int) -> float:
    """Return Recall@k of a perfect reranker of the first `depth` candidates.

    >>> oracle_recall(["x", "a", "b"], {"a", "b", "c"}, k=1, depth=3)
    0.3333333333333333
    """
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}")
    return oracle_recall_of(hits_of(candidates, positives, depth), k, depth)


def ndcg_of(hits: Hits, k: int) -> float:
    """Return `ndcg`."""
    gain = sum(1 / math.log2(rank + 1) for rank in hits.ranks if rank <= k)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, hits.relevant) + 1))
    return gain / ideal


def recall_of(hits: Hits, k: int) -> float:
    """Return `recall`."""
    return sum(rank <= k for rank in hits.ranks) / hits.relevant


def all_relevant_of(hits: Hits, k: int) -> float:
    """Return `all_relevant`."""
    return float(sum(rank <= k for rank in hits.ranks) == hits.relevant)


def hit_of(hits: Hits, k: int) -> float:
    """Return `hit`."""
    return float(any(rank <= k for rank in hits.ranks))


def reciprocal_rank_of(hits: Hits, k: int | None = None) -> float:
    """Return `reciprocal_rank`."""
    first = hits.ranks[0] if hits.ranks else math.inf
    return 1 / first if k is None or first <= k else 0.0


def oracle_recall_of(hits: Hits, k: int, depth: int) -> float:
    """Return `oracle_recall`."""
    return min(k, sum(rank <= depth for rank in hits.ranks)) / hits.relevant


def mean(values: Sequence[float]) -> float:
    """Return the macro average; an EmptyInputError without values.

    >>> mean([0.0, 0.5])
    0.25
    """
    if not values:
        raise EmptyInputError("there is no query to average over")
    return math.fsum(values) / len(values)
