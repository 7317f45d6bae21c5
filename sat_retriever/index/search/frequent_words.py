"""Words that very many names have, kept beside the index file: their sheets and fields.

A word of a hundred thousand sheets is never looked up whole. To find the sheets worth scoring,
its impacts are added up, one byte a sheet. To score these, its fields are read for them alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import (
    FIELD_WEIGHTS,
    Impacts,
    LexicalScorer,
    WordScores,
    bm25,
    byte_weights,
    limit_of,
    mean_of,
)

Rows = NDArray[np.intp]
Bytes = NDArray[np.uint8]
Later = Callable[[str], tuple[Rows, FloatArray]]
"""Positions of the sheets with a word that came later, and its weighted count in each."""

DENSE = 16  # a word that one sheet in so many has is kept as a byte for every sheet
COUNTS = np.array(
    [
        reduce(
            lambda total, field: total + np.float32(FIELD_WEIGHTS[field] * (marks >> field & 1)),
            range(len(FIELD_WEIGHTS)),
            np.float32(0),
        )
        for marks in range(1 << len(FIELD_WEIGHTS))
    ],
    dtype=np.float32,
)  # weighted count of a word, by the fields that have it
_MARKED = np.uint8(len(COUNTS) - 1)


class _Entry(NamedTuple):
    """One frequent word among the present sheets: those that have it, and those that came later."""

    number: int
    sheets: int
    later: Rows
    counts: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FrequentWords:
    """Postings of w frequent words in n sheets, as they were when they were written."""

    numbers: Mapping[str, int]  # number of each word
    # Row of each word in `dense_fields`, (w,) int64; -1 for a word that has postings.
    dense: NDArray[np.int64]
    dense_fields: Bytes  # which fields of each sheet have a word, one bit a field, (p, n) uint8
    # Score of each sheet, as a share of 255 of the most possible, (p, n) uint8.
    dense_impacts: Bytes
    starts: NDArray[np.int64]  # where the postings of each word begin, and the end, (w + 1,) int64
    rows: NDArray[np.uint32]  # positions of the sheets with each other word, ascending, uint32
    fields: Bytes  # as above, one a posting, uint8
    impacts: Bytes  # as above, one a posting, uint8
    # Positions then of the sheets that are still there, in order; None if all are.
    kept: NDArray[np.intp] | None = None

    def check(self) -> None:
        """Refuse postings that do not fit together, by `ValueError`."""
        words, sheets = len(self.numbers), self.dense_fields.shape[1]
        whole = (
            len(self.dense) == words == len(self.starts) - 1
            and self.dense_fields.shape == self.dense_impacts.shape
            and bool((self.dense < len(self.dense_fields)).all())
            and self.starts[0] == 0
            and self.starts[-1] == len(self.rows) == len(self.fields) == len(self.impacts)
            and bool((np.diff(self.starts) >= 0).all())
            and int(self.rows.max(initial=0)) < max(sheets, 1)
        )
        if not whole:
            raise ValueError("the postings of common words do not fit together")

    def without(self, kept: NDArray[np.bool_]) -> FrequentWords:
        """The same words without the present sheets that a mask leaves out."""
        if kept.all():
            return self
        rows = np.flatnonzero(kept) if self.kept is None else self.kept[kept]
        return replace(self, kept=rows)

    @property
    def sheets(self) -> int:
        """Number of sheets that are still there."""
        return self.dense_fields.shape[1] if self.kept is None else len(self.kept)

    def marks(self, number: int, places: Rows) -> Bytes:
        """Fields that have a word, of the sheets at some present positions, (m,)."""
        at = places if self.kept is None else self.kept[places]
        if self.dense[number] >= 0:
            of_all: Bytes = self.dense_fields[self.dense[number]][at]
            return of_all & _MARKED
        start, end = self.starts[number : number + 2].tolist()
        if start == end:
            return np.zeros(len(at), dtype=np.uint8)
        rows = self.rows[start:end]
        found = np.searchsorted(rows, at.astype(np.uint32)).clip(max=end - start - 1)
        marks = self.fields[start:end][found] & _MARKED
        known: Bytes = np.where(rows[found] == at, marks, np.uint8(0))
        return known

    def count(self, number: int) -> int:
        """Number of sheets still there that have a word."""
        if self.dense[number] < 0 and self.kept is None:
            return int(self.starts[number + 1] - self.starts[number])
        return int(np.count_nonzero(self.marks(number, np.arange(self.sheets))))

    def add(self, number: int, weight: int, total: Impacts) -> None:
        """Add the impacts of a word to those of all sheets of then, times a weight."""
        if self.dense[number] >= 0:
            total += self.dense_impacts[self.dense[number]] * np.uint16(weight)
            return
        part = slice(*self.starts[number : number + 2].tolist())
        total[self.rows[part]] += self.impacts[part] * np.uint16(weight)


class FrequentWordScorer(LexicalScorer):
    """A BM25 scorer of very many sheets, which has frequent words at hand.

    `later` finds the sheets of such a word that came later, `lengths` counts the words of every
    sheet, (n,), and `others` scores the same sheets for all other words.
    """

    def __init__(
        self, common: FrequentWords, later: Later, lengths: FloatArray, others: LexicalScorer
    ) -> None:
        self._common = common
        self._later = later
        self._lengths = lengths
        self._mean = mean_of(lengths)
        self._others = others
        self._entries: dict[str, _Entry] = {}

    def __len__(self) -> int:
        return len(self._lengths)

    def word(self, word: str) -> WordScores:
        """The scores of one word in all sheets that have it."""
        return self.among(word, np.arange(len(self))) if self._is(word) else self._others.word(word)

    def limit(self, word: str) -> float:
        """Most that a word adds to a score; 0 if no sheet has it."""
        if not self._is(word):
            return self._others.limit(word)
        sheets = self._entry(word).sheets
        return limit_of(sheets, len(self)) if sheets else 0.0

    def among(self, word: str, places: Rows) -> WordScores:
        """The scores of one word at some positions; see `LexicalScorer`."""
        if not self._is(word):
            return self._others.among(word, places)
        entry = self._entry(word)
        counts = np.zeros(len(places), dtype=np.float32)
        then = np.flatnonzero((places >= 0) & (places < self._common.sheets))
        counts[then] = COUNTS[self._common.marks(entry.number, places[then])]
        if len(entry.later):
            at = np.searchsorted(entry.later, places).clip(max=len(entry.later) - 1)
            there = entry.later[at] == places
            counts[there] = entry.counts[at[there]]
        found = np.flatnonzero(counts)
        limit = limit_of(entry.sheets, len(self))
        scores = bm25(counts[found], self._lengths[places[found]], self._mean, limit)
        return WordScores(found, scores, limit, entry.sheets)

    def impacts(self, words: Sequence[str]) -> Impacts:
        """How much of some words every sheet has; see `LexicalScorer`."""
        common, found = self._common, np.zeros(len(self), dtype=np.uint16)
        before = np.zeros(common.dense_fields.shape[1], dtype=np.uint16)
        limits = [self.limit(word) for word in words]
        for word, limit, weight in zip(words, limits, byte_weights(limits), strict=True):
            if not limit:
                continue
            if not self._is(word):
                self._others.word(word).add(weight, found)
                continue
            entry = self._entry(word)
            common.add(entry.number, weight, before)
            lengths = self._lengths[entry.later]
            scores = bm25(entry.counts, lengths, self._mean, limit)
            WordScores(entry.later, scores, limit, entry.sheets).add(weight, found)
        found[: common.sheets] += before if common.kept is None else before[common.kept]
        return found

    def _is(self, word: str) -> bool:
        return word in self._common.numbers

    def _entry(self, word: str) -> _Entry:
        found = self._entries.get(word)
        if found is None:
            number = self._common.numbers[word]
            later, counts = self._later(word)
            sheets = self._common.count(number) + len(later)
            found = self._entries[word] = _Entry(number, sheets, later, counts)
        return found
