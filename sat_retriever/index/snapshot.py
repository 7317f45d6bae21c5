"""One state of the index in memory: what every query is scored against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.store.opening import Store
from sat_retriever.index.store.reading import IdArray
from sat_retriever.period.relation import Times
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import LexicalScorer


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Tokens and word counts of all sheets, by row id.

    Attributes:
        generation: The store's generation it was taken at.
        ids: Row ids (n,) int64, ascending.
        tokens: (n, d) float32, rows of unit length.
        lengths: Words a sheet, (n,) float32.
        tie_rank: Place of each sheet in the order of sheet ids, (n,) int64.
        lexical: BM25 over the same sheets.
        times: First and last year, first and last month of each sheet's time, and whether it is
            fiscal, (n, 5) int16; zeros where its names say none.
    """

    generation: int
    ids: IdArray
    tokens: FloatArray
    lengths: FloatArray
    tie_rank: NDArray[np.int64]
    lexical: LexicalScorer
    times: Times


def take_snapshot(store: Store, width: int, previous: Snapshot | None) -> Snapshot:
    """The store's present state, reading only the tokens that `previous` lacks.

    The caller holds a read transaction, so that all parts fit together.
    """
    ordered = store.ids_by_sheet_id()
    ids = np.sort(ordered)
    tie_rank = np.empty(len(ids), dtype=np.int64)
    tie_rank[np.searchsorted(ids, ordered)] = np.arange(len(ids))
    if previous is None:
        tokens, lengths, times = store.tokens_after(-1, len(ids), width)
    else:
        # Row ids only grow, so what is new comes after all that was there.
        kept = np.isin(previous.ids, ids, assume_unique=True)
        last = int(previous.ids[-1]) if len(previous.ids) else -1
        added = store.tokens_after(last, int((ids > last).sum()), width)
        tokens = np.concatenate((previous.tokens[kept], added[0]))
        lengths = np.concatenate((previous.lengths[kept], added[1]))
        times = np.concatenate((previous.times[kept], added[2]))

    def postings(word: str) -> tuple[NDArray[np.intp], ...]:
        found = (np.searchsorted(ids, rows) for rows in store.postings(word))
        return tuple(found)

    lexical = LexicalScorer(postings, lengths)
    return Snapshot(store.generation(), ids, tokens, lengths, tie_rank, lexical, times)
