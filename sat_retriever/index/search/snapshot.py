"""Hold the current state of an index in memory, to score queries against it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sat_retriever.errors import FingerprintMismatchError
from sat_retriever.index.search.columns import Columns, LeadSheets, Periods, take_columns
from sat_retriever.index.search.frequent_words import FrequentWords, FrequentWordScorer
from sat_retriever.index.search.mapped import lacks_much, latest_mapped
from sat_retriever.index.search.tokens import Tokens
from sat_retriever.index.store.conditions import asked_in
from sat_retriever.index.store.place import Place
from sat_retriever.index.store.rows import IdArray
from sat_retriever.index.store.store import Store
from sat_retriever.records.filters import Filters
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import Bm25, LexicalScorer, counted
from sat_retriever.text.period.spans import Span

_NOTED = 4_096  # sheets whose positions are noted
_FILTERS = 8  # whose sheets are kept
_TIMES = 32  # whose sheets are kept, a byte for every sheet


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Tokens and word counts of all n sheets, by row id."""

    path: Place
    generation: int  # generation of the index at that time
    ids: IdArray  # row ids (n,) int64, ascending
    tokens: Tokens  # (n, d) float32, rows of unit length; their codes in a large index
    mean_token: FloatArray  # mean of all tokens, (d,) float32
    tie_rank: NDArray[np.int64]  # place of each sheet in the order of sheet ids, (n,) int64
    lexical: LexicalScorer  # BM25 over the names of the same sheets
    contents: LexicalScorer  # BM25 over their contents
    periods: Periods  # times of the sheets; zeros if its names state none
    workbooks: IdArray  # number of each sheet's workbook file, (n,); 0 without one
    documentation: LeadSheets  # the sheets that are documentation
    main: LeadSheets  # the sheets whose names abbreviate their workbooks'
    # Groups that see these sheets and no others; None for all sheets.
    principals: tuple[str, ...] | None
    # What all of it was made of; later states are made of it and of what changed.
    columns: Columns = field(repr=False)
    # Positions by sheet id of sheets that questions found lately.
    noted: dict[str, int] = field(default_factory=dict, repr=False)
    # Row ids that met the filters of questions lately, by filters.
    matched: dict[str, IdArray] = field(default_factory=dict)
    # True for the sheets inside the times of questions lately, (n,), by times.
    timed: dict[tuple[Span, ...], NDArray[np.bool_]] = field(default_factory=dict, repr=False)
    whole: Snapshot | None = None  # all sheets, if this is a part of them

    @property
    def has_contents(self) -> bool:
        """True if contents of any sheet are in the index."""
        return self.contents.formula.sheets > 0

    @property
    def sheets(self) -> int:
        """Number of all sheets, also of those outside a part."""
        return len((self.whole or self).ids)

    def part(self, places: NDArray[np.intp]) -> Snapshot:
        """The sheets at some ascending positions; each has the score that it has in the whole."""
        workbooks = self.workbooks.take(places)
        documentation, main = (
            LeadSheets.of(np.flatnonzero(np.isin(places, leading.rows)), workbooks)
            if leading
            else leading
            for leading in (self.documentation, self.main)
        )
        return replace(
            self,
            ids=self.ids.take(places),
            tokens=self.tokens[places],
            tie_rank=self.tie_rank.take(places),
            lexical=self.lexical.part(places),
            contents=self.contents.part(places),
            periods=self.periods.part(places),
            workbooks=workbooks,
            documentation=documentation,
            main=main,
            noted={},
            timed={},
            whole=self.whole or self,
        )

    def shows_the_same(self, other: Snapshot) -> bool:
        """True if both show the same state of the same file to the same groups."""
        return self.state == other.state

    @property
    def state(self) -> tuple[Place, int, tuple[str, ...] | None]:
        """The file, its generation, and who sees the sheets."""
        return self.path, self.generation, self.principals

    def note(self, places: Mapping[str, int]) -> None:
        """Note positions of sheets, which `places` then need not look up."""
        if len(self.noted) > _NOTED:
            self.noted.clear()
        self.noted.update(places)

    def matching(self, store: Store, filters: Filters) -> IdArray:
        """Row ids of all sheets that meet some filters, ascending."""
        key = repr(filters)
        if key not in self.matched:
            if len(self.matched) == _FILTERS:
                self.matched.clear()
            asked, others = asked_in(filters), replace(filters, period=None)
            found = store.matching(others) if others or not asked else self.ids
            if asked:
                found = np.intersect1d(self.ids[self.periods.overlapping(asked)], found)
            self.matched[key] = found
        return self.matched[key]

    def in_time(self, asked: tuple[Span, ...]) -> NDArray[np.bool_]:
        """For every sheet, (n,), True if it lies inside a requested stretch."""
        if asked not in self.timed:
            if len(self.timed) == _TIMES:
                self.timed.clear()
            self.timed[asked] = self.periods.inside(asked)
        return self.timed[asked]

    def places(self, store: Store, sheet_ids: Sequence[str]) -> dict[str, int]:
        """Positions of those sheets that exist."""
        noted = {sheet_id: self.noted.get(sheet_id) for sheet_id in sheet_ids}
        places = {sheet_id: place for sheet_id, place in noted.items() if place is not None}
        others = [sheet_id for sheet_id in noted if sheet_id not in places]
        read = {}
        for sheet_id, row_id in store.row_ids(others).items():
            place = int(np.searchsorted(self.ids, row_id))
            if place < len(self.ids) and self.ids[place] == row_id:
                read[sheet_id] = place
        self.note(read)
        return places | read


