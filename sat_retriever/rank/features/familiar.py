"""Tell how much a candidate list looks like those that a model learnt from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sat_retriever.records.tokens import FloatArray

_FIRST = 5  # candidates whose features are also described apart from the others
_NEAREST = 9  # neighbours of a list; the distance of the last one counts
_CLIP = 6.0  # standard deviations
_DIRECTIONS = 12  # of most variance, in which lists are compared
_EXAMPLES = 1_500  # lists that are kept
_ARRAYS = ("mean", "spread", "centre", "directions", "scale", "examples")
_FULL, _NONE = 0.90, 0.97  # quantiles of the learnt lists' own distances


def described(features: FloatArray) -> FloatArray:
    """Return a list as one vector: features of the first, mean of the first five, of all, (3 f,).

    Args:
        features: Features of its candidates, best first, (k, f).
    """
    return np.concatenate([features[0], features[:_FIRST].mean(axis=0), features.mean(axis=0)])


@dataclass(frozen=True, slots=True, eq=False)
class Familiarity:
    """The lists that a model learnt from, and the distances at which others are strange.

    Two distances count: to the ninth nearest learnt list in the directions in which these vary
    most, and what a list has in all other directions. Up to the 90 % quantile of the learnt
    lists' own distances a list is familiar; from their 97 % quantile on it is strange.

    Source: Sun et al. 2022, "Out-of-distribution detection with deep nearest neighbors". Departs:
    the vectors are descriptions of lists, and what principal components leave out counts too.

    Attributes:
        mean: Mean of the descriptions, (n,).
        spread: Their standard deviation, (n,).
        centre: Mean of the clipped standardised descriptions, (n,).
        directions: Directions of most variance, (n, d).
        scale: Standard deviation in each direction, (d,).
        examples: Learnt lists in these directions, (m, d).
        near: Distances to the ninth nearest at which familiarity is 1, and 0.
        left: The same for what the directions leave out.
    """

    mean: FloatArray
    spread: FloatArray
    centre: FloatArray
    directions: FloatArray
    scale: FloatArray
    examples: FloatArray
    near: tuple[float, float]
    left: tuple[float, float]

    @classmethod
    def of(cls, lists: Sequence[FloatArray], seed: int = 0) -> Familiarity:
        """Learn from the features of lists.

        Args:
            lists: Features of the candidates of each list, (k, f) each; at least ten lists.
            seed: Decides which lists are kept, if there are more than 1,500.
        """
        raw = np.stack([described(each) for each in lists]).astype(np.float64)
        mean, spread = raw.mean(axis=0), raw.std(axis=0) + 1e-3
        clipped = ((raw - mean) / spread).clip(-_CLIP, _CLIP)
        centre = clipped.mean(axis=0)
        _, values, rows = np.linalg.svd(clipped - centre, full_matrices=False)
        count = min(_DIRECTIONS, len(values))
        directions, scale = rows[:count].T, values[:count] / np.sqrt(len(raw)) + 1e-6
        places = (clipped - centre) @ directions / scale
        chosen = np.random.default_rng(seed).permutation(len(raw))[:_EXAMPLES]
        arrays = (mean, spread, centre, directions, scale, places[chosen])
        parts = dict(zip(_ARRAYS, (each.astype(np.float32) for each in arrays), strict=True))
        found = cls(**parts, near=(0.0, 1.0), left=(0.0, 1.0))
        kept = {int(row): number for number, row in enumerate(chosen)}
        own = np.array(
            [found.distances(raw[row], without=kept.get(row)) for row in range(len(raw))]
        )
        near, left = np.quantile(own, (_FULL, _NONE), axis=0).T.tolist()
        return cls(**parts, near=(near[0], near[1]), left=(left[0], left[1]))

    def distances(
        self, description: NDArray[np.floating], *, without: int | None = None
    ) -> tuple[float, float]:
        """Return both distances of a list.

        Args:
            description: The list, see `described`.
            without: Number of the example that is this list itself.
        """
        clipped = ((description - self.mean) / self.spread).clip(-_CLIP, _CLIP) - self.centre
        inside = clipped @ self.directions  # (d,)
        others = self.examples if without is None else np.delete(self.examples, without, axis=0)
        squared = ((others - inside / self.scale) ** 2).sum(axis=1)
        nearest = min(_NEAREST, len(squared)) - 1
        near = float(np.sqrt(np.partition(squared, nearest)[nearest]))
        left = float(np.linalg.norm(clipped - self.directions @ inside))
        return near, left

    def share(self, features: FloatArray) -> float:
        """Return how familiar a list is, in [0, 1].

        Args:
            features: Features of its candidates, best first, (k, f).
        """
        found = self.distances(described(features))
        limits = (self.near, self.left)
        return min(_falling(value, *limit) for value, limit in zip(found, limits, strict=True))

    def arrays(self) -> Mapping[str, FloatArray]:
        """Return all of it as arrays by name."""
        bounds = {name: np.float32(getattr(self, name)) for name in ("near", "left")}
        return {name: getattr(self, name) for name in _ARRAYS} | bounds

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, FloatArray]) -> Familiarity:
        """Read what `arrays` gave."""
        near, left = (tuple(arrays[name].tolist()) for name in ("near", "left"))
        return cls(**{name: arrays[name] for name in _ARRAYS}, near=near, left=left)


def _falling(value: float, full: float, none: float) -> float:
    """Return 1 up to the first bound, 0 from the second on, and the line between."""
    return float(np.clip((none - value) / max(none - full, 1e-9), 0, 1))
