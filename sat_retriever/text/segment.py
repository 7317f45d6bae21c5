"""Split text into words: identifiers at their humps, unspaced scripts into overlapping pieces."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from Stemmer import Stemmer

from sat_retriever.text.identifiers import UNITS, UNSPACED, chunk_words, chunks
from sat_retriever.text.pattern import pattern

_RUN = pattern(f"([{UNSPACED}]+)")
# Plurals of acronyms and units that the stemmer leaves unchanged: ldvs, kpis, kgs.
_UNITS = "|".join(sorted(unit for unit in UNITS if not set(unit) & set("aeiou")))
_PLURAL = pattern(rf"(?!this|thus|plus)(?:[^aeiouy]{{3,}}|[^aeiouy]{{2,}}[aeiou]|{_UNITS})(?<!s)s")
_KEPT_CHARS = 64  # ASCII chunks up to this length are kept in memory as they were read
_KEPT_TEXT = 64  # characters of a whole text whose stems are kept
_KEPT_OTHERS = 16  # the same of other chunks: a character without spaces around is two words
ALSO = "+"
"""Stands in a line of stems before a further stem of the word before it; no word has the sign."""


def words(text: str) -> list[str]:
    """Return the words of a text, case-folded and without diacritics.

    A run of a script without spaces (CJK, Thai, …) is split into its single characters and
    its adjacent pairs.

    >>> words("netProfit_2021 (Überschuß)")
    ['net', 'profit', '2021', 'uberschuss']
    >>> words("销售额 Q1")
    ['销', '售', '额', '销售', '售额', 'q1']
    >>> words("LDVsByState PM2.5")
    ['ldvs', 'by', 'state', 'pm2.5']
    """
    return [word for chunk in read_chunks(text) for word in chunk.words]


def stems(text: str) -> list[str]:
    """Return the stems that match a text: of its words, and of the singulars and parts of some.

    >>> stems("ISO9001 for LDVs")
    ['iso9001', 'iso', '9001', 'for', 'ldv']
    """
    return list(_kept_stems(text) if len(text) <= _KEPT_TEXT else _stems(text))


def _stems(text: str) -> tuple[str, ...]:
    return tuple(form for chunk in read_chunks(text) for form in chunk.stems)


# Headers recur in the sheets of a question's hits, and in those of the next question.
_kept_stems = lru_cache(maxsize=32_768)(_stems)


def forms(text: str) -> tuple[tuple[str, ...], ...]:
    """Return each word of a text, followed by its further forms."""
    return tuple(found for chunk in read_chunks(text) for found in chunk.forms)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A run of letters and digits with single separators, read as `words`, `forms` and `stems`.

    Its line has the stems of each word, those of further forms behind `ALSO`.
    """

    words: tuple[str, ...]
    forms: tuple[tuple[str, ...], ...]
    stems: tuple[str, ...]
    line: str


ReadText = Callable[[str], Sequence[Chunk]]
"""Reads the chunks of a text, as `read_chunks` does."""


def read_chunks(text: str) -> list[Chunk]:
    """Return the chunks of a text, read; each is read for itself."""
    found = chunks(unicodedata.normalize("NFKC", text))
    return [_kept_chunk(each) if _recurs(each) else _chunk(each) for each in found]


def _recurs(chunk: str) -> bool:
    return len(chunk) <= (_KEPT_CHARS if chunk.isascii() else _KEPT_OTHERS)


def _chunk(chunk: str) -> Chunk:
    found = tuple(_forms(chunk))
    matching = [tuple(dict.fromkeys(map(stem, each))) for each in found]
    line = " ".join(f" {ALSO} ".join(each) for each in matching)
    return Chunk(tuple(each[0] for each in found), found, tuple(chain(*matching)), line)


# The same words recur in many texts, and in the reasons of every hit.
_kept_chunk = lru_cache(maxsize=32_768)(_chunk)


def _forms(chunk: str) -> Iterator[tuple[str, ...]]:
    for word in chunk_words(chunk):
        if word.also:
            yield tuple(dict.fromkeys(map(fold, (word.text, *word.also))))
            continue
        for place, piece in enumerate(_RUN.split(word.text)):
            if place % 2:  # a script without spaces
                yield from ((char,) for char in piece)
                yield from ((piece[i : i + 2],) for i in range(len(piece) - 1))
            elif piece:
                yield (fold(piece),)


def fold(word: str) -> str:
    """Return one word, case-folded and without accents."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    # Accents of Latin, Greek and Cyrillic are removed; vowel signs of other scripts are letters.
    kept = (char for char in decomposed if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFC", "".join(kept))


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return the stem of an English word; words of other scripts are unchanged.

    Source: Snowball's English stemmer (Porter 2), from the package PyStemmer.
    Departs: the plural s of acronyms and units is removed, which the stemmer keeps.

    >>> [stem(word) for word in ("countries", "sales", "singers", "q4", "销售")]
    ['countri', 'sale', 'singer', 'q4', '销售']
    >>> [stem(word) for word in ("ldvs", "kpis", "kwhs", "gas", "status")]
    ['ldv', 'kpi', 'kwh', 'gas', 'status']
    """
    if not (word.isascii() and word.isalpha()):
        return word
    return str(_own.stemmer.stemWord(word[:-1] if _PLURAL.fullmatch(word) else word))


class _OwnStemmer(threading.local):
    """A stemmer for each thread: it notes in itself how far it has come with a word."""

    def __init__(self) -> None:
        self.stemmer = Stemmer("english", 0)  # `stem` keeps the words, so it need not


_own = _OwnStemmer()
