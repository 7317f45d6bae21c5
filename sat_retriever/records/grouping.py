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
    keys_of: dict[Name, list[Hashable]] = {}
    owners: dict[Hashable, list[Name]] = {}
    for item, keys in items:
        own = keys_of.setdefault(item, [])
        for key in keys:
            own.append(key)
            owners.setdefault(key, []).append(item)
    group_of: dict[Name, int] = {}
    for number, start in enumerate(keys_of):
        waiting = [] if start in group_of else [start]
        while waiting:
            item = waiting.pop()
            if item not in group_of:
                group_of[item] = number
                # A key leads to its items once.
                waiting += [other for key in keys_of[item] for other in owners.pop(key, ())]
    groups: dict[int, list[Name]] = {}
    for item in keys_of:
        groups.setdefault(group_of[item], []).append(item)
    return list(groups.values())


def evenly(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most `most` items, spread evenly over all, including the first.

    >>> evenly("abcdef", 3), evenly("ab", 3), evenly("", 3)
    (['a', 'c', 'e'], ['a', 'b'], [])
    """
    number = min(most, len(items))
    return [items[place * len(items) // number] for place in range(number)]
