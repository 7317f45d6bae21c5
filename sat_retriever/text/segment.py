"""Split text into words: identifiers at their humps, unspaced scripts into overlapping pieces."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any

from sat_retriever.text.identifiers import UNITS, UNSPACED, read_words

_RUN = re.compile(f"([{UNSPACED}]+)")
# Plurals of acronyms and units that the stemmer leaves unchanged: ldvs, kpis, kgs.
_UNITS = "|".join(sorted(unit for unit in UNITS if not set(unit) & set("aeiou")))
_PLURAL = re.compile(
    rf"(?!this|thus|plus)(?:[^aeiouy]{{3,}}|[^aeiouy]{{2,}}[aeiou]|{_UNITS})(?<!s)s"
)
_KEPT_CHARS = 200  # texts up to this length, such as names and headers, are cached


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
    return [whole for whole, *_ in forms(text)]


def stems(text: str) -> list[str]:
    """Return the stems that match a text: of its words, and of the singulars and parts of some.

    >>> stems("ISO9001 for LDVs")
    ['iso9001', 'iso', '9001', 'for', 'ldv']
    """
    return [form for found in forms(text) for form in dict.fromkeys(map(stem, found))]


def forms(text: str) -> tuple[tuple[str, ...], ...]:
    """Return each word of a text, followed by its further forms."""
    return _kept_forms(text) if len(text) <= _KEPT_CHARS else _forms(text)


def _forms(text: str) -> tuple[tuple[str, ...], ...]:
    found: list[tuple[str, ...]] = []
    for word in read_words(unicodedata.normalize("NFKC", text)):
        if word.also:
            found.append(tuple(dict.fromkeys(map(_fold, (word.text, *word.also)))))
            continue
        for place, piece in enumerate(_RUN.split(word.text)):
            if place % 2:  # a script without spaces
                found.extend((char,) for char in piece)
                found.extend((piece[i : i + 2],) for i in range(len(piece) - 1))
            elif piece:
                found.append((_fold(piece),))
    return tuple(found)


# The same headers recur in many sheets and in the reasons of every hit.
_kept_forms = lru_cache(maxsize=8_192)(_forms)


@lru_cache(maxsize=16_384)
def _fold(word: str) -> str:
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

    Source: Snowball's English stemmer (Porter 2), from the package snowballstemmer.

    Departs: the plural s of acronyms and units is removed, which the stemmer keeps.

    >>> [stem(word) for word in ("countries", "sales", "singers", "q4", "销售")]
    ['countri', 'sale', 'singer', 'q4', '销售']
    >>> [stem(word) for word in ("ldvs", "kpis", "kwhs", "gas", "status")]
    ['ldv', 'kpi', 'kwh', 'gas', 'status']
    """
    if not (word.isascii() and word.isalpha()):
        return word
    return str(_stemmer().stemWord(word[:-1] if _PLURAL.fullmatch(word) else word))


@cache
def _stemmer() -> Any:
    import snowballstemmer  # not at import: it is slow to build, and not every user needs it

    return snowballstemmer.stemmer("english")
