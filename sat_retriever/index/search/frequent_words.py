"""Words that very many sheets have, in names or in contents, kept beside the index file.

A word of a hundred thousand sheets is never looked up whole. To find the sheets worth scoring, what
it adds is summed up over all of them, a byte or a bit a sheet. To score these, it is read for them
alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import FIELD_WEIGHTS, Find, LexicalScorer, WordScores

Rows = NDArray[np.intp]
Bytes = NDArray[np.uint8]

COUNTS = np.array(
    [
        reduce(
            lambda total, field: total + np.float32(FIELD_WEIGHTS[field] * (marks >> field & 1)),
            range(len(FIELD_WEIGHTS)),
            np.float32(0),
        )
        for marks in range(256)
    ],
    dtype=np.float32,
)  # weighted count of a word, by the fields that have it, one bit each; other bits do not count
_BITS = np.array([128 >> place for place in range(8)], dtype=np.uint8)


class _Entry(NamedTuple):
    """One frequent word among the present sheets: those that have it, and those that came later."""

    number: int
    sheets: int
    later: Rows
    counts: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FrequentWords(ABC):
    """Postings of w frequent words in n sheets, as they were when they were written."""

    numbers: Mapping[str, int]  # number of each word
    # Row of each word in an array with a place for every sheet, (w,) int64; -1 for a word that has
    # postings.
    dense: NDArray[np.int64]
    having: NDArray[np.int64]  # number of sheets with each word, (w,) int64
    starts: NDArray[np.int64]  # where the postings of each word begin, and the end, (w + 1,) int64
    rows: NDArray[np.uint32]  # positions of the sheets with each other word, ascending, uint32
    before: int  # n
    # Positions then of the sheets that are still there, in order; None if all are.
    kept: Rows | None

    @abstractmethod
    def _dense_counts(self, row: int, at: Rows) -> FloatArray:
        """How much some sheets of then have of a word with a place for every sheet."""

    @abstractmethod
    def _counts(self, postings: Rows) -> FloatArray:
        """How much the sheets of some postings have of their word."""

    @abstractmethod
    def shares(self, number: int, most: int) -> Bytes:
        """What all sheets of then have of a word; see `LexicalScorer.shares`."""

    def _postings(self, number: int) -> slice:
        return slice(*self.starts[number : number + 2].tolist())

    def check(self, dense: int) -> None:
        """Refuse postings that do not fit together, by `ValueError`; so many words are dense."""
        words = len(self.numbers)
        whole = (
            len(self.dense) == words == len(self.having) == len(self.starts) - 1
            and bool((self.dense < dense).all())
            and self.starts[0] == 0
            and self.starts[-1] == len(self.rows)
            and bool((np.diff(self.starts) >= 0).all())
            and int(self.rows.max(initial=0)) < max(self.before, 1)
        )
        if not whole:
            raise ValueError("the postings of frequent words do not fit together")

    def without(self, kept: NDArray[np.bool_]) -> FrequentWords:
        """The same words without the present sheets that a mask leaves out."""
        if kept.all():
            return self
        return replace(self, kept=np.flatnonzero(kept) if self.kept is None else self.kept[kept])

    @property
    def sheets(self) -> int:
        """Number of sheets that are still there."""
        return self.before if self.kept is None else len(self.kept)

    def counts(self, number: int, places: Rows) -> FloatArray:
        """How much the sheets at some present positions have of a word, (m,)."""
        at = places if self.kept is None else self.kept[places]
        if self.dense[number] >= 0:
            return self._dense_counts(int(self.dense[number]), at)
        start, end = self.starts[number : number + 2].tolist()
        if start == end:
            return np.zeros(len(at), dtype=np.float32)
        rows = self.rows[start:end]
        found = np.searchsorted(rows, at.astype(np.uint32)).clip(max=end - start - 1)
        return np.where(rows[found] == at, self._counts(found + start), np.float32(0))

    def count(self, number: int) -> int:
        """Number of sheets still there that have a word."""
        if self.kept is None:
            return int(self.having[number])
        return int(np.count_nonzero(self.counts(number, np.arange(self.sheets))))


@dataclass(frozen=True, slots=True, eq=False)
class FrequentInNames(FrequentWords):
    """Frequent words of names, with the fields that have them."""

    dense_fields: Bytes  # which fields of each sheet have a word, one bit a field, (p, n) uint8
    # Score of each sheet, as a share of 255 of the most possible, (p, n) uint8.
    dense_impacts: Bytes
    fields: Bytes  # as above, one a posting, uint8
    posting_impacts: Bytes  # as above, one a posting, uint8

    def _dense_counts(self, row: int, at: Rows) -> FloatArray:
        found: FloatArray = COUNTS.take(self.dense_fields[row].take(at))
        return found

    def _counts(self, postings: Rows) -> FloatArray:
        return COUNTS[self.fields[postings]]

    def shares(self, number: int, most: int) -> Bytes:
        """As they were written, whose most is 255; see `FrequentWords`."""
        if self.dense[number] >= 0:
            dense: Bytes = self.dense_impacts[self.dense[number]]
            return dense
        found = np.zeros(self.before, dtype=np.uint8)
        part = self._postings(number)
        found[self.rows[part]] = self.posting_impacts[part]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class FrequentInContents(FrequentWords):
    """Frequent words of contents: they count once a sheet, so how much decides its length alone."""

    dense_bits: Bytes  # which sheets have a word, one bit a sheet, (p, n / 8) uint8
    # Score of each sheet for a word that it has, as a share of 255 of the most possible, (n,).
    shares_of_255: Bytes
    scaled: dict[int, Bytes] = field(default_factory=dict)  # the same as shares of another number

    def _dense_counts(self, row: int, at: Rows) -> FloatArray:
        marks = self.dense_bits[row].take(at >> 3) & _BITS.take(at & 7)
        found: FloatArray = (marks != 0).astype(np.float32)
        return found

    def _counts(self, postings: Rows) -> FloatArray:
        return np.ones(len(postings), dtype=np.float32)

    def shares(self, number: int, most: int) -> Bytes:
        """Bits times what a word adds to each sheet; see `FrequentWords`."""
        if self.dense[number] >= 0:
            found = np.unpackbits(self.dense_bits[self.dense[number]], count=self.before)
        else:
            found = np.zeros(self.before, dtype=np.uint8)
            found[self.rows[self._postings(number)]] = 1
        found *= self._up_to(most)
        return found

    def _up_to(self, most: int) -> Bytes:
        if most == 255:
            return self.shares_of_255
        found = self.scaled.get(most)
        if found is None:
            product = np.multiply(self.shares_of_255, most, dtype=np.uint16)
            found = (product + np.uint16(255) >> 8).astype(np.uint8)  # above 0 if it was
            self.scaled.clear()  # a question has one
            self.scaled[most] = found
        return found


class FrequentWordScorer(LexicalScorer):
    """A scorer of very many sheets, which has frequent words at hand.

    `later` finds the sheets of such a word that came later, and `others` scores the same sheets for
    all other words. With `hiding`, other sheets than these are hidden from the one who asks: shares
    as they were written do not count, since the mean length of all sheets is in them.
    """

    def __init__(
        self, frequent: FrequentWords, later: Find, others: LexicalScorer, *, hiding: bool
    ) -> None:
        self.formula = others.formula
        self._frequent = frequent
        self._later = later
        self._others = others
        self._hiding = hiding
        self._entries: dict[str, _Entry] = {}

    def word(self, word: str) -> WordScores:
        """The scores of one word in all sheets that have it."""
        return self.among(word, np.arange(len(self))) if self._is(word) else self._others.word(word)

    def limit(self, word: str) -> float:
        """Most that a word adds to a score; 0 if no sheet has it."""
        if not self._is(word):
            return self._others.limit(word)
        return self.formula.limit(self._entry(word).sheets)

    def among(self, word: str, places: Rows) -> WordScores:
        """The scores of one word at some positions; see `LexicalScorer`."""
        if not self._is(word):
            return self._others.among(word, places)
        entry = self._entry(word)
        if self._frequent.sheets == len(self) and places.min(initial=0) >= 0:
            counts = self._frequent.counts(entry.number, places)
        else:
            counts = np.zeros(len(places), dtype=np.float32)
            then = np.flatnonzero((places >= 0) & (places < self._frequent.sheets))
            counts[then] = self._frequent.counts(entry.number, places[then])
        if len(entry.later):
            at = np.searchsorted(entry.later, places).clip(max=len(entry.later) - 1)
            there = entry.later[at] == places
            counts[there] = entry.counts[at[there]]
        found = np.flatnonzero(counts)
        scored = self.formula.word(places[found], counts[found], entry.sheets)
        return replace(scored, rows=found)

    def sheets(self, word: str) -> int:
        """Number of all sheets that have a word."""
        return self._entry(word).sheets if self._is(word) else self._others.sheets(word)

    def shares(self, word: str, most: int = 255) -> Bytes:
        """What every sheet has of a word; see `LexicalScorer`."""
        if not self._is(word):
            return self._others.shares(word, most)
        if self._hiding:
            return super().shares(word, most)
        entry = self._entry(word)
        found = self._frequent.shares(entry.number, most)
        if self._frequent.kept is not None:
            found = found.take(self._frequent.kept)
        if len(found) < len(self):
            found = np.concatenate((found, np.zeros(len(self) - len(found), dtype=np.uint8)))
            self.formula.word(entry.later, entry.counts, entry.sheets).fill(found, most)
        return found

    def _is(self, word: str) -> bool:
        return word in self._frequent.numbers

    def _entry(self, word: str) -> _Entry:
        found = self._entries.get(word)
        if found is None:
            number = self._frequent.numbers[word]
            later, counts = self._later(word)
            sheets = self._frequent.count(number) + len(later)
            found = self._entries[word] = _Entry(number, sheets, later, counts)
        return found
