"""Places of rectangles: by forces between linked ones, then packed on a grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

_SAMPLE = 300  # rectangles that repel all others in one step; all of them if there are fewer
_CELLS = 12_000  # that all rectangles cover together: more are slower, fewer waste room
_SLACK = 1.6  # ratio of the grid's extent to that of a square with the area of all rectangles


def settle(sizes: Array, edges: Sequence[tuple[int, int, int]]) -> Array:
    """Centres, (n, 2), of linked rectangles; the rectangles may still overlap.

    Each step moves every rectangle away from the others (a random sample if there are many),
    along its links and towards the middle, a little less far than the step before. The longer
    extent of the result lies in x. Deterministic.

    Source: T. Fruchterman and E. Reingold, Graph drawing by force-directed placement (1991).
    Departs: rectangles have sizes; the paper places points.

    Args:
        sizes: Widths and heights, (n, 2).
        edges: Pairs of rows and the number of links between them; they connect all rows.
    """
    count = len(sizes)
    if count == 1:
        return np.zeros((1, 2))
    pairs: Pairs = np.array([(a, b) for a, b, _ in edges], dtype=np.int64)
    pull = np.log1p(np.array([links for _, _, links in edges], dtype=np.float64))
    degree = np.bincount(pairs.ravel(), minlength=count)
    unit = float(np.sqrt(np.mean(sizes.sum(axis=1) ** 2) / 2))  # extent of a typical rectangle
    turn = np.empty(count)
    turn[np.lexsort((np.arange(count), -degree))] = np.arange(count)  # most links: middle
    angle, radius = turn * 2.399963, unit * np.sqrt(turn + 0.5)
    centres = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    chance = np.random.default_rng(0)
    steps = 240 if count <= 600 else 140
    for step in range(steps):
        push = _push(centres, unit, chance)
        _add_springs(push, centres, pairs, pull, unit)
        push -= centres * 0.03
        length = np.linalg.norm(push, axis=1, keepdims=True)
        warmth = unit * 0.5 * (1 - step / steps)
        centres += push / np.maximum(length, 1e-9) * np.minimum(length, warmth)
    return _lying(centres)


def _lying(centres: Array) -> Array:
    """Rotate the centres so that the longer extent lies in x."""
    middle = centres - centres.mean(axis=0)
    _, _, axes = np.linalg.svd(middle, full_matrices=False)
    turned: Array = middle @ axes.T
    largest = np.abs(turned).argmax(axis=0)
    turned *= np.sign(turned[largest, [0, 1]])  # a singular vector's sign is arbitrary
    return turned


def _push(centres: Array, unit: float, chance: np.random.Generator) -> Array:
    """Repulsion, (n, 2), by all others, or by a random sample if there are many."""
    count = len(centres)
    if count <= 2 * _SAMPLE:
        others, share = centres, 1.0
    else:
        others, share = centres[chance.choice(count, _SAMPLE, replace=False)], count / _SAMPLE
    apart = (centres**2).sum(axis=1)[:, None] + (others**2).sum(axis=1)  # squared, (n, others)
    apart -= 2 * centres @ others.T
    weight = share * unit**2 / np.maximum(apart, (0.05 * unit) ** 2)
    push: Array = centres * weight.sum(axis=1)[:, None] - weight @ others
    return push


def _add_springs(push: Array, centres: Array, pairs: Pairs, pull: Array, unit: float) -> None:
    across = centres[pairs[:, 1]] - centres[pairs[:, 0]]
    force = across * (np.linalg.norm(across, axis=1) / unit * 0.5 * pull)[:, None]
    for axis in (0, 1):
        push[:, axis] += np.bincount(pairs[:, 0], force[:, axis], len(centres))
        push[:, axis] -= np.bincount(pairs[:, 1], force[:, axis], len(centres))


class Floor:
    """A grid of cells around the origin, free or taken.

    Args:
        sizes: Widths and heights, (n, 2), of all rectangles that will be placed on it.
    """

    def __init__(self, sizes: Array, shape: float) -> None:
        area = float(sizes.prod(axis=1).sum())
        self._cell = (area / _CELLS) ** 0.5
        extent = _SLACK * np.array([shape**0.5, shape**-0.5]) * area**0.5
        extent = np.maximum(extent, sizes.max(axis=0))
        self._count = np.ceil(extent / self._cell).astype(int)  # columns, lines
        self._taken = np.zeros(self._count[::-1], dtype=np.bool_)
        self._known: dict[tuple[int, int], NDArray[np.bool_]] = {}  # free places, by size

    def occupy(self, corner: Array, size: Array) -> None:
        """Mark the cells under a rectangle as taken, even if they already are."""
        (left, top), (right, bottom) = self._cells_of(np.array([corner, corner + size - 1e-6]))
        self._take(int(top), int(left), int(right - left) + 1, int(bottom - top) + 1)

    def occupy_lines(self, starts: Array, ends: Array) -> None:
        """Mark the cells under lines as taken; starts and ends are (m, 2) each."""
        lengths = np.abs(ends - starts).max(axis=1)
        steps = (lengths / self._cell).astype(int) + 2
        line = np.repeat(np.arange(len(steps)), steps)
        share = (np.arange(len(line)) - np.repeat(steps.cumsum() - steps, steps)) / (
            steps[line] - 1
        )
        columns, lines = self._cells_of(starts[line] + share[:, None] * (ends - starts)[line]).T
        self._taken[lines, columns] = True
        self._known.clear()

    def _cells_of(self, points: Array) -> NDArray[np.int64]:
        """Columns and lines, (m, 2), of the cells of points; outside points get the nearest."""
        cells = np.floor(points / self._cell + self._count / 2).astype(np.int64)
        inside: NDArray[np.int64] = np.clip(cells, 0, self._count - 1)
        return inside

    def place(self, size: Array, goal: Array, shape: float | None = None) -> Array:
        """Place a rectangle on free cells, mark them as taken, and return its upper left corner.

        Args:
            shape: Ratio of width to height of the frame around the goal that is to stay small;
                None for the plain distance to the goal.
        """
        wide, high = np.maximum(1, np.ceil(size / self._cell - 1e-9).astype(int))
        free = self._free(int(wide), int(high))
        while not free.any():
            self._grow()
            free = self._free(int(wide), int(high))
        x = (np.arange(free.shape[1]) + wide / 2 - self._count[0] / 2) * self._cell - goal[0]
        y = (np.arange(free.shape[0]) + high / 2 - self._count[1] / 2) * self._cell - goal[1]
        if shape is None:
            cost = x**2 + (y**2)[:, None]
        else:
            across = (np.abs(x) + size[0] / 2) / shape
            down = (np.abs(y) + size[1] / 2)[:, None]
            cost = np.maximum(across, down) + 0.01 * (across + down)
        cost[~free] = np.inf
        line, column = map(int, np.unravel_index(int(cost.argmin()), cost.shape))
        self._take(line, column, int(wide), int(high))
        corner: Array = (np.array([column, line]) - self._count / 2) * self._cell
        return corner

    def _take(self, line: int, column: int, wide: int, high: int) -> None:
        self._taken[line : line + high, column : column + wide] = True
        for (columns, lines), free in self._known.items():
            top, left = max(0, line - lines + 1), max(0, column - columns + 1)
            free[top : line + high, left : column + wide] = False

    def _free(self, wide: int, high: int) -> NDArray[np.bool_]:
        """Cells that can be the upper left corner of a free block, (lines, columns) bool."""
        if (wide, high) not in self._known:
            self._known[wide, high] = self._looked_up(wide, high)
        return self._known[wide, high]

    def _looked_up(self, wide: int, high: int) -> NDArray[np.bool_]:
        lines, columns = self._taken.shape
        if wide > columns or high > lines:
            return np.zeros((0, 0), dtype=np.bool_)
        summed = np.zeros((lines + 1, columns + 1), dtype=np.int32)
        summed[1:, 1:] = self._taken.cumsum(axis=0, dtype=np.int32).cumsum(axis=1)
        inside = summed[high:, wide:] - summed[:-high, wide:]
        inside -= summed[high:, :-wide] - summed[:-high, :-wide]
        free: NDArray[np.bool_] = inside == 0
        return free

    def _grow(self) -> None:
        """Extend the grid by about a quarter of its extent on every side."""
        more = self._count // 4 + 1
        self._taken = np.pad(self._taken, ((more[1], more[1]), (more[0], more[0])))
        self._count = self._count + 2 * more
        self._known.clear()


def bounds(corners: Array, sizes: Array) -> tuple[Array, Array]:
    """Upper left corner, and width and height, of the bounding box of rectangles."""
    low = corners.min(axis=0)
    return low, (corners + sizes).max(axis=0) - low


def by_area(sizes: Array) -> Sequence[int]:
    """Row numbers of rectangles, the largest rectangle first."""
    area = sizes.prod(axis=1)
    order: list[int] = np.lexsort((np.arange(len(sizes)), -area)).tolist()
    return order
