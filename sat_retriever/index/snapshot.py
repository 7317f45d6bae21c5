"""Hold the current state of an index in memory, to score queries against it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sat_retriever.errors import FingerprintMismatchError
from sat_retriever.index.contents import ContentScorer
from sat_retriever.index.leading import Leading
from sat_retriever.index.mapped import Columns, folder_of, is_large, read_columns, write_columns
from sat_retriever.index.periods import Periods
from sat_retriever.index.store.conditions import asked_in
from sat_retriever.index.store.opening import Store
from sat_retriever.index.store.reading import IdArray
from sat_retriever.index.tokens import Tokens, TokenTable
from sat_retriever.period.relation import Times, unpacked
from sat_retriever.records.filters import Filters
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import LexicalScorer, counted

_NOTED = 4_096  # sheets whose positions are noted
_FILTERS = 8  # whose sheets are kept
_RENEWED = 8  # one sheet in so many has come or gone: the mapped state is written anew
_MEAN_OF = 65_536  # mapped tokens of which a mean is taken


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Tokens and word counts of all sheets, by row id.

    Attributes:
        path: The index file.
        generation: Generation of the file at that time.
        ids: Row ids (n,) int64, ascending.
        tokens: (n, d) float32, rows of unit length.
        mean_token: Mean of all tokens, (d,) float32.
        with_contents: Positions of the sheets that have contents, (m,), ascending.
        contents_tokens: Tokens of their contents, (m, d) float32, rows of unit length.
        lengths: Number of words of the names and of the contents of each sheet, (n, 2) float32.
        tie_rank: Place of each sheet in the order of sheet ids, (n,) int64.
        lexical: BM25 over the names of the same sheets.
        contents: BM25 over their contents.
        times: First and last year, first and last month of each sheet's period, and 1 if it is
            fiscal, (n, 5) int16; zeros if its names state none.
        workbooks: Number of each sheet's workbook file, (n,); 0 without one.
        documentation: The sheets that are documentation.
        main: The sheets whose names abbreviate their workbooks'.
        noted: Positions by sheet id of sheets that questions found lately.
        matched: Row ids that met the filters of questions lately, by filters.
        columns: What all of it was made of; later states are made of it and of what changed.
        whole: All sheets, if this is a part of them.
    """

    path: Path
    generation: int
    ids: IdArray
    tokens: Tokens
    mean_token: FloatArray
    with_contents: NDArray[np.intp]
    contents_tokens: Tokens
    lengths: FloatArray
    tie_rank: NDArray[np.int64]
    lexical: LexicalScorer
    contents: ContentScorer
    times: Times
    workbooks: IdArray
    documentation: Leading
    main: Leading
    columns: Columns = field(repr=False)
    noted: dict[str, int] = field(default_factory=dict, repr=False)
    matched: dict[str, IdArray] = field(default_factory=dict)
    whole: Snapshot | None = None

    @property
    def sheets(self) -> int:
        """Number of all sheets, also of those outside a part."""
        return len((self.whole or self).ids)

    def part(self, places: NDArray[np.intp]) -> Snapshot:
        """Some of the sheets, to score these alone; each has the score that it has in the whole.

        Args:
            places: Their positions, ascending.
        """
        at = np.searchsorted(self.with_contents, places)
        near = self.with_contents.take(at, mode="clip") if len(self.with_contents) else at
        with_contents = np.flatnonzero(near == places) if len(self.with_contents) else at[:0]
        workbooks = self.workbooks[places]
        documentation, main = (
            Leading.of(np.flatnonzero(np.isin(places, leading.rows)), workbooks)
            if leading
            else leading
            for leading in (self.documentation, self.main)
        )
        return replace(
            self,
            ids=self.ids[places],
            tokens=self.tokens[places],
            with_contents=with_contents,
            contents_tokens=self.contents_tokens[at[with_contents]],
            lengths=self.lengths[places],
            tie_rank=self.tie_rank[places],
            lexical=self.lexical.part(places),
            contents=self.contents.part(places),
            times=self.times[places],
            workbooks=workbooks,
            documentation=documentation,
            main=main,
            noted={},
            whole=self,
        )

    def shows_the_same(self, other: Snapshot) -> bool:
        """True if both show the same state of the same file."""
        return (self.path, self.generation) == (other.path, other.generation)

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
            self.matched[key] = self._matching(store, filters)
        return self.matched[key]

    def _matching(self, store: Store, filters: Filters) -> IdArray:
        asked, others = asked_in(filters), replace(filters, period=None)
        if not asked:
            return store.matching(others)
        within = self.ids[self.columns.periods.overlapping(asked)]
        return np.intersect1d(within, store.matching(others)) if others else within

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
    """Read the current state of a store; only what `previous` or a mapped state lacks is read.

    The caller holds a read transaction, so that all parts fit together.
    """
    known = read_columns(store, width) if previous is None else previous.columns
    if known is not None and known.generation == store.generation():
        return snapshot_of(store, known)
    return snapshot_of(store, take_columns(store, width, known))


