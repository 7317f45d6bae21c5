"""A question as the texts of a sheet are compared with it: its words, and what they weigh."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import fsum

from sat_retriever.text.lexical import query_words
from sat_retriever.text.segment import forms, stem

_QUOTED = re.compile(r"[\"“”„«»]([^\"“”„«»]{2,200})[\"“”„«»]")
_MOST_QUOTED = 20
MIN_NGRAM = 3
"""Words of an n-gram that a text shares with a question, at least."""
_MOST_PLACES = 8  # of one word in a question


@dataclass(frozen=True)
class Asked:
    """What a question asks with.

    Attributes:
        weights: How much each of its words tells, as stems, all above 0.
        sequence: All its words as stems in order, each between blanks.
        quoted: The phrases in quotation marks, written in the same way.
    """

    weights: Mapping[str, float]
    sequence: str
    quoted: tuple[str, ...] = ()

    @classmethod
    def of(cls, question: str, idf: Mapping[str, float] | None = None) -> Asked:
        """What a question asks with.

        Args:
            question: Words of any language.
            idf: How rare words are, as stems; one that is not there weighs as much as the rarest,
                since no sheet's name has it. None: all weigh the same.

        >>> Asked.of('fares of "New York"', {"fare": 2.0, "new": 0.5})
        Asked(weights={'fare': 2.0, 'new': 0.5, 'york': 2.0}, sequence=' fare of new york ', \
quoted=(' new york ',))
        """
        known = idf or {}
        most = max(known.values(), default=0.0) or 1.0
        weights = {word: known.get(word) or most for word in query_words(question)}
        phrases = _QUOTED.findall(question)[:_MOST_QUOTED]
        quoted = tuple(
            dict.fromkeys(found for each in phrases if (found := sequence(forms(each))).strip())
        )
        return cls(weights, sequence(forms(question)), quoted)

    @cached_property
    def total(self) -> float:
        """What all its words weigh together."""
        return self.weight(self.weights)

    def weight(self, words: Iterable[str]) -> float:
        """What some words weigh together, each once; others weigh nothing."""
        return fsum(self.weights.get(word, 0.0) for word in set(words))  # in any order

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The first eight places of each word in the question."""
        found: dict[str, list[int]] = {}
        for place, word in enumerate(self.sequence.split()):
            own = found.setdefault(word, [])
            if len(own) < _MOST_PLACES:
                own.append(place)
        return found

    def shared_ngram(self, text: Sequence[str]) -> tuple[str, ...]:
        """The words that follow each other in a text and in the question, three or more.

        Of several such n-grams the heaviest counts; a word weighs each time it occurs. Of a word
        that the question repeats, its first eight places count. Empty if there is none.

        Args:
            text: All words of a text, as stems in order.

        >>> asked = Asked.of("where is it written: tons of coal from Ashgrove")
        >>> asked.shared_ngram(["25", "ton", "of", "coal", "left", "ashgrov"])
        ('ton', 'of', 'coal')
        """
        best, last = (0.0, 0), 0  # weight and length of an n-gram, and where it ends
        ending: dict[int, tuple[float, int]] = {}  # those that end at each place of the question
        for end, word in enumerate(text, start=1):
            weight, before = self.weights.get(word, 0.0), ending
            ending = {}
            for place in self._places.get(word, ()):
                said, length = before.get(place - 1, (0.0, 0))
                ending[place] = (said + weight, length + 1)
            longest = max(ending.values(), default=best)
            if longest > best and longest[1] >= MIN_NGRAM:
                best, last = longest, end
        return tuple(text[last - best[1] : last])

    @cached_property
    def start(self) -> re.Pattern[str]:
        """What an ASCII text in small letters has if it has a word of the question: first letters.

        A stem's last letter may be another than the word's (citi of city), so it does not count.
        """
        starts = {word[: max(2, min(3, len(word) - 1))] for word in self.weights}
        return re.compile("|".join(map(re.escape, sorted(starts))))

    def likely(self, texts: Sequence[str]) -> Iterator[int]:
        """Yield the places of texts that may have a word of the question, ascending.

        ASCII texts are searched as one: thousands are looked at for a question, few have a word.
        """
        joined = "\n".join(texts).lower()
        if not joined.isascii():
            for place, text in enumerate(texts):
                if not text.isascii() or self.start.search(text.lower()):
                    yield place
            return
        ends = list(accumulate(len(text) + 1 for text in texts))
        found = self.start.search(joined)
        while found:
            place = bisect_right(ends, found.start())
            yield place
            found = self.start.search(joined, ends[place])


def sequence(words: Iterable[tuple[str, ...]]) -> str:
    """The words of a text, given as `forms` returns them, as stems in order, each between blanks.

    >>> sequence(forms("MTA: New York City"))
    ' mta new york citi '
    """
    return f" {' '.join(stem(each[0]) for each in words)} "
