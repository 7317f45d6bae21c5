"""Sheets as sets of word numbers, drawn so that few words are everywhere and most are rare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.int64]

_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_EXPONENT = 1.07  # of Zipf's law
_VOCABULARY = 400_000
_CODES = 0.1  # share of texts that are codes of their own sheet
_PER_TEXT = 4  # most words of a text
FIELDS = (0.05, 0.35, 0.6)  # share of the texts that are notes, labels, values


@dataclass(frozen=True, slots=True)
class Shape:
    """Size of a made corpus.

    Attributes:
        sheets: Number of sheets.
        texts: Distinct texts of each.
    """

    sheets: int
    texts: int


@lru_cache(maxsize=1_000_000)
def spelled(number: int) -> str:
    """A word of its own for each number; those from the vocabulary's size on are codes.

    >>> spelled(0), spelled(71), spelled(400_007)
    ('baba', 'bebe', 'x400007k')
    """
    if number >= _VOCABULARY:
        return f"x{number}k"
    syllables: list[str] = []
    while number or len(syllables) < 2:
        number, rest = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[rest])
    return "".join(syllables)


def made_sheets(shape: Shape, seed: int = 0) -> Iterator[tuple[Words, Words, Words]]:
    """Distinct word numbers of each sheet's notes, labels and values, ascending."""
    rng = np.random.default_rng(seed)
    weights = np.arange(1, _VOCABULARY + 1, dtype=np.float64) ** -_EXPONENT
    heap = np.cumsum(weights / weights.sum())
    counts = [max(1, round(share * shape.texts)) for share in FIELDS]
    code = _VOCABULARY
    for _ in range(shape.sheets):
        fields = []
        for texts in counts:
            words = int(rng.integers(1, _PER_TEXT + 1, texts).sum())
            drawn = np.searchsorted(heap, rng.random(words))
            codes = rng.binomial(texts, _CODES)
            own = np.arange(code, code + codes)
            code += codes
            fields.append(np.unique(np.concatenate((drawn, own))))
        yield fields[0], fields[1], fields[2]


def made_questions(shape: Shape, kind: str, count: int, seed: int = 1) -> list[list[int]]:
    """Word numbers of questions: "rare", "mixed" or "common".

    A common word is one of the fifty that most sheets have; a rare one has fewer than a few
    hundred sheets, or is a code.
    """
    rng = np.random.default_rng(seed)
    codes = int(shape.sheets * shape.texts * _CODES)

    def draw(low: int, high: int) -> int:
        return int(rng.integers(low, high))

    def rare() -> int:
        if rng.random() < 0.5:
            return _VOCABULARY + draw(0, int(codes * 0.9))
        return draw(100_000, _VOCABULARY)

    made: dict[str, Any] = {
        "rare": lambda: [rare() for _ in range(3)],
        "mixed": lambda: [rare(), draw(1_000, 20_000), draw(100, 1_000), draw(0, 50)],
        "common": lambda: [draw(0, 50) for _ in range(3)],
    }
    return [made[kind]() for _ in range(count)]
