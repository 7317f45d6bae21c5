"""Sheets with names and contents by number, and questions of several kinds that they answer."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.latency import CATEGORIES, COMPANIES, HEADERS, queries
from sat_retriever import Column, SheetRecord
from sat_retriever.records.contents import CellText, SheetContents, TableContents
from sat_retriever.records.sheets import ColumnType
from sat_retriever.records.tokens import FloatArray

KINDS = ("names", "rare", "mixed", "common", "phrase", "misspelt")
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_WORDS = 400_000  # of the vocabulary; those of higher numbers are codes
_EXPONENT = 1.07  # of Zipf's law
_CODES = 10  # one text in so many is a code
_NOTES, _LABELS = 0.05, 0.4  # shares of the texts up to which they are notes, and row labels
_PER_TEXT = 4  # most words of a text
_BOOK = 4  # sheets of a workbook


@dataclass(frozen=True, slots=True)
class MadeSheets:
    """Sheets of which each is made from its number alone, so that any part can be made again.

    Attributes:
        sheets: Number of sheets.
        texts: Distinct texts of each.
    """

    sheets: int
    texts: int

    def records(self, start: int = 0) -> Iterator[SheetRecord]:
        """Yield the sheets from a number on; template-like names, contents by Zipf's law."""
        return (self.record(number) for number in range(start, self.sheets))

    def record(self, number: int) -> SheetRecord:
        """Return one sheet, which belongs to no file."""
        rng = random.Random(number // _BOOK)
        company, category = rng.choice(COMPANIES), rng.choice(CATEGORIES)
        year, quarter = rng.randint(2015, 2026), number % _BOOK + 1
        book = f"{company}_{category}_{year}.xlsx"
        path = f"{company}/{year}/{number // _BOOK}/{book}"
        texts = self.texts_of(number)
        columns = tuple(
            Column(name, example=texts[at], type=ColumnType.TEXT)
            for at, name in enumerate(rng.sample(HEADERS, 8))
        )
        return SheetRecord(
            f"{path}#Q{quarter}", f"Q{quarter}", book, path, columns, len(texts), 8,
            contents=_contents(texts),
        )  # fmt: skip

    def texts_of(self, number: int) -> list[str]:
        """Return the distinct texts of a sheet."""
        rng = np.random.default_rng([7, number])
        lengths = rng.integers(1, _PER_TEXT + 1, self.texts)
        words = np.searchsorted(_heap(), rng.random(int(lengths.sum()))).tolist()
        found: dict[str, None] = {}
        at = 0
        for place, length in enumerate(lengths.tolist()):
            text = " ".join(spelled(word).capitalize() for word in words[at : at + length])
            at += length
            code = place % _CODES == 0 or text in found
            found[spelled(_WORDS + number * self.texts + place) if code else text] = None
        return list(found)

    def questions(self, kind: str, count: int) -> list[str]:
        """Return questions of one of `KINDS`, the same for equal arguments."""
        rng = random.Random(f"{kind} {self.sheets}")
        if kind == "names":
            return queries(count, seed=3)

        def text(words: int) -> list[str]:
            """Return the words of a text of so many or more, of any sheet."""
            while True:
                texts = [each.split() for each in self.texts_of(rng.randrange(self.sheets))]
                found = [each for each in texts if len(each) >= words]
                if found:
                    return rng.choice(found)

        def misspelt() -> str:
            word = max(text(2), key=len)
            at = rng.randrange(2, max(3, len(word) - 2))
            return word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :]

        made: dict[str, Callable[[], str]] = {
            "rare": lambda: self.texts_of(rng.randrange(self.sheets))[0],
            "mixed": lambda: (
                f"{rng.choice(HEADERS)} of {' '.join(text(2))} for "
                f"{rng.choice(COMPANIES)} {rng.randint(2015, 2026)}"
            ),
            "common": lambda: " ".join(spelled(rng.randrange(50)) for _ in range(3)),
            "phrase": lambda: f'{rng.choice(HEADERS)} of "{" ".join(text(3))}"',
            "misspelt": lambda: f"{rng.choice(CATEGORIES)} of {misspelt()}",
        }
        return [made[kind]() for _ in range(count)]


class TextTokens:
    """An encoder that costs nearly nothing: a random direction for each text, of a usual width."""

    name, fingerprint, width = "random directions", "random-384", 384

    def encode_sheets(self, texts: Sequence[str]) -> FloatArray:
        """Return the tokens of texts, (n, 384) float32, rows of unit length."""
        rows = [
            np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.width)
            for text in texts
        ]
        tokens = np.array(rows, dtype=np.float32).reshape(-1, self.width)
        unit: FloatArray = tokens / np.linalg.norm(tokens, axis=1, keepdims=True)
        return unit

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return the tokens of queries, made in the same way."""
        return self.encode_sheets(texts)


@lru_cache(maxsize=1_000_000)
def spelled(number: int) -> str:
    """A word of its own for each number; those from the vocabulary's size on are codes.

    >>> spelled(0), spelled(71), spelled(400_007)
    ('baba', 'bebe', 'x400007k')
    """
    if number >= _WORDS:
        return f"x{number}k"
    syllables: list[str] = []
    while number or len(syllables) < 2:
        number, rest = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[rest])
    return "".join(syllables)


@cache
def _heap() -> NDArray[np.float64]:
    """Return the share of the words up to each number, (400,000,)."""
    weights = np.arange(1, _WORDS + 1, dtype=np.float64) ** -_EXPONENT
    return np.cumsum(weights / weights.sum())


def _contents(texts: Sequence[str]) -> SheetContents:
    """Return texts as notes, the labels of a first column, and values of the next seven."""
    notes, labels = round(_NOTES * len(texts)), round(_LABELS * len(texts))
    cells = [CellText(f"{'ABCDEFGH'[max(0, at - labels + 1) % 8]}{at + 3}", text)
             for at, text in enumerate(texts)]  # fmt: skip
    table = TableContents(None, tuple(cells[notes:labels]), tuple(cells[labels:]))
    return SheetContents(tuple(cells[:notes]), (table,))
