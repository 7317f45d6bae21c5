"""Columns of a snapshot, one value a sheet: tokens, word counts, times, lead sheets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sat_retriever.index.search.frequent_words import FrequentWords
from sat_retriever.index.search.tokens import Codes, Tokens, TokenTable
from sat_retriever.index.store.rows import IdArray
from sat_retriever.index.store.store import Store
from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.period.relation import INSIDE, Times, overlapping, relation, unpacked
from sat_retriever.text.period.spans import Span

ALL = 20_000  # sheets up to which every one is scored
Rows = NDArray[np.intp]
_READ = 8_192  # tokens that are read at once


class Frequent(NamedTuple):
    """Frequent words of the sheets up to a row id, in names and in contents."""

    names: FrequentWords
    contents: FrequentWords
    until: int


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Columns that a snapshot of n sheets is made of; see `Snapshot`."""

    generation: int
    ids: IdArray
    tokens: Tokens
    token_sum: NDArray[np.float64]  # sum of all tokens that were ever read, (d,) float64
    tokens_summed: int  # their number
    # Number of words of the names and of the contents of each sheet, (n, 2) float32.
    lengths: FloatArray
    tie_rank: NDArray[np.int64]
    periods: Periods
    workbooks: IdArray
    documentation: NDArray[np.intp]  # positions of documentation, ascending
    main: NDArray[np.intp]  # positions of main sheets, ascending
    frequent: Frequent | None = None  # None if all words are looked up in the index


def is_large(sheets: int) -> bool:
    """True for more sheets than are scored for every question."""
    return sheets > ALL


@dataclass(frozen=True, slots=True, eq=False)
class Periods:
    """Times of n sheets: each different one once, and which of them every sheet has."""

    kinds: Times  # the different times, (u, 5) int16, as in `Times`
    codes: NDArray[np.int32]  # the place of each sheet's time among them, (n,) int32

    @classmethod
    def of(cls, times: Times) -> Periods:
        """The different ones of some times, (n, 5).

        >>> found = Periods.of(np.int16([[2024, 2024, 1, 12, 0], [0] * 5, [2024, 2024, 1, 12, 0]]))
        >>> len(found.kinds), found.codes.tolist()
        (2, [1, 0, 1])
        """
        packed = np.zeros(len(times), dtype=np.int64)
        for column in times.T:
            packed = (
                packed * 10_000 + column if column.max(initial=0) > 12 else packed * 13 + column
            )
        _, first, codes = np.unique(packed, return_index=True, return_inverse=True)
        return cls(times[first], codes.astype(np.int32))

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, rows: NDArray[np.intp]) -> Periods:
        """Times of some of the sheets; the different times stay those of all."""
        return Periods(self.kinds, self.codes.take(rows))

    def of_some(self, rows: NDArray[Any]) -> Times:
        """The different times of sheets, (u, 5), by positions or by True for each of them."""
        found: Times = self.kinds[np.unique(self.codes[rows])]
        return found

    def extended(self, kept: NDArray[np.bool_], added: Times) -> Periods:
        """Times of the sheets to keep, a mask (n,), and of others (a, 5) after them."""
        if kept.all() and not len(added):
            return self
        return Periods.of(np.concatenate((self.kinds[self.codes[kept]], added)))

    def lying(self, asked: Sequence[Span]) -> NDArray[np.int8]:
        """For each different time, (u,), what `relation` gives of requested stretches."""
        return relation(self.kinds, asked)

    def inside(self, asked: Sequence[Span]) -> NDArray[np.bool_]:
        """For every sheet, (n,), True if it lies inside a requested stretch."""
        found: NDArray[np.bool_] = (self.lying(asked) == INSIDE).take(self.codes)
        return found

    def overlapping(self, asked: Sequence[Span]) -> NDArray[np.bool_]:
        """For every sheet, (n,), what `relation.overlapping` gives of requested stretches."""
        return overlapping(self.kinds, asked)[self.codes]


@dataclass(frozen=True, slots=True, eq=False)
class _ByBook:
    """Some sheets and the book of each, a number from 0 on."""

    rows: Rows  # their positions, ascending
    books: Rows
    order: Rows  # their places in the order of books
    starts: Rows  # where each book begins in `order`, and the end

    @classmethod
    def of(cls, rows: Rows, books: Rows, count: int) -> _ByBook:
        order = np.argsort(books, kind="stable")
        return cls(rows, books, order, np.searchsorted(books[order], np.arange(count + 1)))

    def books_of(self, rows: Rows) -> Rows:
        """Books of those of some positions that are among the sheets, ascending."""
        if not len(self.rows):
            return rows[:0]
        at = np.searchsorted(self.rows, rows).clip(max=len(self.rows) - 1)
        return np.unique(self.books[at[self.rows[at] == rows]])

    def of_books(self, books: Rows) -> Rows:
        """Positions of the sheets of some books, ascending."""
        starts = self.starts[books]
        counts = self.starts[books + 1] - starts
        before = np.cumsum(counts) - counts
        places = np.repeat(starts - before, counts) + np.arange(counts.sum())
        return np.sort(self.rows[self.order[places]])


