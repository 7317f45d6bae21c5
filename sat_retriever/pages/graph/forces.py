"""Force-directed layout of rectangles: linked ones come to lie near each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pairs = NDArray[np.int64]

_SAMPLE = 300  # rectangles that repel all others in one step; all of them if there are fewer


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
    """Add the attraction along links to `push`, in place."""
    across = centres[pairs[:, 1]] - centres[pairs[:, 0]]
    force = across * (np.linalg.norm(across, axis=1) / unit * 0.5 * pull)[:, None]
    for axis in (0, 1):
        push[:, axis] += np.bincount(pairs[:, 0], force[:, axis], len(centres))
        push[:, axis] -= np.bincount(pairs[:, 1], force[:, axis], len(centres))