def take_columns(store: Store, width: int, previous: Columns | None) -> Columns:
    """Read what a snapshot is made of; only what `previous` lacks is read of tokens."""
    ordered = store.ids_by_sheet_id()
    ids = np.sort(ordered)
    tie_rank = np.empty(len(ids), dtype=np.int64)
    tie_rank[np.searchsorted(ids, ordered)] = np.arange(len(ids))
    known = _no_columns(width) if previous is None else previous
    # Row ids only grow, so new rows come after all earlier ones.
    kept = np.isin(known.ids, ids, assume_unique=True)
    last = int(known.ids[-1]) if len(known.ids) else -1
    tokens, lengths, times = store.tokens_after(last, int((ids > last).sum()), width)
    rows, contents_tokens = store.contents_tokens_after(last, width)
    with_contents = known.ids[known.with_contents]
    kept_contents = np.isin(with_contents, ids, assume_unique=True)
    documentation, main = (
        np.searchsorted(ids, np.intersect1d(np.concatenate((known.ids[before], found)), ids))
        for before, found in (
            (known.documentation, store.documentation(last)),
            (known.main, store.main_sheets(last)),
        )
    )
    leading = len(documentation) or len(main)
    every = _extended(known.tokens, kept, tokens)
    times = np.concatenate((known.times[kept], times))
    moved = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
    return Columns(
        generation=store.generation(),
        ids=ids,
        tokens=every,
        mean_token=_mean(every, width),
        with_contents=np.searchsorted(ids, np.concatenate((with_contents[kept_contents], rows))),
        contents_tokens=_extended(known.contents_tokens, kept_contents, contents_tokens),
        lengths=np.concatenate((known.lengths[kept], lengths)),
        tie_rank=tie_rank,
        times=times,
        periods=Periods.of(times),
        workbooks=_workbooks(store, ids) if leading else np.zeros_like(ids),
        documentation=documentation,
        main=main,
        common=known.common and (known.common[0].moving(moved), known.common[1]),
    )


def renew_mapped(store: Store, width: int) -> bool:
    """Write the mapped state of a large index, unless the last one lacks little; True if written.

    The caller keeps others from writing. An index works without a mapped state, so that a folder
    that cannot be written to is no error. Of an index that is no longer large it is removed.
    """
    sheets = store.counts()["sheets"]
    if not is_large(sheets):
        shutil.rmtree(folder_of(store.path), ignore_errors=True)
        return False
    with store.reading():
        known = read_columns(store, width)
        if known is not None:
            later = store.count_after(int(known.ids[-1]))
            if (later + len(known.ids) + later - sheets) * _RENEWED <= sheets:
                return False
        columns = take_columns(store, width, known)
    try:
        write_columns(store, columns, width)
    except OSError:
        return False
    return True


def _no_columns(width: int) -> Columns:
    """The columns of an index without sheets."""
    none, tokens = np.empty(0, dtype=np.int64), np.empty((0, width), dtype=np.float32)
    lengths, times = np.empty((0, 2), dtype=np.float32), unpacked(none)
    return Columns(
        0, none, tokens, np.zeros(width, dtype=np.float32), none, tokens, lengths, none, times,
        Periods.of(times), none, none, none,
    )  # fmt: skip


def _extended(known: Tokens, kept: NDArray[np.bool_], added: FloatArray) -> Tokens:
    """Tokens of the sheets that stay, and of those that came later."""
    if isinstance(known, TokenTable):
        return known.changed(kept, added)
    return np.concatenate((known[kept], added)) if len(known) else added


def _mean(tokens: Tokens, width: int) -> FloatArray:
    """Mean of tokens, (d,); of many mapped ones from a sample."""
    if not len(tokens):
        return np.zeros(width, dtype=np.float32)
    if isinstance(tokens, TokenTable):
        tokens = tokens[np.linspace(0, len(tokens) - 1, _MEAN_OF).astype(np.intp)]
    mean: FloatArray = tokens.mean(axis=0)
    return mean


def snapshot_of(store: Store, columns: Columns) -> Snapshot:
    """Make a snapshot of what it is made of."""
    ids, lengths = columns.ids, columns.lengths

    def postings(word: str) -> tuple[NDArray[np.intp], ...]:
        found = (np.searchsorted(ids, rows) for rows in store.postings(word))
        return tuple(found)

    def common(word: str) -> tuple[NDArray[np.intp], FloatArray] | None:
        if columns.common is None:
            return None
        words, last = columns.common
        found = words.find(word, len(ids))
        if found is None or int(ids[-1]) == last:
            return found
        later = [np.searchsorted(ids, rows) for rows in store.postings(word, last)]
        rows, counts = counted(later, len(ids))
        return np.concatenate((found[0], rows)), np.concatenate((found[1], counts))

    def having(groups: Sequence[Sequence[str]], most: int) -> NDArray[np.intp]:
        rows = store.content_postings(groups, most)
        found = np.searchsorted(ids, rows)
        return found[ids.take(found, mode="clip") == rows] if len(ids) else found[:0]

    return Snapshot(
        path=store.path,
        generation=columns.generation,
        ids=ids,
        tokens=columns.tokens,
        mean_token=columns.mean_token,
        with_contents=columns.with_contents,
        contents_tokens=columns.contents_tokens,
        lengths=lengths,
        tie_rank=columns.tie_rank,
        lexical=LexicalScorer(postings, lengths[:, 0], common=common),
        contents=ContentScorer(having, lengths[:, 1]),
        times=columns.times,
        workbooks=columns.workbooks,
        documentation=Leading.of(columns.documentation, columns.workbooks),
        main=Leading.of(columns.main, columns.workbooks),
        columns=columns,
    )


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
