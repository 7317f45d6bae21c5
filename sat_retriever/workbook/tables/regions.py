"""Division of a sheet into blocks of cells: rectangles between blank rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.area import Area
from sat_retriever.workbook.values.cells import KindArray

MAX_BLOCKS = 256
MAX_DEPTH = 4
MAX_GAP = 4
MAX_LONE = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules beyond blank lines for where one block ends and the next begins."""

    below: Callable[[Area, Area], bool]  # True if a block continues the one above it
    beside: Callable[[Area, Area], bool]  # True if a block continues the one to its left
    lone: Callable[[Area], bool]  # True if a block is a single text, such as a section title
    whole: Callable[[Area], bool]  # True if a block must not be cut further


@dataclass(frozen=True, slots=True)
class _Plane:
    """Cells to cut: kind codes, (rows, columns), and bridges, (bridges, 3): row, left, right."""

    kinds: KindArray
    bridges: NDArray[np.int64]

    def bridged(self, area: Area) -> NDArray[np.bool_]:
        """Mask of an area's columns that a bridge covers, (columns,) bool."""
        rows, left, right = self.bridges.T
        here = (rows >= area.top) & (rows <= area.bottom)
        here &= (left >= area.left) & (left <= area.right)
        edges = np.zeros(area.right - area.left + 2, dtype=np.int64)
        np.add.at(edges, left[here] - area.left, 1)
        np.add.at(edges, np.minimum(right[here], area.right) + 1 - area.left, -1)
        return np.asarray(edges.cumsum()[:-1] > 0)


def find_blocks(kinds: KindArray, rules: Rules, bridges: Sequence[Area] = ()) -> list[Area]:
    """The sheet's blocks in reading order, as 0-based inclusive rectangles, at most 256.

    A region is cut at its blank rows, each band at its blank columns, and so on, at most four
    levels deep. Neighbours that belong together are joined again right after each cut: a table with
    a spacer row, a header apart from its data. Columns that a merged cell of `bridges` covers in
    its first row are not cut. In a sheet with more blocks, small gaps no longer cut, and blocks
    further down are left out. Kind codes are (rows, columns); 0 is an empty cell.
    """
    whole = trim(kinds, Area(0, 0, kinds.shape[0] - 1, kinds.shape[1] - 1))
    if whole is None:
        return []
    spans = [(area.top, area.left, area.right) for area in bridges]
    plane = _Plane(kinds, np.array(spans, dtype=np.int64).reshape(-1, 3))
    return _cut(plane, whole, rules, 0, MAX_BLOCKS)


def trim(kinds: KindArray, area: Area) -> Area | None:
    """The smallest part of an area with all its filled cells; None without any."""
    part = kinds[area.part]
    rows, cols = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
    if not len(rows):
        return None
    return Area(
        area.top + int(rows[0]),
        area.left + int(cols[0]),
        area.top + int(rows[-1]),
        area.left + int(cols[-1]),
    )


def _cut(plane: _Plane, area: Area, rules: Rules, depth: int, room: int) -> list[Area]:
    blocks: list[Area] = []
    for band in _join(_split(plane, area, axis=1), rules.below, rules.lone):
        parts = _join(_split(plane, band, axis=0), rules.beside, lambda _: False)
        last = len(parts) == 1 or depth + 1 >= MAX_DEPTH
        for part in parts:
            if last or rules.whole(part):
                blocks.append(part)
            else:
                blocks += _cut(plane, part, rules, depth + 1, room - len(blocks))
        if len(blocks) >= room:
            break
    return blocks[: max(room, 0)]


def _split(plane: _Plane, area: Area, *, axis: int) -> list[Area]:
    """Cut an area at its blank lines: rows for axis 1, columns for axis 0."""
    part = plane.kinds[area.part]
    line = np.asarray(part.any(axis=axis))
    pieces = []
    for start, stop in _runs(line if axis == 1 else line | plane.bridged(area)):
        if axis == 1:
            piece = Area(area.top + start, area.left, area.top + stop, area.right)
        else:
            piece = Area(area.top, area.left + start, area.bottom, area.left + stop)
        trimmed = trim(plane.kinds, piece)
        if trimmed is not None:
            pieces.append(trimmed)
    return pieces


def _runs(line: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last index of each run of True; smallest gaps are closed until 256 are left."""
    padded = np.concatenate(([False], line, [False]))
    edges = np.diff(padded.astype(np.int8))
    starts, stops = (edges == 1).nonzero()[0], (edges == -1).nonzero()[0] - 1
    gap = 1
    while len(starts) > MAX_BLOCKS:
        gap *= 2
        wide = starts[1:] - stops[:-1] > gap
        starts = np.concatenate((starts[:1], starts[1:][wide]))
        stops = np.concatenate((stops[:-1][wide], stops[-1:]))
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def _join(
    pieces: list[Area], joins: Callable[[Area, Area], bool], lone: Callable[[Area], bool]
) -> list[Area]:
    """Join neighbours for which `joins` is True, from first to last.

    Up to `MAX_LONE` single texts between two parts of a table (section titles) are joined with
    them.
    """
    joined: list[Area] = []
    for piece in pieces:
        back = 1
        while back <= min(MAX_LONE, len(joined) - 1) and lone(joined[-back]):
            back += 1
        for steps in range(1, min(back, len(joined)) + 1):
            if _near(joined[-steps:], piece) and joins(joined[-steps], piece):
                joined[-steps:] = [Area.around([*joined[-steps:], piece])]
                break
        else:
            joined.append(piece)
    return joined


def _near(pieces: list[Area], piece: Area) -> bool:
    """True if no gap between successive pieces is wider than `MAX_GAP`."""
    line = [*pieces, piece]
    return all(
        max(after.top - before.bottom, after.left - before.right) - 1 <= MAX_GAP
        for before, after in pairwise(line)
    )
