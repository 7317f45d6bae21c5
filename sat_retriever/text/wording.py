"""A wording that is looked for in many texts: prepared once, then compared with each cheaply."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from sat_retriever.text.identifiers import MAX_CHARS, UNSPACED, Word, chunk_words, chunks
from sat_retriever.text.segment import fold, stem

_APART = re.compile(f"([{UNSPACED}]+)")
_BLANKS = re.compile(rf"(?<=[{UNSPACED}])\s+(?=[{UNSPACED}])")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_KEPT = 64  # characters of a chunk that is likely to be met again
_LEAST, _MOST = 2, 3  # first letters of a word that any text with it has


class Wording:
    """Words that follow each other, as the search over an index reads words.

    Case, accents, the signs between words and the endings that stems lack do not count; a text of
    a script without spaces is found anywhere in a longer one, whatever its blanks. Signs of
    currencies and of mathematics count: "25%" is not found in "25 kg".

    Args:
        text: The wording.

    >>> [Wording(text).within("Zürich (ISO9001) 田中太郎") for text in ("zurich iso 9001", "田中")]
    [True, True]
    >>> [Wording(text).within("Newport, 25 kg") for text in ("new", "25%", "")]
    [False, False, False]
    """

    def __init__(self, text: str) -> None:
        plain = _plain(text)
        self.words = tuple(_words(plain, every=False))
        self._said = _joined(self.words)
        self._signs = frozenset(filter(_is_sign, plain))
        self._whole = " ".join(plain.casefold().split())

    def stems(self) -> list[str]:
        """What an index has for its words: of a text without spaces, its pairs.

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
        if not self._start.search(text if text.isascii() else _bare(text)):
            return False
        plain = _plain(text)
        if not self._signs.issubset(plain):
            return False
        return any(self._said in _joined(_words(plain, every=every)) for every in (False, True))

    @cached_property
    def _start(self) -> re.Pattern[str]:
        """The first letters of its longest word, which every text with the wording has.

        A stem's last letter may be another than the word's (citi of city), so it does not count;
        letters of scripts without spaces may be apart.
        """
        longest = max(self.words, key=len)
        most = 1 if _APART.match(longest) else max(_LEAST, min(_MOST, len(longest) - 1))
        return re.compile(re.escape(_bare(longest[:most])), re.IGNORECASE)


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


def _words(text: str, *, every: bool) -> Iterator[str]:
    """The stems of a text; "ISO9001" and "BX-7740/2" are taken apart.

    Args:
        text: The text.
        every: Take words apart as well that lose letters so: "A320neo" to "a320".
    """
    for start in range(0, len(text), MAX_CHARS):
        for chunk in chunks(text[start : start + MAX_CHARS]):
            yield from (_kept_parts if len(chunk) <= _KEPT else _parts)(chunk, every)


def _parts(chunk: str, every: bool) -> tuple[str, ...]:
    found: list[str] = []
    for word in chunk_words(chunk):
        pieces = word.also if _comes_apart(word, every=every) else (word.text,)
        for piece in pieces:
            for run in filter(None, _APART.split(piece)):
                found.append(stem(fold(run)))
    return tuple(found)


_kept_parts = lru_cache(maxsize=32_768)(_parts)


def _comes_apart(word: Word, *, every: bool) -> bool:
    """True if the further forms of a word are its parts: of "ISO9001", not of "2.5"."""
    if not word.also or not any(map(str.isalpha, word.text)):
        return False
    letters = "".join(filter(str.isalnum, word.text)).lower()
    return every or "".join(word.also).lower() == letters
