"""Score the best sheets of a large index: found by codes, words and periods, scored exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.search.matches import find_matches
from sat_retriever.index.search.pool import pool_of, with_leaders
from sat_retriever.index.search.query import Query
from sat_retriever.index.search.scores import Scores, best_rows, score_all
from sat_retriever.index.search.snapshot import Snapshot
from sat_retriever.index.store.store import Store

EXACT = 128  # sheets that are scored with their exact tokens, or twice as many as are asked for
_POOLED = 2_048  # beyond so many exact sheets, all are scored by codes first


def best_scores(
    store: Store,
    snapshot: Snapshot,
    query: Query,
    count: int,
    allowed: NDArray[np.int64] | None = None,
    known: Scores | None = None,
) -> Scores:
    """Return exact scores of the best sheets; the caller reads the store.

    A few thousand sheets, among which the best are, are scored with the codes of their tokens. The
    best of these are scored again with the tokens themselves.

    Source: the two steps are those of Jégou, Tavenard, Douze and Amsaleg (2011), "Searching in one
    billion vectors: re-rank with source coding".

    Args:
        store: Where the sheets are.
        snapshot: All of them.
        query: The query.
        count: Number of sheets to score exactly.
        allowed: Row ids of the sheets that meet the filters, ascending; None without filters.
        known: Scores of the same query without filters, which say how much of it names cover.
    """
    mask = None
    if allowed is not None:
        mask = np.zeros(len(snapshot.ids), dtype=np.bool_)
        mask[np.searchsorted(snapshot.ids, allowed)] = True
    wide = snapshot
    if count <= _POOLED:
        wide = snapshot.part(pool_of(store, snapshot, query, mask))
    matches = find_matches(store, wide, query.text, None if known is None else known.matches)
    scores = score_all(wide, query, matches)
    if allowed is not None:
        scores = scores.within(allowed)
    return scores.exact(store, np.sort(best_rows(scores, count, allowed)))


def chosen_scores(
    store: Store, snapshot: Snapshot, query: Query, rows: NDArray[np.intp], best: Scores
) -> Scores:
    """Return exact scores of chosen sheets; the caller reads the store.

    Args:
        store: Where the sheets are.
        snapshot: All of them.
        query: The query.
        rows: Positions of the chosen sheets, ascending.
        best: Scores of the best sheets, which say what counts.
    """
    every = with_leaders(snapshot, [rows])
    part = snapshot.part(every)
    matches = find_matches(store, part, query.text, best.matches)
    scores = score_all(part, replace(query, asked=best.asked), matches)
    return scores.exact(store, np.searchsorted(every, rows))
