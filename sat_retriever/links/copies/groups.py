"""Groups of copies: sheets that are connected by likeness to their neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Neighbours = Callable[[int], Iterable[int]]
Alike = Callable[[int, int], bool]


def group_of(start: int, neighbours: Neighbours, alike: Alike) -> set[int]:
    """All sheets that are connected with one by a chain of copies, itself included.

    What is found does not depend on the sheet of the group that it starts from. Weekly exports
    are one group although the first and the last have no row in common.

    Args:
        start: The sheet.
        neighbours: Sheets that one is compared with; symmetric.
        alike: True if two sheets are copies; symmetric.

    >>> near = {1: [2], 2: [1, 3], 3: [2, 4], 4: [3]}
    >>> sorted(group_of(3, near.__getitem__, lambda a, b: a + b < 7))
    [1, 2, 3]
    """
    found = {start}
    waiting = [start]
    while waiting:
        one = waiting.pop()
        for other in neighbours(one):
            if other not in found and alike(one, other):
                found.add(other)
                waiting.append(other)
    return found
