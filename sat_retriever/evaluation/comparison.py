"""How far one method is ahead of another, by the rows of both."""

from __future__ import annotations

from collections.abc import Mapping

from sat_retriever.errors import EmptyInputError
from sat_retriever.evaluation.rows import PER_QUERY, Rows
from sat_retriever.metrics import Difference, paired_bootstrap

BySeed = Mapping[int | None, Rows]  # rows of each training seed; None where nothing was trained


def difference(first: BySeed, second: BySeed, metric: str = "NDCG@5") -> Difference:
    """Mean of first minus second with its 95 % interval; the seeds of a question are one cluster.

    A side without a seed stands beside each seed of the other; seeds that only one side has
    are left out.

    Source: paired bootstrap over query clusters, 10,000 resamples, as the paper's differences.

    Args:
        first: Rows of one method, by training seed.
        second: Rows of the other, over the same questions.
        metric: One of `PER_QUERY`.

    Raises:
        EmptyInputError: If they have no seed in common.

    >>> ahead = [{"query": 0, "relevant": 1, "hits": [1]}]
    >>> behind = [{"query": 0, "relevant": 1, "hits": [2]}]
    >>> difference({42: ahead, 43: ahead}, {None: behind}, "MRR@5").mean
    0.5
    """
    of = PER_QUERY[metric]
    ours: list[float] = []
    theirs: list[float] = []
    queries: list[int] = []
    for seed, rows in first.items():
        other = second.get(seed, second.get(None))
        if other is None and seed is None:
            pairs = [(rows, each) for each in second.values()]
        else:
            pairs = [] if other is None else [(rows, other)]
        for mine, beside in pairs:
            values = {row["query"]: of(row) for row in beside}
            for row in mine:
                ours.append(of(row))
                theirs.append(values[row["query"]])
                queries.append(row["query"])
    if not ours:
        raise EmptyInputError("the two methods have no training seed in common")
    return paired_bootstrap(ours, theirs, queries)
