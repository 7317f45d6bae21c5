"""Hold the current state of an index in memory, to score queries against it."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from sat_retriever.errors import FingerprintMismatchError
from sat_retriever.index.search.common import CommonScorer, CommonWords
from sat_retriever.index.search.contents import ContentScorer
from sat_retriever.index.search.leading import Leading
from sat_retriever.index.search.mapped import Columns, is_large, read_columns, write_columns
from sat_retriever.index.search.periods import Periods
from sat_retriever.index.search.tokens import Codes, Tokens, TokenTable
from sat_retriever.index.store.conditions import asked_in
from sat_retriever.index.store.place import Place
from sat_retriever.index.store.rows import IdArray
from sat_retriever.index.store.store import Store
from sat_retriever.records.files import forget_unused
from sat_retriever.records.filters import Filters
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import LexicalScorer, counted
from sat_retriever.text.period.relation import Times, unpacked

_NOTED = 4_096  # sheets whose positions are noted
_FILTERS = 8  # whose sheets are kept
_RENEWED = 8  # one sheet in so many has come or gone: the mapped state is written anew
_READ = 8_192  # tokens that are read at once
_WAIT_S = 600.0  # time that a process waits for another one that writes the mapped state


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Tokens and word counts of all sheets, by row id.

    Attributes:
        path: Place of the index.
        generation: Generation of the file at that time.
        ids: Row ids (n,) int64, ascending.
        tokens: (n, d) float32, rows of unit length; their codes in a large index.
        mean_token: Mean of all tokens, (d,) float32.
        lengths: Number of words of the names and of the contents of each sheet, (n, 2) float32.
        tie_rank: Place of each sheet in the order of sheet ids, (n,) int64.
        lexical: BM25 over the names of the same sheets.
        contents: BM25 over their contents.
        periods: Times of the sheets; zeros if its names state none.
        workbooks: Number of each sheet's workbook file, (n,); 0 without one.
        documentation: The sheets that are documentation.
        main: The sheets whose names abbreviate their workbooks'.
        noted: Positions by sheet id of sheets that questions found lately.
        matched: Row ids that met the filters of questions lately, by filters.
        principals: Groups that see these sheets and no others; None for all sheets.
        columns: What all of it was made of; later states are made of it and of what changed.
        whole: All sheets, if this is a part of them.
    """

    path: Place
    generation: int
    ids: IdArray
    tokens: Tokens
    mean_token: FloatArray
    lengths: FloatArray
    tie_rank: NDArray[np.int64]
    lexical: LexicalScorer
    contents: ContentScorer
    periods: Periods
    workbooks: IdArray
    documentation: Leading
    main: Leading
    principals: tuple[str, ...] | None
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
            lengths=self.lengths[places],
            tie_rank=self.tie_rank[places],
            lexical=self.lexical.part(places),
            contents=self.contents.part(places),
            periods=self.periods.part(places),
            workbooks=workbooks,
            documentation=documentation,
            main=main,
            noted={},
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
            self.matched[key] = self._matching(store, filters)
        return self.matched[key]

    def _matching(self, store: Store, filters: Filters) -> IdArray:
        asked, others = asked_in(filters), replace(filters, period=None)
        if not asked:
            return store.matching(others)
        within = self.ids[self.periods.overlapping(asked)]
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
                held = take_snapshot(self._store, self._width, self._previous(held))
                self._held = held
            return held

    def _previous(self, held: Snapshot | None) -> Snapshot | None:
        """The state to go on from; none for some groups, who may see older sheets by now."""
        return held if self._store.principals is None else None

    def held_bytes(self) -> int:
        """Most bytes that the held tokens take."""
        held = self._held
        return 2 * len(held.ids) * held.mean_token.nbytes if held else 0


def take_snapshot(store: Store, width: int, previous: Snapshot | None) -> Snapshot:
    """Read the current state of a store; only what `previous` or a mapped state lacks is read.

    The caller holds a read transaction, so that all parts fit together.
    """
    known = None if previous is None else previous.columns
    if known is None or _lacks_much(store, known):
        known = _latest_mapped(store, width) or known
    if known is not None and known.generation == store.generation():
        return snapshot_of(store, known)
    return snapshot_of(store, take_columns(store, width, known))


