"""Texts in which the words of a question are marked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sat_retriever.text.lexical import query_words
from sat_retriever.text.segment import stems

Segment = tuple[str, bool]
"""A part of a text, and True if it is to be marked."""

_WORD = re.compile(r"[^\W_]+")
_QUESTION = 4_000  # characters that are read


class Marker:
    """Marks the words of one question in texts, in any of their forms."""

    def __init__(self, question: str) -> None:
        self._wanted = frozenset(query_words(question[:_QUESTION]))

    def __call__(self, text: str) -> list[Segment]:
        """Split a text into its marked parts and the others.

        >>> Marker("sales in the south")("Sales South 2024")
        [('Sales', True), (' ', False), ('South', True), (' 2024', False)]
        """
        parts: list[Segment] = []
        end = 0
        for word in _WORD.finditer(text):
            if not self._wanted.isdisjoint(stems(word[0])):
                parts += [(text[end : word.start()], False), (word[0], True)]
                end = word.end()
        parts.append((text[end:], False))
        return [part for part in parts if part[0]]


def whole(text: str, *, marked: bool) -> list[Segment]:
    """Return a text as one part."""
    return [(text, marked)]


def joined(names: Iterable[str], most: int) -> str:
    """Return names in a list that is cut after some, and says how many more there are.

    >>> joined(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
