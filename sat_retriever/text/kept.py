"""Results of looking words up, kept while there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Found = TypeVar("Found")
WORD = 64  # numbers that a word counts for by itself: there is no end of words that no sheet has


class KeptWords(Generic[Found]):
    """What words find, each looked up once; those that were not asked for longest go first.

    Args:
        look_up: Finds a word.
        size: Numbers of 8 bytes in what it finds.
        most: Most numbers kept over all words, each of which counts for 64 more and for its
            letters.

    >>> kept = KeptWords(look_up=str.upper, size=len, most=200)
    >>> kept["fare"], kept["fare"]
    ('FARE', 'FARE')
    """

    def __init__(
        self, look_up: Callable[[str], Found], size: Callable[[Found], int], most: int
    ) -> None:
        self._look_up = look_up
        self._size_of = size
        self._most = most
        self._kept: OrderedDict[str, Found] = OrderedDict()
        self._size = 0

    def __getitem__(self, word: str) -> Found:
        """What a word finds."""
        if word in self._kept:
            self._kept.move_to_end(word)
            return self._kept[word]
        found = self._kept[word] = self._look_up(word)
        self._size += self._cost(word, found)
        while self._size > self._most and len(self._kept) > 1:
            self._size -= self._cost(*self._kept.popitem(last=False))
        return found

    def _cost(self, word: str, found: Found) -> int:
        """Numbers of 8 bytes that a word and what it finds count for."""
        return WORD + len(word) // 8 + self._size_of(found)