def _latest_mapped(store: Store, width: int) -> Columns | None:
    """The latest mapped state of a store, written first where readers keep it and it lacks much.

    One process of a host writes it while others wait: each would have to read as much.
    """
    known = read_columns(store, width)
    home = store.beside if store.kept_by_readers else None
    if home is None:
        return known
    if not _is_to_renew(store, known):
        with suppress(OSError):
            os.utime(home)  # it is in use
        return known
    with suppress(OSError), FileLock(home.with_name(f"{home.name}.lock"), _WAIT_S):
        known = read_columns(store, width)
        if _is_to_renew(store, known):
            known = take_columns(store, width, known)
            write_columns(home, store, known, width)
            forget_unused(home.parent)
            known = read_columns(store, width)
    return known


def take_columns(store: Store, width: int, previous: Columns | None) -> Columns:
    """Read what a snapshot is made of; only what `previous` lacks is read of tokens."""
    ordered = store.ids_by_sheet_id()
    ids = np.sort(ordered)
    tie_rank = np.empty(len(ids), dtype=np.int64)
    tie_rank[np.searchsorted(ids, ordered)] = np.arange(len(ids))
    large = is_large(len(ids))
    known = _no_columns(width, large=large)
    if previous is not None and isinstance(previous.tokens, TokenTable) == large:
        known = previous
    # Row ids only grow, so new rows come after all earlier ones.
    kept = np.isin(known.ids, ids, assume_unique=True)
    last = int(known.ids[-1]) if len(known.ids) else -1
    later = ids[np.searchsorted(ids, last, side="right") :]
    tokens, lengths, times, sums = _read_tokens(store, last, later, width, large=large)
    documentation, main = (
        np.searchsorted(ids, np.intersect1d(np.concatenate((known.ids[before], found)), ids))
        for before, found in (
            (known.documentation, store.documentation(last)),
            (known.main, store.main_sheets(last)),
        )
    )
    leading = len(documentation) or len(main)
    return Columns(
        generation=store.generation(),
        ids=ids,
        tokens=_extended(known.tokens, kept, tokens),
        token_sum=known.token_sum + sums,
        tokens_summed=known.tokens_summed + len(later),
        lengths=np.concatenate((known.lengths[kept], lengths)),
        tie_rank=tie_rank,
        periods=known.periods.extended(kept, times),
        workbooks=_workbooks(store, ids) if leading else np.zeros_like(ids),
        documentation=documentation,
        main=main,
        common=known.common and _kept_words(*known.common, kept, known.ids),
    )


def _kept_words(
    words: CommonWords, last: int, kept: NDArray[np.bool_], ids: IdArray
) -> tuple[CommonWords, int]:
    """Common words of the sheets that stay; those after `last` are looked up."""
    return words.without(kept[: np.searchsorted(ids, last, side="right")]), last


def renew_mapped(store: Store, width: int) -> bool:
    """Write the mapped state of a large index, unless the last one lacks little; True if written.

    The caller keeps others from writing. An index works without a mapped state, so that a folder
    that cannot be written to is no error. Of an index that is no longer large it is removed.
    """
    home = None if store.kept_by_readers else store.beside
    if home is None:
        return False
    if not is_large(store.counts()["sheets"]):
        shutil.rmtree(home, ignore_errors=True)
        return False
    with store.reading():
        known = read_columns(store, width)
        if not _is_to_renew(store, known):
            return False
        columns = take_columns(store, width, known)
    try:
        write_columns(home, store, columns, width)
    except OSError:
        return False
    return True


def _is_to_renew(store: Store, known: Columns | None) -> bool:
    """True for a large index whose mapped state is missing, or lacks much."""
    return is_large(store.counts()["sheets"]) and (known is None or _lacks_much(store, known))


def _lacks_much(store: Store, known: Columns) -> bool:
    """True if many sheets of a large index came or went since a state was read."""
    sheets = store.counts()["sheets"]
    if not is_large(sheets):
        return False
    later = store.count_after(int(known.ids[-1]) if len(known.ids) else -1)
    gone = len(known.ids) + later - sheets
    return not isinstance(known.tokens, TokenTable) or (later + gone) * _RENEWED > sheets


