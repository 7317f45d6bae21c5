"""Choose the rows and columns of the source, the target, or both."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ColumnSplit:
    """The ids of the columns of two overlapping halves, each in the original order."""

    source: tuple[str, ...]
    target: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowSplit:
    """The numbers of the rows of two overlapping halves, ascending."""

    source: tuple[int, ...]
    target: tuple[int, ...]


def vertical(
    columns: Sequence[str], keys: Collection[str], overlap: float, chance: random.Random
) -> ColumnSplit:
    """Split columns into two halves that share the part `overlap` of all columns.

    Of n columns, floor(overlap * n) are in both halves, but at least two if there are three,
    and all keys; the rest is distributed evenly, an odd one to the target. Each half lacks
    some columns if at least two columns are in one half only.

    Source: the released pairs (`train.json`): all 501 follow this rule with 0.5, or with 0.7
    for up to five columns. Departs: columns keep their order (in the release the shared ones
    come first, in random order), and keys are always shared.

    Args:
        columns: Ids, left to right.
        keys: Those of them that must be in both halves.
        overlap: Share in [0, 1].
        chance: Source of random numbers.
    """
    least = min(2, max(1, len(columns) - 1))
    # The small addend prevents 0.7 * 10 from becoming 6.
    count = max(math.floor(overlap * len(columns) + 1e-9), least)
    kept = [column for column in columns if column in keys]
    others = [column for column in columns if column not in keys]
    chance.shuffle(others)
    free = max(0, min(count - len(kept), len(others)))
    shared, rest = {*kept, *others[:free]}, others[free:]
    half = len(rest) // 2
    source, target = shared | set(rest[:half]), shared | set(rest[half:])
    return ColumnSplit(
        tuple(column for column in columns if column in source),
        tuple(column for column in columns if column in target),
    )


def horizontal(count: int, overlap: float, chance: random.Random) -> RowSplit:
    """Split rows into two halves; the share `overlap` of the source's rows is also in the target.

    Of n rows the source has floor(n / 2), at least one; the target has all others and
    floor(overlap * floor(n / 2)) of the source's. No half is empty, and no row is lost.

    Source: the released pairs: the numbers of rows of all 501 follow this rule with 0.5.

    >>> split = horizontal(25, 0.5, random.Random(1))
    >>> len(split.source), len(split.target), len({*split.source} & {*split.target})
    (12, 19, 6)
    """
    rows = list(range(count))
    chance.shuffle(rows)
    half = max(1, count // 2)
    shared = math.floor(overlap * half + 1e-9) if count > 1 else half
    return RowSplit(tuple(sorted(rows[:half])), tuple(sorted([*rows[:shared], *rows[half:]])))
