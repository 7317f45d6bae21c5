"""BM25 over the contents of sheets, with bounded work however many sheets have a word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray
from sat_retriever.text.lexical import KeptWords, WordScores

# Saturation and normalisation by length; a word counts once a sheet, wherever it stands.
# K1 was chosen on held-out tables of WikiTableQuestions' training part and EPS's development
# questions, B on the validation sets of real lists.
K1 = 1.2
B = 0.5
# Sheets of one word that are read. A word of more is scored only for sheets in play.
MOST = 50_000
_PLAY = 20_000  # sheets in play: those of the rarest words

Rows = NDArray[np.intp]
Find = Callable[[Sequence[Sequence[str]], int], Rows]
"""Positions of the first sheets that have a word of each group, ascending; at most a number."""


class ContentScorer:
    """BM25 of queries over one state of the index, keeping the sheets of the words it has.

    `find` looks words up, and `lengths` counts the words of each sheet's contents, (n,). At most
    `most` sheets of one word are read, and `max_kept` positions of all words are kept.
    """

    def __init__(
        self, find: Find, lengths: FloatArray, *, most: int = MOST, max_kept: int = 8_000_000
    ) -> None:
        self._find = find
        self._most = most
        self._rows = KeptWords(lambda word: find([[word]], most), len, max_kept)
        count = int(np.count_nonzero(lengths))
        self._count = count
        mean = float(lengths.sum()) / max(count, 1)
        norm = 1 - B + B * lengths / np.float32(max(mean, 1.0))
        # Of the score that a sheet of no length would have, in (0, 1].
        self._shares = ((1 + K1 * (1 - B)) / (1 + K1 * norm)).astype(np.float32)

    def __len__(self) -> int:
        """Number of sheets with contents."""
        return self._count

    def part(self, places: Rows) -> ContentScorer:
        """A scorer of the sheets at some ascending positions, from 0 on, with the same scores."""
        return _Part(self, places, self._shares[places])

    def knows(self, word: str) -> bool:
        """True if a sheet has a word."""
        return bool(self) and len(self._rows[word]) > 0

    def having(self, words: Sequence[str]) -> Rows:
        """Positions of the first sheets that have all of some words, ascending."""
        if not (self and words):
            return np.empty(0, dtype=np.intp)
        return self._find([[word] for word in words], _PLAY)

    def scores(self, words: Sequence[str]) -> tuple[FloatArray, dict[str, float]]:
        """BM25 as a share of the best possible, (n,) in [0, 1], and the idf of each known word."""
        return self.total(self.by_word(words))

    def total(self, found: Mapping[str, WordScores]) -> tuple[FloatArray, dict[str, float]]:
        """The result of `scores`, from the scores of each word."""
        total = np.zeros(len(self._shares), dtype=np.float32)
        for scored in found.values():
            total[scored.rows] += scored.scores
        known = {word: scored.limit for word, scored in found.items()}
        return (total / np.float32(sum(known.values())) if known else total), known

    def by_word(self, words: Sequence[str]) -> dict[str, WordScores]:
        """BM25 of each of some distinct words that a sheet has, rarest first.

        Source: Robertson and Zaragoza (2009), with the idf of Lucene. Departs: a word counts
        once a sheet. A word that very many sheets have is scored only for sheets that have
        one of the rarest words of the query, or, without any rarer one, all words.
        """
        found = {word: self._rows[word] for word in words} if self else {}
        known = sorted(
            (word for word in found if len(found[word])), key=lambda word: (len(found[word]), word)
        )
        rare = [word for word in known if len(found[word]) < self._most]
        common = known[len(rare) :]
        play = self._in_play(rare, common, found) if common else []
        scored = {}
        for word in known:
            sheets = self._sheets(found[word])
            idf = float(np.log1p((self._count - sheets + 0.5) / (sheets + 0.5)))
            rows = self._find([[word], *play], _PLAY) if word in common else found[word]
            scores = np.float32(idf) * self._shares[rows]
            scored[word] = WordScores(rows, scores, idf, round(sheets))
        return scored

    def _in_play(
        self, rare: Sequence[str], common: Sequence[str], found: dict[str, Rows]
    ) -> list[list[str]]:
        """Groups of words, one of each of which a sheet must have to be in play."""
        if not rare:
            return [[word] for word in common]
        taken, left = [rare[0]], _PLAY - len(found[rare[0]])
        for word in rare[1:]:
            left -= len(found[word])
            if left < 0:
                break
            taken.append(word)
        return [taken]

    def _sheets(self, rows: Rows) -> float:
        """Number of sheets with a word: all that were found, or by how dense the first ones lie."""
        sheets = float(len(rows))
        if len(rows) >= self._most:
            sheets = min(sheets * len(self._shares) / (int(rows[-1]) + 1), float(self._count))
        return sheets


class _Part(ContentScorer):
    def __init__(self, whole: ContentScorer, places: Rows, shares: FloatArray) -> None:
        self._whole = whole
        self._places = places
        self._count = len(whole)
        self._shares = shares

    def knows(self, word: str) -> bool:
        """True if a sheet has a word, also one outside the part."""
        return self._whole.knows(word)

    def having(self, words: Sequence[str]) -> Rows:
        """Places of those of the whole's first sheets with all words that are in the part."""
        return np.flatnonzero(np.isin(self._places, self._whole.having(words)))

    def by_word(self, words: Sequence[str]) -> dict[str, WordScores]:
        """BM25 of each word that a sheet has, also one outside the part; rarest first."""
        found = self._whole.by_word(words)
        return {word: scored.among(self._places) for word, scored in found.items()}