def _no_columns(width: int, *, large: bool) -> Columns:
    """The columns of an index without sheets."""
    none, tokens = np.empty(0, dtype=np.int64), np.empty((0, width), dtype=np.float32)
    found: Tokens = TokenTable.in_one_cell(Codes.of(tokens)) if large else tokens
    lengths, sums = np.empty((0, 2), dtype=np.float32), np.zeros(width)
    return Columns(
        0, none, found, sums, 0, lengths, none, Periods.of(unpacked(none)), none, none, none,
    )  # fmt: skip


def _parts(last: int, later: IdArray) -> Iterator[tuple[int, int, int]]:
    """Stretches of new sheets: the row id before each, its last one, and their number."""
    for start in range(0, len(later), _READ):
        end = min(start + _READ, len(later))
        yield (int(later[start - 1]) if start else last), int(later[end - 1]), end - start


def _read_tokens(
    store: Store, last: int, later: IdArray, width: int, *, large: bool
) -> tuple[FloatArray | Codes, FloatArray, Times, NDArray[np.float64]]:
    """Tokens or their codes, word counts and times of new sheets, and the sum of the tokens."""
    tokens: list[FloatArray] = [np.empty((0, width), dtype=np.float32)]
    codes = [Codes.of(tokens[0])]
    lengths, times = [np.empty((0, 2), dtype=np.float32)], [unpacked(later[:0])]
    sums = np.zeros(width)
    for after, until, count in _parts(last, later):
        read, words, when = store.tokens_after(after, until, count, width)
        codes.append(Codes.of(read)) if large else tokens.append(read)
        lengths.append(words)
        times.append(when)
        sums += read.sum(axis=0, dtype=np.float64)
    found = Codes.joined(codes) if large else np.concatenate(tokens)
    return found, np.concatenate(lengths), np.concatenate(times), sums


def _extended(known: Tokens, kept: NDArray[np.bool_], added: FloatArray | Codes) -> Tokens:
    """Tokens of the sheets that stay, and of those that came later."""
    if isinstance(known, TokenTable):
        assert isinstance(added, Codes)
        return known.changed(kept, added) if len(known) else TokenTable.in_one_cell(added)
    assert not isinstance(added, Codes)
    return np.concatenate((known[kept], added)) if len(known) else added


def snapshot_of(store: Store, columns: Columns) -> Snapshot:
    """Make a snapshot of what it is made of."""
    ids, lengths = columns.ids, columns.lengths

    def postings(word: str, after: int = -1) -> tuple[NDArray[np.intp], ...]:
        found = (np.searchsorted(ids, rows) for rows in store.postings(word, after))
        return tuple(found)

    def having(groups: Sequence[Sequence[str]], most: int) -> NDArray[np.intp]:
        rows = store.content_postings(groups, most)
        found = np.searchsorted(ids, rows)
        return found[ids.take(found, mode="clip") == rows] if len(ids) else found[:0]

    lexical = LexicalScorer(postings, lengths[:, 0])
    if columns.common is not None:
        words, last = columns.common

        def later(word: str) -> tuple[NDArray[np.intp], FloatArray]:
            if int(ids[-1]) <= last:
                return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32)
            return counted(postings(word, last), len(ids))

        lexical = CommonScorer(words, later, lengths[:, 0], lexical)
    return Snapshot(
        path=store.path,
        generation=columns.generation,
        ids=ids,
        tokens=columns.tokens,
        mean_token=(columns.token_sum / max(columns.tokens_summed, 1)).astype(np.float32),
        lengths=lengths,
        tie_rank=columns.tie_rank,
        lexical=lexical,
        contents=ContentScorer(having, lengths[:, 1]),
        periods=columns.periods,
        workbooks=columns.workbooks,
        documentation=Leading.of(columns.documentation, columns.workbooks),
        main=Leading.of(columns.main, columns.workbooks),
        principals=store.principals,
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
