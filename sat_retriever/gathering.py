"""Items in groups by what they share, and a few of many items, evenly."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Name = TypeVar("Name", bound=Hashable)


def connected(items: Iterable[tuple[Name, Iterable[Hashable]]]) -> list[list[Name]]:
    """Items in groups: those that share a key, directly or through others, are in one.

    Args:
        items: Each item with its keys; one that comes again brings further keys.

    Returns:
        The groups in the order of their first items, the items of each in the order they came.

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
    """At most so many of the items, the first among them, spread evenly over all.

    >>> evenly("abcdef", 3), evenly("ab", 3), evenly("", 3)
    (['a', 'c', 'e'], ['a', 'b'], [])
    """
    number = min(most, len(items))
    return [items[place * len(items) // number] for place in range(number)]
