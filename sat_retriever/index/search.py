"""Queries against the present state of a store: the best sheets, or named ones, with scores."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from sat_retriever.errors import FingerprintMismatchError
from sat_retriever.index.scoring import Scores, best_rows, score_sheets
from sat_retriever.index.snapshot import Snapshot, take_snapshot
from sat_retriever.index.store.opening import Store
from sat_retriever.period.relation import elsewhere
from sat_retriever.period.spans import Span
from sat_retriever.records.candidates import UNDATED, Candidate
from sat_retriever.records.filters import Filters
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import WordShares, query_words

RowIds = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Question:
    """A query ready to be scored.

    Attributes:
        text: Its words.
        token: Its token, (d,) float32, unit length.
        dense_weight: Share of the cosine in the score, in [0, 1].
        times: The times that it names and that count.
        today: The day that "last year" in it counts from.
    """

    text: str
    token: FloatArray
    dense_weight: float
    times: tuple[Span, ...] = ()
    today: date = UNDATED


class CandidateSearch:
    """Scores every sheet of a store for a question; safe to share between threads.

    Args:
        store: Where the sheets are.
        width: Token width d.
        fingerprint: That of the encoder of its tokens; queries are encoded by no other.

    Attributes:
        asked: The last question that was encoded, if any.
    """

    def __init__(self, store: Store, width: int, fingerprint: str) -> None:
        self._store = store
        self._width = width
        self._fingerprint = fingerprint
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self.asked: Question | None = None
        # Scores of the last question: reranking asks again for the sheets that links lead to.
        self._last: tuple[Question, Snapshot, Scores] | None = None

    def warm_up(self) -> None:
        """Load the tokens now, so that the first question is quick."""
        with self._store.reading():
            self._current()

    def best(self, question: Question, top_k: int, filters: Filters | None) -> list[Candidate]:
        """The best sheets, best first; equal scores in the order of sheet ids."""
        snapshot, scores, allowed = self._scored(question, filters)
        rows = best_rows(snapshot, scores.fused, top_k, allowed)
        row_ids: list[int] = snapshot.ids[rows].tolist()
        names = self._store.sheet_ids(row_ids)
        # A writer may have removed a sheet since the snapshot; then it has no name.
        living = [(row, names[i]) for row, i in zip(rows, row_ids, strict=True) if i in names]
        return [
            scores.candidate(name, rank, row, question.today)
            for rank, (row, name) in enumerate(living, start=1)
        ]

    def named(
        self, question: Question, sheet_ids: Sequence[str], filters: Filters | None
    ) -> list[Candidate]:
        """The named sheets that are there and meet the filters, best first."""
        snapshot, scores, allowed = self._scored(question, filters)
        places = self._places(snapshot, sheet_ids)
        if allowed is not None:
            kept = np.isin(snapshot.ids[list(places.values())], allowed)
            places = {each: places[each] for each, keep in zip(places, kept, strict=True) if keep}
        order = sorted(places, key=lambda sheet_id: (-scores.fused[places[sheet_id]], sheet_id))
        return [
            scores.candidate(sheet_id, rank, places[sheet_id], question.today)
            for rank, sheet_id in enumerate(order, start=1)
        ]

    def elsewhere(self, asked: Sequence[Span], filters: Filters | None) -> bool:
        """True if every dated sheet within the filters lies outside the requested periods."""
        with self._store.reading():
            snapshot = self._current()
            allowed = self._store.matching(filters) if filters else snapshot.ids
        kept = np.isin(snapshot.ids, allowed, assume_unique=True)
        return elsewhere(snapshot.times[kept], asked)

    def tokens(self, sheet_ids: Sequence[str]) -> dict[str, FloatArray]:
        """Token (d,) of each of the sheets that is there."""
        with self._store.reading():
            snapshot = self._current()
            return {
                sheet_id: snapshot.tokens[place]
                for sheet_id, place in self._places(snapshot, sheet_ids).items()
            }

    def word_shares(self, question: Question, sheet_ids: Sequence[str]) -> WordShares:
        """What each word of a question gives named sheets, columns in their order.

        A sheet that is not there gets nothing.
        """
        with self._store.reading():
            snapshot = self._current()
            places = self._places(snapshot, sheet_ids)
            at = np.array([places.get(sheet_id, -1) for sheet_id in sheet_ids], dtype=np.intp)
            return snapshot.lexical.by_word(query_words(question.text), at)

    def _places(self, snapshot: Snapshot, sheet_ids: Sequence[str]) -> dict[str, int]:
        """Position in the snapshot of each sheet that is there."""
        places = {}
        for sheet_id, row_id in self._store.row_ids(sheet_ids).items():
            place = int(np.searchsorted(snapshot.ids, row_id))
            if place < len(snapshot.ids) and snapshot.ids[place] == row_id:
                places[sheet_id] = place
        return places

    def _scored(
        self, question: Question, filters: Filters | None
    ) -> tuple[Snapshot, Scores, RowIds | None]:
        """Scores of all sheets, and the row ids that meet the filters (None for all)."""
        with self._store.reading():
            snapshot = self._current()
            allowed = self._store.matching(filters) if filters else None
            last = self._last
            if last is not None and last[0] is question and last[1] is snapshot:
                return snapshot, _allowed(snapshot, last[2], question, allowed), allowed
            lexical = snapshot.lexical.scores(query_words(question.text))
        # Arithmetic on a snapshot needs no lock: parallel queries run side by side.
        weight, times = question.dense_weight, question.times
        scores = score_sheets(snapshot, question.token, lexical, weight, times)
        self._last = (question, snapshot, scores)
        return snapshot, _allowed(snapshot, scores, question, allowed), allowed

    def _current(self) -> Snapshot:
        """The snapshot of the store's present generation; within a read transaction."""
        with self._lock:
            held = self._snapshot
            if held is None or held.generation != self._store.generation():
                check_encoder(self._store, self._fingerprint)
                held = take_snapshot(self._store, self._width, held)
                self._snapshot = held
            return held


def _allowed(
    snapshot: Snapshot, scores: Scores, question: Question, allowed: RowIds | None
) -> Scores:
    """The scores, if times count among the sheets that meet the filters; else without times."""
    if allowed is None or not question.times:
        return scores
    rows = np.flatnonzero(np.isin(snapshot.ids, allowed, assume_unique=True))
    return scores.within(rows, question.dense_weight)


def check_encoder(store: Store, fingerprint: str) -> None:
    """Refuse a store whose tokens are not those of an encoder any more.

    Raises:
        FingerprintMismatchError: If they were made anew by another encoder.
    """
    meta = store.meta()
    if meta["fingerprint"] != fingerprint:
        raise FingerprintMismatchError(
            f"{store.path} was encoded anew with {meta['encoder']!r} since it was opened: open it "
            "again (a server: start it again)"
        )
