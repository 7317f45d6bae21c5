"""A question as the texts of a sheet are compared with it: its words, and what they weigh."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from sat_retriever.text.lexical import query_words
from sat_retriever.text.segment import forms, stem

_QUOTED = re.compile(r"[\"“”„«»]([^\"“”„«»]{2,200})[\"“”„«»]")
_MOST_QUOTED = 20


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
        return sum(self.weights.values())

    @cached_property
    def start(self) -> re.Pattern[str]:
        """What an ASCII text has somewhere if it has a word of the question: its first letters.

        A stem's last letter may be another than the word's (citi of city), so it does not count.
        """
        starts = {word[: max(2, min(3, len(word) - 1))] for word in self.weights}
        return re.compile("|".join(map(re.escape, sorted(starts))), re.IGNORECASE)


def sequence(words: Iterable[tuple[str, ...]]) -> str:
    """The words of a text, given as `forms` returns them, as stems in order, each between blanks.

    >>> sequence(forms("MTA: New York City"))
    ' mta new york citi '
    """
    return f" {' '.join(stem(each[0]) for each in words)} "
