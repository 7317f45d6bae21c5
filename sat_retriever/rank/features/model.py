"""The trained part of the feature reranker: a small network in numpy, its guard and its folder."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sat_retriever.encoder.models.folder import damaged, write_folder
from sat_retriever.errors import InputError
from sat_retriever.rank.features.features import FEATURES, RELATIONS, ListInputs
from sat_retriever.rank.trained import read_spec
from sat_retriever.records.tokens import FloatArray

_FIRST = 5  # candidates whose features are also described apart from the others
_NEAREST = 9  # neighbours of a list; the distance of the last one counts
_MOST_DEVIATIONS = 6.0  # standard deviations
_DIRECTIONS = 12  # of most variance, in which lists are compared
_EXAMPLES = 1_500  # lists that are kept
_ARRAYS = ("mean", "spread", "centre", "directions", "scale", "examples")
_FULL, _NONE = 0.90, 0.97  # quantiles of the learnt lists' own distances


def described(features: FloatArray) -> FloatArray:
    """Return features (k, f) as one vector (3 f,): first, means of first five and of all."""
    return np.concatenate([features[0], features[:_FIRST].mean(axis=0), features.mean(axis=0)])


@dataclass(frozen=True, slots=True, eq=False)
class Familiarity:
    """The lists that a model learnt from, and the distances at which others are strange.

    Two distances count: to the ninth nearest learnt list in the directions in which these vary
    most, and what a list has in all other directions. Up to the 90 % quantile of the learnt
    lists' own distances a list is familiar; from their 97 % quantile on it is strange.

    Source: Sun et al. 2022, "Out-of-distribution detection with deep nearest neighbors". Departs:
    the vectors are descriptions of lists, and what principal components leave out counts too.
    """

    mean: FloatArray  # mean of the descriptions, (n,)
    spread: FloatArray  # their standard deviation, (n,)
    centre: FloatArray  # mean of the clipped standardised descriptions, (n,)
    directions: FloatArray  # directions of most variance, (n, d)
    scale: FloatArray  # standard deviation in each direction, (d,)
    examples: FloatArray  # learnt lists in these directions, (m, d)
    near: tuple[float, float]  # distances to the ninth nearest at which familiarity is 1, and 0
    left: tuple[float, float]  # the same for what the directions leave out

    @classmethod
    def of(cls, lists: Sequence[FloatArray], seed: int = 0) -> Familiarity:
        """Learn from the features (k, f) of at least ten lists; `seed` chooses 1,500 of more."""
        raw = np.stack([described(each) for each in lists]).astype(np.float64)
        mean, spread = raw.mean(axis=0), raw.std(axis=0) + 1e-3
        clipped = ((raw - mean) / spread).clip(-_MOST_DEVIATIONS, _MOST_DEVIATIONS)
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
        """Return both distances of a `described` list; `without` leaves out one example."""
        clipped = ((description - self.mean) / self.spread).clip(
            -_MOST_DEVIATIONS, _MOST_DEVIATIONS
        ) - self.centre
        inside = clipped @ self.directions  # (d,)
        others = self.examples if without is None else np.delete(self.examples, without, axis=0)
        squared = ((others - inside / self.scale) ** 2).sum(axis=1)
        nearest = min(_NEAREST, len(squared)) - 1
        near = float(np.sqrt(np.partition(squared, nearest)[nearest]))
        left = float(np.linalg.norm(clipped - self.directions @ inside))
        return near, left

    def share(self, features: FloatArray) -> float:
        """Return how familiar a list of features (k, f), best first, is, in [0, 1]."""
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


FORMAT = "sat-features"
MODEL = "model.npz"
HIDDEN = (48, 24)
"""Widths of the two hidden layers."""
CLIP = 5.0
"""Standard deviations to which a feature is clipped."""
PAIRED = (
    "score", "share", "one over rank", "lift", "cosine", "words", "contents words", "covered",
    "covered by workbook", "only here", "sources", "targets",
)  # fmt: skip
"""Features of both sheets that a pull reads."""
ASKED = ("named", "in contents alone", "question words", "margin", "index with contents")
"""Features of the question that a pull reads."""
PULL_INPUTS = len(RELATIONS) + 2 * len(PAIRED) + len(ASKED)
PULL_HIDDEN = (32, 32)
"""Widths of the two hidden layers of a pull."""
PAIRED_COLUMNS, ASKED_COLUMNS = (
    [list(FEATURES).index(name) for name in names] for names in (PAIRED, ASKED)
)
_FAMILIARITY = "familiarity."  # before the names of its arrays
_NETWORK = (
    "mean", "spread",
    *(f"{name}.{part}{layer}" for name in ("own", "pull") for layer in (1, 2, 3) for part in "wb"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FeatureSpec:
    """The training data and inputs of a feature reranker; saved beside its weights."""

    encoder: str  # fingerprint of the Sheet Encoder whose cosines it was trained on
    serialization: str
    candidates: int
    features: tuple[str, ...]
    relations: tuple[str, ...]
    slope: float  # what a score of 1 adds to a logit; above 0
    bound: float  # most that a sheet's own features add to its logit or take from it; above 0
    pull_bound: float  # the same for the pulls of other sheets

    @property
    def most(self) -> float:
        """Most that a score moves either way."""
        return (self.bound + self.pull_bound) / self.slope

    def __post_init__(self) -> None:
        if (self.features, self.relations) != (tuple(FEATURES), RELATIONS):
            raise InputError(
                "it reads other features than this version of sat-retriever makes; upgrade "
                "sat-retriever, or train it again"
            )
        numbers = (self.candidates, self.slope, self.bound, self.pull_bound)
        if not all(number > 0 for number in numbers):
            raise InputError("its candidates, slope or a bound is 0 or less; train it again")


@dataclass(frozen=True, slots=True, eq=False)
class FeatureModel:
    r"""A network over features and relations of candidates, one number a candidate.

    .. math::
        m_i = b_o \tanh(\mathrm{MLP}_o(x_i) / b_o)
            + b_p \tanh(\tfrac{1}{b_p} \sum_{j \le p,\, r_{ij} \ne 0}
              \mathrm{MLP}_p([r_{ij}; x_i'; x_j'; q]))

    The first term reads the sheet's own features :math:`x_i`. The second is what the best sheets
    add to those that they are related to: it reads their relations :math:`r`, some features
    :math:`x'` of both, and some of the question :math:`q`.
    """

    spec: FeatureSpec
    # Its arrays by name: mean and spread of each feature (f,), and the weights.
    network: Mapping[str, FloatArray]
    familiarity: Familiarity

    def moves(self, inputs: ListInputs, *, guarded: bool = True) -> FloatArray:
        """Return what to add to each candidate's score, (k,), at most `spec.most` either way.

        It is multiplied by how familiar the list is: a list unlike those it learnt from keeps its
        order. For measurements, no list is `guarded`.
        """
        share = self.familiarity.share(inputs.features) if guarded else 1.0
        if not share:
            return np.zeros(len(inputs.features), dtype=np.float32)
        spec, relations = self.spec, inputs.relations
        state = (inputs.features - self.network["mean"]) / self.network["spread"]
        state = state.clip(-CLIP, CLIP)  # (k, f)
        own = _bounded(self._layers("own", state)[:, 0], spec.bound)
        pulled, pulling = np.nonzero(relations.any(axis=2))  # places of n related pairs
        paired = state[:, PAIRED_COLUMNS]
        asked = np.broadcast_to(state[0, ASKED_COLUMNS], (len(pulled), len(ASKED)))
        parts = (relations[pulled, pulling], paired[pulled], paired[pulling], asked)
        strength = self._layers("pull", np.concatenate(parts, axis=1))[:, 0]  # (n,)
        pulls = np.zeros(len(state), dtype=np.float32)
        np.add.at(pulls, pulled, strength)
        both = own + _bounded(pulls, spec.pull_bound)
        moves: FloatArray = (share / spec.slope * both).astype(np.float32)
        return moves

    def _layers(self, name: str, state: FloatArray) -> FloatArray:
        """Return the output of one of the two perceptrons, (n, 1)."""
        for number in (1, 2, 3):
            weight, bias = (self.network[f"{name}.{part}{number}"] for part in "wb")
            state = state @ weight.T + bias
            if number < 3:
                state = np.maximum(state, 0)
        return state

    def save(self, target: Path) -> None:
        """Write it into a folder; after a failure the old one is unchanged."""
        arrays = {_FAMILIARITY + name: each for name, each in self.familiarity.arrays().items()}
        arrays |= self.network

        def write(file: Path) -> None:
            with file.open("wb") as out:
                np.savez(out, **arrays)  # type: ignore[arg-type]

        write_folder(target, FORMAT, asdict(self.spec), {MODEL: write})

    @classmethod
    def load(cls, folder: str | Path) -> FeatureModel:
        """Read a folder."""
        folder = Path(folder)
        spec = read_spec(folder, FORMAT, FeatureSpec)
        try:
            with np.load(folder / MODEL, allow_pickle=False) as file:
                arrays = {name: np.asarray(file[name], dtype=np.float32) for name in file.files}
            of_lists = {
                name.removeprefix(_FAMILIARITY): each
                for name, each in arrays.items()
                if name.startswith(_FAMILIARITY)
            }
            network = {name: arrays[name] for name in _NETWORK}
            familiarity = Familiarity.from_arrays(of_lists)
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
            raise damaged(folder, MODEL) from error
        return cls(spec, network, familiarity)


def _bounded(values: FloatArray, bound: float) -> FloatArray:
    bounded: FloatArray = bound * np.tanh(values / bound)
    return bounded
