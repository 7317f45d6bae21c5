"""Words that very many sheets have, in names or in contents, kept beside the index file.

A word of a hundred thousand sheets is never looked up whole. To find the sheets worth scoring, what
it adds is summed up over all of them, a byte or a bit a sheet. To score these, it is read for them
alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import (
    FIELD_WEIGHTS,
    Find,
    Impacts,
    LexicalScorer,
    WordScores,
    byte_weights,
)

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
_AT_ONCE = 32_768  # sheets whose impacts are added up at once: they stay in the processor's cache


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
    def impacts(self, weights: Iterable[tuple[int, int]]) -> Impacts:
        """How much of some words all sheets of then have, by number and weight of each word."""

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
        return COUNTS.take(self.dense_fields[row].take(at))

    def _counts(self, postings: Rows) -> FloatArray:
        return COUNTS[self.fields[postings]]

    def impacts(self, weights: Iterable[tuple[int, int]]) -> Impacts:
        """Sums of bytes; see `FrequentWords`."""
        total = np.zeros(self.before, dtype=np.uint16)
        product = np.empty(_AT_ONCE, dtype=np.uint16)
        for number, weight in weights:
            if self.dense[number] < 0:
                part = slice(*self.starts[number : number + 2].tolist())
                total[self.rows[part]] += self.posting_impacts[part] * np.uint16(weight)
                continue
            dense = self.dense_impacts[self.dense[number]]
            for start in range(0, len(total), _AT_ONCE):
                some = total[start : start + _AT_ONCE]
                own = dense[start : start + _AT_ONCE]
                some += np.multiply(own, np.uint16(weight), out=product[: len(some)])
        return total


@dataclass(frozen=True, slots=True, eq=False)
class FrequentInContents(FrequentWords):
    """Frequent words of contents: they count once a sheet, so how much decides its length alone."""

    dense_bits: Bytes  # which sheets have a word, one bit a sheet, (p, n / 8) uint8
    # Score of each sheet for a word that it has, as a share of 255 of the most possible, (n,).
    shares: Bytes

    def _dense_counts(self, row: int, at: Rows) -> FloatArray:
        marks = self.dense_bits[row].take(at >> 3) & _BITS.take(at & 7)
        return (marks != 0).astype(np.float32)

    def _counts(self, postings: Rows) -> FloatArray:
        return np.ones(len(postings), dtype=np.float32)

    def impacts(self, weights: Iterable[tuple[int, int]]) -> Impacts:
        """Sums of bits, times what a word adds to each sheet; see `FrequentWords`."""
        total = np.zeros(self.before, dtype=np.uint8)  # weights fit one byte together
        for number, weight in weights:
            if self.dense[number] < 0:
                total[self.rows[slice(*self.starts[number : number + 2].tolist())]] += weight
                continue
            own = np.unpackbits(self.dense_bits[self.dense[number]], count=len(total))
            own *= np.uint8(weight)
            total += own
        return np.multiply(total, self.shares, dtype=np.uint16)


class FrequentWordScorer(LexicalScorer):
    """A scorer of very many sheets, which has frequent words at hand.

    `later` finds the sheets of such a word that came later, and `others` scores the same sheets for
    all other words.
    """

    def __init__(self, frequent: FrequentWords, later: Find, others: LexicalScorer) -> None:
        self.formula = others.formula
        self._frequent = frequent
        self._later = later
        self._others = others
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

    def impacts(self, words: Sequence[str]) -> Impacts:
        """How much of some words every sheet has; see `LexicalScorer`."""
        weights = byte_weights(list(map(self.limit, words)))
        weighed = {word: weight for word, weight in zip(words, weights, strict=True) if weight}
        entries = {word: self._entry(word) for word in weighed if self._is(word)}
        total = self._frequent.impacts((x.number, weighed[word]) for word, x in entries.items())
        if self._frequent.kept is not None:
            total = total[self._frequent.kept]
        if len(total) < len(self):
            total = np.concatenate((total, np.zeros(len(self) - len(total), dtype=np.uint16)))
        for word, weight in weighed.items():
            entry = entries.get(word)
            if entry is None:
                self._others.word(word).add(weight, total)
            else:
                self.formula.word(entry.later, entry.counts, entry.sheets).add(weight, total)
        return total

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
