"""Compare two methods by the rows of both."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sat_retriever.datasets.metrics.rows import PER_QUERY, Rows
from sat_retriever.errors import EmptyInputError, InputError

LEVEL = 0.95  # of the reported intervals
_CHUNK = 500  # bootstrap resamples drawn at once: keeps memory at ~10 MB for 2,000 queries

BySeed = Mapping[int | None, Rows]  # rows of each training seed; None for a method without training


@dataclass(frozen=True, slots=True)
class Difference:
    """The lead of one system over another: the mean of first minus second over all rows.

    `low` and `high` are the (1 - level) / 2 and (1 + level) / 2 quantiles of the resampled means,
    2.5 % and 97.5 % at the usual level of 0.95.
    """

    mean: float
    low: float
    high: float


def difference(
    first: BySeed,
    second: BySeed,
    metric: str = "NDCG@5",
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = LEVEL,
) -> Difference:
    """Return the mean difference of two methods on the same questions, by a paired bootstrap.

    Rows are paired by training seed; a method without seeds is compared with each seed of the
    other. Seeds that only one side has are left out. All rows of a cluster are resampled together;
    `clusters` has the cluster of each question, in the order of a seed's rows, and None makes each
    question its own.

    Source: the paper's paired bootstrap over query clusters, with 10,000 resamples.

    Raises:
        EmptyInputError: If the methods have no seed in common.

    >>> ahead = [{"query": 0, "relevant": 1, "hits": [1]}]
    >>> behind = [{"query": 0, "relevant": 1, "hits": [2]}]
    >>> difference({42: ahead, 43: ahead}, {None: behind}, "MRR@5").mean
    0.5
    """
    of = PER_QUERY[metric]
    ours: list[float] = []
    theirs: list[float] = []
    groups: list[Hashable] = []
    for seed, rows in first.items():
        other = second.get(seed, second.get(None))
        if other is None and seed is None:
            pairs = [(rows, each) for each in second.values()]
        else:
            pairs = [] if other is None else [(rows, other)]
        for mine, beside in pairs:
            values = {row["query"]: of(row) for row in beside}
            ours += [of(row) for row in mine]
            theirs += [values[row["query"]] for row in mine]
            groups += [row["query"] for row in mine] if clusters is None else clusters
    if not ours:
        raise EmptyInputError("the two methods have no training seed in common")
    return paired_bootstrap(ours, theirs, groups, level=level)


def paired_bootstrap(
    first: Sequence[float],
    second: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    level: float = LEVEL,
    resamples: int = 10_000,
    seed: int = 0,
) -> Difference:
    """Return the mean difference of two systems on the same rows, with an interval.

    Whole clusters are resampled, so the rows of one query under several seeds stay together and do
    not count as independent evidence. `clusters` has the query of each row; None makes each row its
    own cluster. `level` is the share of the draws inside the interval; equal shares lie below and
    above it.

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
