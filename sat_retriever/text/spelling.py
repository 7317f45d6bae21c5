"""Words that a misspelt one may mean: those within one or two changes of a letter."""

from __future__ import annotations

from collections.abc import Callable, Iterable

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
        word: A word without known spelling, in small letters.
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
