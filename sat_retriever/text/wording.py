"""A wording that is looked for in many texts: prepared once, then compared with each cheaply."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property, lru_cache

from sat_retriever.text.identifiers import MAX_CHARS, UNSPACED, Word, chunk_words, chunks
from sat_retriever.text.segment import fold, stem

_APART = re.compile(f"([{UNSPACED}]+)")
_BLANKS = re.compile(rf"(?<=[{UNSPACED}])\s+(?=[{UNSPACED}])")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_KEPT = 64  # characters of a chunk that is likely to be met again
_STARTS = 16  # words whose first letters are looked for first


class Wording:
    """Words that follow each other, as the search over an index reads words.

    Case, accents, the signs between words and the endings that stems lack do not count; a text of
    a script without spaces is found anywhere in a longer one, whatever its blanks. Signs of
    currencies and of mathematics count: "25%" is not found in "25 kg".

    >>> [Wording(text).within("Zürich (ISO9001) 田中太郎") for text in ("zurich iso 9001", "田中")]
    [True, True]
    >>> [Wording(text).within("Newport, 25 kg") for text in ("new", "25%", "")]
    [False, False, False]
    """

    def __init__(self, text: str) -> None:
        plain = _plain(text)
        self.words = tuple(_words(plain)[0])
        self._said = _joined(self.words)
        self._signs = frozenset(filter(_is_sign, plain))
        self._whole = " ".join(plain.casefold().split())

    def stems(self) -> list[str]:
        """Stems that an index has for its words: of a text without spaces, its pairs.

        >>> Wording("Ledgers 東京都").stems()
        ['ledger', '東京', '京都']
        """
        found: list[str] = []
        for word in self.words:
            pairs = [word[at : at + 2] for at in range(max(1, len(word) - 1))]
            found += pairs if _APART.fullmatch(word) else [word]
        return found

    def within(self, text: str) -> bool:
        """True if a text has the wording."""
        if not self.words:
            return bool(self._whole) and self._whole in " ".join(_plain(text).casefold().split())
        if not self._may_be_in(text.lower() if text.isascii() else _bare(text)):
            return False
        plain = _plain(text)
        if not self._signs.issubset(plain):
            return False
        whole, parted = _words(plain)
        return self._said in _joined(whole) or (parted != whole and self._said in _joined(parted))

    def _may_be_in(self, bare: str) -> bool:
        """False if a text without case and accents lacks what every text with the wording has."""
        place = 0
        for start in self._starts:
            place = bare.find(start, place) + len(start)
            if place < len(start):
                return False
        return True

    @cached_property
    def _starts(self) -> tuple[str, ...]:
        """The first letters of its words.

        The last letters of a stem may be others than the word's (citi of city, die of dying), so
        two do not count; letters of scripts without spaces may be apart.
        """
        found = []
        for word in self.words[:_STARTS]:
            most = len(word) - 2 if word.isascii() and word.isalpha() else len(word)
            found.append(_bare(word[: 1 if _APART.match(word) else max(1, most)]))
        return tuple(found)


def _plain(text: str) -> str:
    return _BLANKS.sub("", unicodedata.normalize("NFKC", text))


def _bare(text: str) -> str:
    """A text without case and accents, its letters taken apart: quickly made, not shown."""
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))


def _is_sign(char: str) -> bool:
    """True for a sign that tells values apart, as in 25% and €25."""
    return char in "%‰" or unicodedata.category(char) in {"Sc", "Sm", "So"}


def _joined(words: Iterable[str]) -> str:
    """Words as one text: borders around each, but between those of scripts without spaces alone."""
    bordered = (word if _APART.fullmatch(word) else f"\n{word}\n" for word in words)
    return "\t".join(bordered).replace("\n\t", "\n").replace("\t\n", "\n")


def _words(text: str) -> tuple[list[str], list[str]]:
    """The stems of a text; "ISO9001" and "BX-7740/2" are taken apart.

    Returns:
        The stems, and the same with words taken apart that lose letters so: "A320neo" to "a320".
    """
    whole: list[str] = []
    parted: list[str] = []
    for start in range(0, len(text), MAX_CHARS):
        for chunk in chunks(text[start : start + MAX_CHARS]):
            found = (_kept_parts if len(chunk) <= _KEPT else _parts)(chunk)
            whole += found[0]
            parted += found[1]
    return whole, parted


def _parts(chunk: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    words = chunk_words(chunk)
    whole = [_apart(word) if _is_joined(word) else (word.text,) for word in words]
    parted = [_apart(word) for word in words]
    first, second = (
        tuple(
            stem(fold(run))
            for pieces in found
            for piece in pieces
            for run in filter(None, _APART.split(piece))
        )
        for found in (whole, parted)
    )
    return first, second


_kept_parts = lru_cache(maxsize=32_768)(_parts)


def _apart(word: Word) -> tuple[str, ...]:
    """The further forms of a word in its place; a number such as "2.5" stays whole."""
    return word.also if word.also and any(map(str.isalpha, word.text)) else (word.text,)


def _is_joined(word: Word) -> bool:
    """True if the further forms of a word are its parts: of "ISO9001", not of "A320neo"."""
    return "".join(word.also).lower() == "".join(filter(str.isalnum, word.text)).lower()