class LatestSnapshot:
    """The snapshot of a store's current state, renewed after each write; shared by threads.

    Tokens have width d, and are of an encoder with the given fingerprint.
    """

    def __init__(self, store: Store, width: int, fingerprint: str) -> None:
        self._store = store
        self._width = width
        self._fingerprint = fingerprint
        self._lock = threading.Lock()
        self._held: Snapshot | None = None

    def get(self) -> Snapshot:
        """The current snapshot, within a transaction; may raise `FingerprintMismatchError`."""
        with self._lock:
            held = self._held
            if held is None or held.generation != self._store.generation():
                check_encoder(self._store, self._fingerprint)
                # Groups may see by now sheets that are older than what they saw.
                previous = held if self._store.principals is None else None
                held = take_snapshot(self._store, self._width, previous)
                self._held = held
            return held

    def held_bytes(self) -> int:
        """Most bytes that the held tokens take."""
        held = self._held
        return 2 * len(held.ids) * held.mean_token.nbytes if held else 0


def take_snapshot(store: Store, width: int, previous: Snapshot | None) -> Snapshot:
    """Read the current state of a store; only what `previous` or a mapped state lacks is read.

    The caller holds a read transaction, so that all parts fit together.
    """
    known = None if previous is None else previous.columns
    if known is None or lacks_much(store, known):
        known = latest_mapped(store, width) or known
    if known is not None and known.generation == store.generation():
        return snapshot_of(store, known)
    return snapshot_of(store, take_columns(store, width, known))


def snapshot_of(store: Store, columns: Columns) -> Snapshot:
    """Make a snapshot of what it is made of."""
    ids, frequent = columns.ids, columns.frequent
    names, contents = columns.lengths.T
    nowhere = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32)

    def in_names(word: str, after: int = -1) -> tuple[NDArray[np.intp], FloatArray]:
        return counted([np.searchsorted(ids, rows) for rows in store.postings(word, after)])

    def in_contents(word: str, after: int = -1) -> tuple[NDArray[np.intp], FloatArray]:
        if not inside.sheets:
            return nowhere
        rows = store.content_postings(word, after)
        found = np.searchsorted(ids, rows)
        found = found[ids.take(found, mode="clip") == rows]
        return found, np.ones(len(found), dtype=np.float32)

    def scorer(
        find: Callable[..., tuple[NDArray[np.intp], FloatArray]],
        formula: Bm25,
        words: FrequentWords | None,
    ) -> LexicalScorer:
        others = LexicalScorer(find, formula)
        if frequent is None or words is None:
            return others
        until = frequent.until

        def later(word: str) -> tuple[NDArray[np.intp], FloatArray]:
            return find(word, until) if int(ids[-1]) > until else nowhere

        return FrequentWordScorer(words, later, others, hiding=store.principals is not None)

    inside = Bm25.of_contents(contents)
    return Snapshot(
        path=store.path,
        generation=columns.generation,
        ids=ids,
        tokens=columns.tokens,
        mean_token=(columns.token_sum / max(columns.tokens_summed, 1)).astype(np.float32),
        tie_rank=columns.tie_rank,
        lexical=scorer(in_names, Bm25.of_names(names), frequent and frequent.names),
        contents=scorer(in_contents, inside, frequent and frequent.contents),
        periods=columns.periods,
        workbooks=columns.workbooks,
        documentation=LeadSheets.of(columns.documentation, columns.workbooks),
        main=LeadSheets.of(columns.main, columns.workbooks),
        principals=store.principals,
        columns=columns,
    )


def check_encoder(store: Store, fingerprint: str) -> None:
    """Raise `FingerprintMismatchError` if another encoder has made a store's tokens meanwhile."""
    meta = store.meta()
    if meta["fingerprint"] != fingerprint:
        raise FingerprintMismatchError(
            f"{store.path} was encoded anew with {meta['encoder']!r} since it was opened: open it "
            "again (a server: start it again)"
        )
