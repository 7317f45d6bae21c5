"""Draw a house's things from lists: names, codes, and things with several fields."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, islice
from math import gcd

from sat_retriever.errors import InputError
from sat_retriever.synth.words.wordfiles import FIELDS, SEPARATOR

Lists = Mapping[str, tuple[str, ...]]
Chance = Callable[[str], random.Random]

PAIRS = {
    "employees": ("given_names", "family_names"),
    "people": ("given_names", "family_names"),
    "managers": ("given_names", "family_names"),
    "movies": ("movie_adjectives", "movie_nouns"),
}
"""The nouns whose things are pairs of words."""
CODES = ("_ids", "_codes", "_numbers")
"""The endings of nouns that are codes."""
_STYLES = (
    "{letter}-{n:04}",
    "{letters}{n:05}",
    "{letters}/{n:04}",
    "{letters}-{n:04}",
    "1{n:05}",
    "{letter}{n:06}",
)


def pool(noun: str, size: int, lists: Lists, chance: Chance) -> tuple[str, ...]:
    """Return `size` distinct things; a shorter pool is the beginning of a longer one."""
    return tuple(islice(_things(noun, lists, chance), size))


def _things(noun: str, lists: Lists, chance: Chance) -> Iterator[str]:
    if noun in FIELDS:
        of, place = FIELDS[noun]
        entries = _shuffled(_entries(of, lists), chance(of))
        return (entries[n % len(entries)].split(SEPARATOR)[place] for n in count())
    if noun in lists:
        names = [entry.split(SEPARATOR)[0] for entry in _shuffled(lists[noun], chance(noun))]
        return _numbered(names)
    if noun in PAIRS:
        first, second = PAIRS[noun]
        return pairs(_entries(first, lists), _entries(second, lists), chance(noun))
    if noun.endswith(CODES):
        return _codes(noun, chance(noun))
    raise InputError(f"there is no list, pair or code {noun!r}; lists.json has {sorted(lists)}")


def _entries(noun: str, lists: Lists) -> Sequence[str]:
    if not lists.get(noun):
        raise InputError(f"lists.json needs a list {noun!r} with at least one entry")
    return lists[noun]


def _shuffled(entries: Sequence[str], chance: random.Random) -> list[str]:
    return chance.sample(entries, len(entries))


def _numbered(names: Sequence[str]) -> Iterator[str]:
    """Yield the names, then "name 2" of each, then "name 3", and so on."""
    yield from names
    for n in count(2):
        for name in names:
            yield f"{name} {n}"


def pairs(first: Sequence[str], second: Sequence[str], chance: random.Random) -> Iterator[str]:
    """Yield every pair once in random order, then again with a number."""
    n = len(first) * len(second)
    step = _coprime(n, chance)
    start = chance.randrange(n)
    for place in count():
        one, other = divmod((start + place * step) % n, len(second))
        lap = place // n
        yield f"{first[one]} {second[other]}" + (f" {lap + 1}" if lap else "")


def _coprime(n: int, chance: random.Random) -> int:
    """Return a large step that is coprime to n, so that it visits every number below n once."""
    step = chance.randrange(n // 3, n) | 1 if n > 3 else 1
    while gcd(step, n) != 1:
        step += 1
    return step


def _codes(noun: str, chance: random.Random) -> Iterator[str]:
    words = noun.rpartition("_")[0].split("_")
    letters = (words[0][:3] if len(words) == 1 else "".join(word[0] for word in words)).upper()
    style, start = chance.choice(_STYLES), chance.choice((1, 1, 101, 1001, 4001))
    step = chance.choice((1, 1, 1, 2, 5))
    for n in count(start, step):
        yield style.format(letter=letters[0], letters=letters, n=n)
