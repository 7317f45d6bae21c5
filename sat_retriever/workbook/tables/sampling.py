"""A fair and stable sample of texts that do not all fit."""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

CELL_BYTES = 12
"""What a text costs beside its own bytes: its address, and what stands around both."""

_BYTES = methodcaller("encode", "utf-8", "surrogatepass")


def fair_sample(groups: Sequence[Sequence[str]], room: int) -> list[list[int]]:
    """Texts of each group that fit into some room, by their position, ascending.

    The groups take turns, each with the text of the least hash that it has left, until the
    room is used up. So a long column leaves room for others, a text stands the same chance in
    every row, and it is taken or left again when other texts are added or go.

    Args:
        groups: Distinct texts, for example of each column.
        room: Bytes of all texts together, with `CELL_BYTES` for each.

    >>> fair_sample([["a", "b"], ["c"]], 3 * 13)
    [[0, 1], [0]]
    >>> [len(kept) for kept in fair_sample([list(map(str, range(1000))), ["c"]], 10 * 16)]
    [9, 1]
    """
    costs = [text_costs(texts) for texts in groups]
    if sum(int(each.sum()) for each in costs) <= room:
        return [list(range(len(texts))) for texts in groups]
    orders = [np.argsort(hashes(texts), kind="stable") for texts in groups]
    group = np.repeat(np.arange(len(groups)), [len(order) for order in orders])
    place = np.concatenate(orders)
    turn = np.concatenate([np.arange(len(order)) for order in orders])
    cost = np.concatenate([each[order] for each, order in zip(costs, orders, strict=True)])
    in_turn = np.lexsort((group, turn))
    taken = in_turn[: int(np.searchsorted(np.cumsum(cost[in_turn]), room, side="right"))]
    kept: list[list[int]] = [[] for _ in groups]
    for each, position in zip(group[taken].tolist(), place[taken].tolist(), strict=True):
        kept[each].append(position)
    return [sorted(positions) for positions in kept]


def least(texts: Sequence[str], most: int) -> list[bool]:
    """Which texts are among those of the least hashes; more than `most` only if hashes are equal.

    >>> least(["a", "b"], 2), sum(least(["a", "b", "c"], 2))
    ([True, True], 2)
    """
    if len(texts) <= most:
        return [True] * len(texts)
    found = hashes(texts)
    chosen: list[bool] = (found <= np.partition(found, most - 1)[most - 1]).tolist()
    return chosen


def hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    """A hash of each text that is the same in every process and version.

    The checksums of similar texts are similar; SplitMix64's last steps spread them out.
    """
    sums = np.fromiter(map(crc32, map(_BYTES, texts)), dtype=np.uint64, count=len(texts))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        sums = (sums ^ (sums >> np.uint64(shift))) * np.uint64(factor)
    return sums ^ (sums >> np.uint64(31))


def text_costs(texts: Sequence[str]) -> NDArray[np.int64]:
    """Bytes of each text, with what it costs beside them."""
    sizes = np.fromiter(map(len, map(_BYTES, texts)), dtype=np.int64, count=len(texts))
    return sizes + CELL_BYTES
