"""Words written otherwise: misspelt ones, and names that abbreviate others.

"EVCAP-A" abbreviates "EV Charging Availability Parameters".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, lru_cache

from sat_retriever.records.sheets import SheetRecord
from sat_retriever.text.lexical import STOP_WORDS

SHORTEST = 5  # letters of a word that is looked for; shorter ones have too many neighbours
MOST_CHANGES = 2
_TWO_FROM = 8  # letters from which on two changes are allowed

Ends = Callable[[str, str], Iterable[str]]
"""Known words with a given beginning or a given end."""


def nearest(word: str, ends: Ends, known: Callable[[str], bool] | None = None) -> list[str]:
    """Known words with the fewest changes to a word, at most two, in order; none if all are far.

    A change adds, drops or replaces a letter, or swaps two neighbours. One change leaves the
    first or the second half of the word as it was, so only words that share a half are compared.
    Two changes in different halves are not found, nor is a change of the first letter: few people
    misspell that, and many known words differ from an unknown one in nothing else.

    Args:
        ends: Known words that begin with its first half, or end with its second.
        known: False for words of `ends` that do not count; it is asked of few.

    >>> known = ["transit", "transport", "trance"]
    >>> nearest("transprot", lambda start, end: known), nearest("abc", lambda start, end: known)
    (['transport'], [])
    """
    if len(word) < SHORTEST:
        return []
    most = MOST_CHANGES if len(word) >= _TWO_FROM else 1
    near = ends(word[: len(word) // 2], word[len(word) - (len(word) - 1) // 2 :])
    found = {each: changes(word, each, most) for each in near if each[0] == word[0]}
    for least in range(most + 1):
        at = sorted(each for each, far in found.items() if far == least)
        counting = [each for each in at if known is None or known(each)]
        if counting:
            return counting
    return []


def changes(word: str, other: str, most: int) -> int:
    """Changes that make one word of another; `most + 1` stands for any larger number.

    Source: the optimal string alignment distance, Damerau (1964).

    >>> changes("emision", "emission", 2), changes("teh", "the", 2), changes("cat", "dogs", 2)
    (1, 1, 3)
    """
    if abs(len(word) - len(other)) > most:
        return most + 1
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    a, b = word[start:], other[start:]
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, against in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == against:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return min(last[-1], most + 1)


MIN_WORDS = 2
"""Words that an abbreviation stands for, at least."""
MIN_SHARE = 0.6
"""Share of a name's words that an abbreviation of it stands for, at least."""
LONGEST_PART = 4
"""Letters of one word in an abbreviation, at most."""
MIN_CAPITALS = 2
"""Capital letters of an abbreviation: "BNoEVC" is one, "Mar" is a month."""
MOST_WORDS = 32
"""Words of a name that are looked at."""

_SEPARATORS = re.compile(r"[\W_]+")


@lru_cache(maxsize=64)
def _words(whole: str) -> tuple[str, ...]:
    return tuple(each.casefold() for each in _SEPARATORS.split(whole) if each)[:MOST_WORDS]


@lru_cache(maxsize=4_096)
def _short(name: str) -> str:
    """The first word of a name if it may be an abbreviation; else ""."""
    found = next(filter(None, _SEPARATORS.split(name)), "")
    capitals = sum(map(str.isupper, found)) >= MIN_CAPITALS
    return found if capitals and len(found.casefold()) <= LONGEST_PART * MOST_WORDS else ""


@lru_cache(maxsize=64)
def _letters(whole: str) -> frozenset[str]:
    return frozenset("".join(_words(whole)))


def forms_of(query: str) -> tuple[str, ...]:
    """The forms of a question that a name may abbreviate: whole, and without common words.

    >>> forms_of("what is the average vehicle lifetime")
    ('what is the average vehicle lifetime', 'average vehicle lifetime')
    """
    telling = " ".join(word for word in query.split() if word.casefold() not in STOP_WORDS)
    return tuple(dict.fromkeys((query, telling)))


def initials_of(whole: str) -> str:
    """The first letters of all words, small.

    >>> initials_of("Annual Improvement in Battery Capacity by Vehicle Type")
    'aiibcbvt'
    """
    return "".join(word[0] for word in _words(whole))


def is_main(record: SheetRecord) -> bool:
    """True if a sheet's name abbreviates its workbook's: it holds what the workbook is about."""
    return abbreviates(record.sheet, record.workbook_name)


def abbreviates(name: str, whole: str) -> bool:
    """True if the first word of a name is made of the beginnings of another name's words.

    The parts come in the order of the words, up to four letters each. After its first letter a
    part has small letters, unless it is a whole word: "DATA" does not abbreviate *Daily Tariffs*.
    Words may be left out, as long as the parts stand for two words or more, and for three fifths
    of them. At least two letters of the abbreviation are capitals.

    >>> abbreviates("EVCAP-A", "EV Charging Availability Parameters")
    True
    >>> abbreviates("BNoGP", "BAU Number of Gas Pumps"), abbreviates("Gas", "Gas Prices")
    (True, False)
    """
    short = _short(name)
    if not short:
        return False
    letters = short.casefold()
    words = _words(whole)
    wanted = max(MIN_WORDS, MIN_SHARE * len(words))
    # Of many names most are told apart by these.
    if not wanted <= len(letters) <= LONGEST_PART * len(words):
        return False
    if not _letters(whole).issuperset(letters):
        return False

    @cache
    def most(start: int, word: int) -> int:
        """Most words that the letters from a place on stand for; below 0 if they fit none."""
        if start == len(letters):
            return 0
        if word == len(words):
            return -len(words) - 1
        best = most(start, word + 1)
        for size in range(1, LONGEST_PART + 1):
            if letters[start : start + size] != words[word][:size] or size > len(words[word]):
                break
            if size == len(words[word]) or size == 1 or short[start + 1 : start + size].islower():
                best = max(best, 1 + most(start + size, word + 1))
        return best

    return most(0, 0) >= wanted
