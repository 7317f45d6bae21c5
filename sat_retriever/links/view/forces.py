"""Rectangles moved by forces: linked ones near each other, none over another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

PAGE = 1.6  # width of the whole to its height
GAP = (34.0, 58.0)  # room between rectangles, at least; a title stands above each
_ROOM = 1.6  # area that linked rectangles are given, to the area they cover
_SAMPLE = 300  # rectangles that push every other one in a step; all of them when there are fewer


def settle(sizes: Array, edges: Sequence[tuple[int, int, int]]) -> Array:
    """Left upper corners, (n, 2), of rectangles that links hold together.

    Each is pushed away by the others (by a random sample of them when they are many), drawn
    along its links and to the middle, a little less far every step. They are then spread
    evenly over an ellipse, and pushed apart until none overlap. Deterministic.

    Source: T. Fruchterman and E. Reingold, Graph drawing by force-directed placement (1991).
    Departs: the spreading, and sizes other than points.

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
    unit = float(np.sqrt(np.mean(sizes.sum(axis=1) ** 2) / 2))  # a usual rectangle's extent
    turn = np.empty(count)
    turn[np.lexsort((np.arange(count), -degree))] = np.arange(count)  # best linked: middle
    angle, radius = turn * 2.399963, unit * np.sqrt(turn + 0.5)
    centres = np.stack([radius * np.cos(angle) * PAGE**0.5, radius * np.sin(angle)], axis=1)
    chance = np.random.default_rng(0)
    steps = 240 if count <= 600 else 140
    for step in range(steps):
        push = _push(centres, unit, chance)
        _add_springs(push, centres, pairs, pull, unit)
        push -= centres * 0.03 * np.array([1.0, PAGE])
        length = np.linalg.norm(push, axis=1, keepdims=True)
        warmth = unit * 0.5 * (1 - step / steps)
        centres += push / np.maximum(length, 1e-9) * np.minimum(length, warmth)
    roomy = sizes + np.array(GAP)
    return _apart(_spread(centres, roomy), roomy) - sizes / 2


def _push(centres: Array, unit: float, chance: np.random.Generator) -> Array:
    """Repulsion, (n, 2): from all others, or from a random sample when they are many."""
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
    """Attraction along links, added in place to what pushes the rectangles."""
    across = centres[pairs[:, 1]] - centres[pairs[:, 0]]
    force = across * (np.linalg.norm(across, axis=1) / unit * 0.5 * pull)[:, None]
    for axis in (0, 1):
        push[:, axis] += np.bincount(pairs[:, 0], force[:, axis], len(centres))
        push[:, axis] -= np.bincount(pairs[:, 1], force[:, axis], len(centres))


def _spread(centres: Array, sizes: Array) -> Array:
    """The same directions and order from the middle, in an ellipse filled evenly."""
    middle = (centres - np.median(centres, axis=0)) * np.array([1.0, PAGE])
    distance = np.maximum(np.linalg.norm(middle, axis=1), 1e-9)
    order = np.lexsort((np.arange(len(centres)), distance))
    area = sizes.prod(axis=1)[order]
    radius = np.empty(len(centres))
    radius[order] = np.sqrt(_ROOM * (area.cumsum() - area / 2) / np.pi)
    stretched: Array = middle * (radius / distance)[:, None]
    stretched *= np.array([PAGE**0.5, PAGE**-0.5])
    return stretched


def _apart(centres: Array, sizes: Array) -> Array:
    """Centres moved until no two rectangles overlap: along the axis that needs less."""
    passes = 0
    while _push_apart(centres, sizes):
        passes += 1
        if passes % 25 == 0:  # too tight to come to rest
            centres *= 1.1
    return centres


def _push_apart(centres: Array, sizes: Array) -> bool:
    """One pass over all pairs that are near in x; whether any overlapped."""
    order = np.lexsort((centres[:, 1], centres[:, 0]))
    shift, touching = np.zeros_like(centres), np.zeros(len(centres))
    widest = float(sizes[:, 0].max())
    for ahead in range(1, len(order)):
        first, second = order[:-ahead], order[ahead:]
        near = centres[second, 0] - centres[first, 0] < widest
        if not near.any():
            break
        _add_overlaps(shift, touching, (first[near], second[near]), centres, sizes)
    # The mean of what the neighbours ask for, a little more: the sum would swing.
    centres += shift / np.maximum(0.6 * touching, 1)[:, None]
    return bool(touching.any())


def _add_overlaps(
    shift: Array, touching: Array, pairs: tuple[Pairs, Pairs], centres: Array, sizes: Array
) -> None:
    """For each pair that overlaps, half of the way apart is added to either's shift."""
    first, second = pairs
    across = centres[second] - centres[first]
    over = (sizes[first] + sizes[second]) / 2 - np.abs(across)
    meets = (over > 1e-6).all(axis=1)
    if not meets.any():
        return
    first, second, across, over = first[meets], second[meets], across[meets], over[meets]
    axis = over.argmin(axis=1)
    row = np.arange(len(axis))
    away = np.where(across[row, axis] < 0, -1.0, 1.0) * (over[row, axis] * 0.5 + 0.01)
    shift[first, axis] -= away  # each card is first, and second, at most once in a call
    shift[second, axis] += away
    touching[first] += 1
    touching[second] += 1