@dataclass(frozen=True, slots=True, eq=False)
class LeadSheets:
    """Sheets that count for the others of their workbooks: documentation, or main sheets."""

    rows: Rows  # positions of the lead sheets, ascending
    _own: _ByBook  # those of `rows` that have a workbook file
    _others: _ByBook  # the other sheets of their workbooks

    @classmethod
    def of(cls, rows: Rows, workbooks: NDArray[np.int64]) -> LeadSheets:
        """Find the others of some ascending rows, by the workbook number of each sheet, (n,)."""
        own = rows[workbooks[rows] > 0]
        books, book_of_own = np.unique(workbooks[own], return_inverse=True)
        among = np.flatnonzero(np.isin(workbooks, books)) if len(books) else rows[:0]
        others = np.setdiff1d(among, rows, assume_unique=True)
        place = np.searchsorted(books, workbooks[others])
        return cls(
            rows,
            _ByBook.of(own, book_of_own, len(books)),
            _ByBook.of(others, place, len(books)),
        )

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    @property
    def others(self) -> Rows:
        """Positions of the other sheets of their workbooks, ascending."""
        return self._others.rows

    def leaders_of(self, rows: Rows) -> Rows:
        """Lead sheets of the workbooks of those of some sheets that are among the others."""
        return self._own.of_books(self._others.books_of(rows))

    def led_by(self, rows: Rows) -> Rows:
        """The others of the workbooks of those of some sheets that lead."""
        return self._others.of_books(self._own.books_of(rows))

    def best(self, scores: FloatArray) -> FloatArray:
        """The best score of its workbook's lead sheets for each of the others, (len(others),)."""
        best = np.zeros(len(self._own.starts) - 1, dtype=np.float32)
        np.maximum.at(best, self._own.books, scores[self._own.rows])
        found: FloatArray = best[self._others.books]
        return found


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
    leads = len(documentation) or len(main)
    frequent = known.frequent
    if frequent is not None:  # of the sheets that came since, words are looked up
        names, contents, until = frequent
        stay = kept[: np.searchsorted(known.ids, until, side="right")]
        frequent = Frequent(names.without(stay), contents.without(stay), until)
    return Columns(
        generation=store.generation(),
        ids=ids,
        tokens=_extended(known.tokens, kept, tokens),
        token_sum=known.token_sum + sums,
        tokens_summed=known.tokens_summed + len(later),
        lengths=np.concatenate((known.lengths[kept], lengths)),
        tie_rank=tie_rank,
        periods=known.periods.extended(kept, times),
        workbooks=_workbooks(store, ids) if leads else np.zeros_like(ids),
        documentation=documentation,
        main=main,
        frequent=frequent,
    )


def _no_columns(width: int, *, large: bool) -> Columns:
    none, tokens = np.empty(0, dtype=np.int64), np.empty((0, width), dtype=np.float32)
    found: Tokens = TokenTable.in_one_cell(Codes.of(tokens)) if large else tokens
    lengths, sums = np.empty((0, 2), dtype=np.float32), np.zeros(width)
    return Columns(
        0, none, found, sums, 0, lengths, none, Periods.of(unpacked(none)), none, none, none,
    )  # fmt: skip


def _read_tokens(
    store: Store, last: int, later: IdArray, width: int, *, large: bool
) -> tuple[FloatArray | Codes, FloatArray, Times, NDArray[np.float64]]:
    """Tokens or their codes, word counts and times of new sheets, and the sum of the tokens."""
    tokens: list[FloatArray] = [np.empty((0, width), dtype=np.float32)]
    codes = [Codes.of(tokens[0])]
    lengths, times = [np.empty((0, 2), dtype=np.float32)], [unpacked(later[:0])]
    sums = np.zeros(width)
    for start in range(0, len(later), _READ):
        part = later[start : start + _READ].tolist()
        read, words, when = store.tokens_after(last, part[-1], len(part), width)
        last = part[-1]
        if large:  # summed by their codes, as those of some sheets of a mapped state are
            codes.append(Codes.of(read))
            sums += codes[-1].floats().sum(axis=0, dtype=np.float64)
        else:
            tokens.append(read)
            sums += read.sum(axis=0, dtype=np.float64)
        lengths.append(words)
        times.append(when)
    found = Codes.joined(codes) if large else np.concatenate(tokens)
    return found, np.concatenate(lengths), np.concatenate(times), sums


def _extended(known: Tokens, kept: NDArray[np.bool_], added: FloatArray | Codes) -> Tokens:
    if isinstance(known, TokenTable):
        assert isinstance(added, Codes)
        return known.changed(kept, added) if len(known) else TokenTable.in_one_cell(added)
    assert not isinstance(added, Codes)
    return np.concatenate((known[kept], added)) if len(known) else added


def _workbooks(store: Store, ids: IdArray) -> IdArray:
    """Number of the workbook file of each row id, (n,); 0 without one."""
    found = np.zeros_like(ids)
    rows, workbooks = store.workbook_numbers()
    found[np.searchsorted(ids, rows)] = workbooks
    return found
