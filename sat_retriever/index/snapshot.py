"""Hold the current state of an index in memory, to score queries against it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sat_retriever.errors import FingerprintMismatchError
from sat_retriever.index.contents import ContentScorer
from sat_retriever.index.leading import Leading
from sat_retriever.index.store.opening import Store
from sat_retriever.index.store.place import Place
from sat_retriever.index.store.rows import IdArray
from sat_retriever.period.relation import Times
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import LexicalScorer

_NOTED = 4_096  # sheets whose positions are noted


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Tokens and word counts of all sheets, by row id.

    Attributes:
        path: Place of the index.
        generation: Generation of the file at that time.
        ids: Row ids (n,) int64, ascending.
        tokens: (n, d) float32, rows of unit length.
        with_contents: Positions of the sheets that have contents, (m,), ascending.
        contents_tokens: Tokens of their contents, (m, d) float32, rows of unit length.
        lengths: Number of words of the names and of the contents of each sheet, (n, 2) float32.
        tie_rank: Place of each sheet in the order of sheet ids, (n,) int64.
        lexical: BM25 over the names of the same sheets.
        contents: BM25 over their contents.
        times: First and last year, first and last month of each sheet's period, and 1 if it is
            fiscal, (n, 5) int16; zeros if its names state none.
        documentation: The sheets that are documentation.
        main: The sheets whose names abbreviate their workbooks'.
        noted: Positions by sheet id of sheets that questions found lately.
    """

    path: Place
    generation: int
    ids: IdArray
    tokens: FloatArray
    with_contents: NDArray[np.intp]
    contents_tokens: FloatArray
    lengths: FloatArray
    tie_rank: NDArray[np.int64]
    lexical: LexicalScorer
    contents: ContentScorer
    times: Times
    documentation: Leading
    main: Leading
    noted: dict[str, int] = field(default_factory=dict)

    def shows_the_same(self, other: Snapshot) -> bool:
        """True if both show the same state of the same file."""
        return (self.path, self.generation) == (other.path, other.generation)

    def note(self, places: Mapping[str, int]) -> None:
        """Note positions of sheets, which `places` then need not look up."""
        if len(self.noted) > _NOTED:
            self.noted.clear()
        self.noted.update(places)

    def places(self, store: Store, sheet_ids: Sequence[str]) -> dict[str, int]:
        """Return the positions of those sheets that exist."""
        noted = {sheet_id: self.noted.get(sheet_id) for sheet_id in sheet_ids}
        places = {sheet_id: place for sheet_id, place in noted.items() if place is not None}
        others = [sheet_id for sheet_id in noted if sheet_id not in places]
        for sheet_id, row_id in store.row_ids(others).items():
            place = int(np.searchsorted(self.ids, row_id))
            if place < len(self.ids) and self.ids[place] == row_id:
                places[sheet_id] = place
        return places


class LatestSnapshot:
    """The snapshot of a store's current state, renewed after each write; shared by threads.

    Args:
        store: The store of the sheets.
        width: Token width d.
        fingerprint: Required fingerprint of the encoder of its tokens.
    """

    def __init__(self, store: Store, width: int, fingerprint: str) -> None:
        self._store = store
        self._width = width
        self._fingerprint = fingerprint
        self._lock = threading.Lock()
        self._held: Snapshot | None = None

    def get(self) -> Snapshot:
        """Return the current snapshot; the caller holds a read transaction.

        Raises:
            FingerprintMismatchError: If another encoder has made the tokens meanwhile.
        """
        with self._lock:
            held = self._held
            if held is None or held.generation != self._store.generation():
                check_encoder(self._store, self._fingerprint)
                held = take_snapshot(self._store, self._width, held)
                self._held = held
            return held


def take_snapshot(store: Store, width: int, previous: Snapshot | None) -> Snapshot:
    """Read the current state of a store; only the tokens that `previous` lacks are read.

    The caller holds a read transaction, so that all parts fit together.
    """
    ordered = store.ids_by_sheet_id()
    ids = np.sort(ordered)
    tie_rank = np.empty(len(ids), dtype=np.int64)
    tie_rank[np.searchsorted(ids, ordered)] = np.arange(len(ids))
    if previous is None:
        tokens, lengths, times = store.tokens_after(-1, len(ids), width)
    else:
        # Row ids only grow, so new rows come after all earlier ones.
        kept = np.isin(previous.ids, ids, assume_unique=True)
        last = int(previous.ids[-1]) if len(previous.ids) else -1
        added = store.tokens_after(last, int((ids > last).sum()), width)
        tokens = np.concatenate((previous.tokens[kept], added[0]))
        lengths = np.concatenate((previous.lengths[kept], added[1]))
        times = np.concatenate((previous.times[kept], added[2]))
    with_contents, contents_tokens = _contents_tokens(store, ids, width, previous)

    def postings(word: str) -> tuple[NDArray[np.intp], ...]:
        found = (np.searchsorted(ids, rows) for rows in store.postings(word))
        return tuple(found)

    def having(groups: Sequence[Sequence[str]], most: int) -> NDArray[np.intp]:
        rows = store.content_postings(groups, most)
        found = np.searchsorted(ids, rows)
        return found[ids.take(found, mode="clip") == rows] if len(ids) else found[:0]

    documentation, main = (
        np.searchsorted(ids, np.intersect1d(found, ids))
        for found in (store.documentation(), store.main_sheets())
    )
    none = not len(documentation) and not len(main)
    workbooks = np.zeros_like(ids) if none else _workbooks(store, ids)
    return Snapshot(
        path=store.path,
        generation=store.generation(),
        ids=ids,
        tokens=tokens,
        with_contents=with_contents,
        contents_tokens=contents_tokens,
        lengths=lengths,
        tie_rank=tie_rank,
        lexical=LexicalScorer(postings, lengths[:, 0]),
        contents=ContentScorer(having, lengths[:, 1]),
        times=times,
        documentation=Leading.of(documentation, workbooks),
        main=Leading.of(main, workbooks),
    )


def _contents_tokens(
    store: Store, ids: IdArray, width: int, previous: Snapshot | None
) -> tuple[NDArray[np.intp], FloatArray]:
    """Positions of the sheets with contents, ascending, and the tokens of these."""
    last = -1 if previous is None or not len(previous.ids) else int(previous.ids[-1])
    rows, tokens = store.contents_tokens_after(last, width)
    if previous is not None:
        known = previous.ids[previous.with_contents]
        kept = np.isin(known, ids, assume_unique=True)
        rows = np.concatenate((known[kept], rows))
        tokens = np.concatenate((previous.contents_tokens[kept], tokens))
    return np.searchsorted(ids, rows), tokens


def _workbooks(store: Store, ids: IdArray) -> IdArray:
    """Number of the workbook file of each row id, (n,); 0 without one."""
    found = np.zeros_like(ids)
    rows, workbooks = store.workbook_numbers()
    found[np.searchsorted(ids, rows)] = workbooks
    return found


def check_encoder(store: Store, fingerprint: str) -> None:
    """Refuse a store whose tokens another encoder has made meanwhile.

    Raises:
        FingerprintMismatchError: If the tokens were made anew.
    """
    meta = store.meta()
    if meta["fingerprint"] != fingerprint:
        raise FingerprintMismatchError(
            f"{store.path} was encoded anew with {meta['encoder']!r} since it was opened: open it "
            "again (a server: start it again)"
        )
