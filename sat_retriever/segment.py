"""Text to words: identifiers are taken apart, unspaced scripts become overlapping pieces."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any

# Scripts written without spaces: Chinese, Japanese, Korean; Thai, Lao, Myanmar, Khmer.
_UNSPACED = (
    "\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
# Vowel signs and other marks belong to the letter before them, but are no word characters for `re`.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0980-\u0983\u09bc-\u09cd\u0a01-\u0a03"
    "\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0bbe-\u0bcd\u0c3e-\u0c56"
    "\u0cbc-\u0cd6\u0d3b-\u0d4d\u0dca-\u0ddf"
)
_RUN = re.compile(f"[{_UNSPACED}]+")
_WORD = re.compile(f"[{_UNSPACED}]+|(?:[^\\W_{_UNSPACED}][{_MARKS}]*)+")
# Where one identifier hides several words: camelCase, HTTPServer, Sales2021, 2021Q3.
_HUMP = re.compile(
    r"(?<=[a-z\u00df-\u00ff])(?=[A-Z\u00c0-\u00de])"
    r"|(?<=[A-Z])(?=[A-Z][a-z])"
    r"|(?<=[^\W\d_]{2})(?=\d{4}(?!\d))"
    r"|(?<=(?<!\d)\d{4})(?=[^\W\d_])"
)
_SEPARATOR = re.compile(r"[_\-./\\]+")
_DECIMAL = re.compile(r"[+-]?\d+\.\d+%?")
_MAX_CHARS = 20_000
_KEPT_CHARS = 200  # texts up to this long, names and headers, are remembered


def split_identifiers(text: str) -> str:
    """The text with identifiers taken apart by spaces, letters unchanged.

    Handles camelCase, snake_case, "-", "." and "/", and a year glued to a word.
    A decimal point stays.

    >>> split_identifiers("Stock_Market__Q3-2021.finalReport")
    'Stock Market Q3 2021 final Report'
    >>> split_identifiers("HTTPServer Sales2021Q3 rate 3.5")
    'HTTP Server Sales 2021 Q3 rate 3.5'
    """
    parts = []
    for word in text[:_MAX_CHARS].split():
        if _DECIMAL.fullmatch(word):
            parts.append(word)
        else:
            parts.extend(_HUMP.sub(" ", _SEPARATOR.sub(" ", word)).split())
    return " ".join(parts)


def words(text: str) -> list[str]:
    """Words of a text for lexical matching: case-folded, without diacritics.

    A run of characters of a script without spaces (CJK, Thai, …) gives its single
    characters and adjacent pairs.

    >>> words("netProfit_2021 (Überschuß)")
    ['net', 'profit', '2021', 'uberschuss']
    >>> words("销售额 Q1")
    ['销', '售', '额', '销售', '售额', 'q1']
    """
    return list(_kept_words(text) if len(text) <= _KEPT_CHARS else _words(text))


def _words(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for piece in _WORD.findall(split_identifiers(unicodedata.normalize("NFKC", text))):
        if _RUN.fullmatch(piece):
            found.extend(piece)
            found.extend(piece[i : i + 2] for i in range(len(piece) - 1))
        else:
            found.append(_fold(piece))
    return tuple(found)


# The same headers come back in sheet after sheet, and in every hit's reasons.
_kept_words = lru_cache(maxsize=32_768)(_words)


@lru_cache(maxsize=65_536)
def _fold(word: str) -> str:
    """One word, case-folded and without accents."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    # Accents of Latin, Greek and Cyrillic go; vowel signs of other scripts are letters.
    kept = (char for char in decomposed if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFC", "".join(kept))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of an English word; words of other scripts are unchanged.

    Source: Snowball's English stemmer (Porter 2), from the package snowballstemmer.

    >>> [stem(word) for word in ("countries", "sales", "singers", "q4", "销售")]
    ['countri', 'sale', 'singer', 'q4', '销售']
    """
    return str(_stemmer().stemWord(word)) if word.isascii() and word.isalpha() else word


@cache
def _stemmer() -> Any:
    import snowballstemmer  # not at import: building it costs time that not every user needs

    return snowballstemmer.stemmer("english")
