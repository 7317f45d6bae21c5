"""Group items by the keys that they share, and pick a few items evenly."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Name = TypeVar("Name", bound=Hashable)


def connected(items: Iterable[tuple[Name, Iterable[Hashable]]]) -> list[list[Name]]:
    """Group items that share a key, directly or through other items.

    Args:
        items: Items with their keys; a repeated item adds keys.

    Returns:
        Groups in the order of their first items; items of a group in their given order.

    >>> connected([("a", [1]), ("b", [2]), ("c", [1, 3]), ("d", [3]), ("b", [])])
    [['a', 'c', 'd'], ['b']]
    """
    from networkx.utils import UnionFind

    sets = UnionFind()
    first: dict[Hashable, Name] = {}
    order: dict[Name, None] = {}
    for item, keys in items:
        order[item] = None
        for key in keys:
            sets.union(item, first.setdefault(key, item))
    groups: dict[Name, list[Name]] = {}
    for item in order:
        groups.setdefault(sets[item], []).append(item)
    return list(groups.values())


def evenly(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most `most` items, spread evenly over all, including the first.

    >>> evenly("abcdef", 3), evenly("ab", 3), evenly("", 3)
    (['a', 'c', 'e'], ['a', 'b'], [])
    """
    number = min(most, len(items))
    return [items[place * len(items) // number] for place in range(number)]
