"""The trained part of the feature reranker: a small network in numpy, and its folder."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from sat_retriever.errors import EncoderError, InputError
from sat_retriever.models.folder import damaged, read_folder, reading, write_folder
from sat_retriever.rank.features.familiar import Familiarity
from sat_retriever.rank.features.features import FEATURES
from sat_retriever.records.tokens import FloatArray

FORMAT = "sat-features"
MODEL = "model.npz"
HIDDEN = (48, 24)
"""Widths of the two hidden layers."""
CLIP = 5.0
"""Standard deviations to which a feature is clipped."""
_FAMILIARITY = "familiarity."  # before the names of its arrays
_NETWORK = ("mean", "spread", "w1", "b1", "w2", "b2", "w3", "b3")


@dataclass(frozen=True, slots=True)
class FeatureSpec:
    """What a feature reranker was trained on; saved beside its numbers.

    Attributes:
        encoder: Fingerprint of the Sheet Encoder whose cosines it was trained on.
        serialization: Fingerprint of the sheet texts.
        candidates: Candidates of a question, the paper's K.
        features: Names of its inputs, in order.
        slope: What a score of 1 adds to a logit; above 0.
        bound: Most that the network adds to a logit or takes from it; above 0.

    Raises:
        InputError: If it reads other features than this version makes, or a number is out of range.
    """

    encoder: str
    serialization: str
    candidates: int
    features: tuple[str, ...]
    slope: float
    bound: float

    def __post_init__(self) -> None:
        if self.features != tuple(FEATURES):
            raise InputError(
                "it reads other features than this version of sat-retriever makes; upgrade "
                "sat-retriever, or train it again"
            )
        if self.candidates < 1 or not self.slope > 0 or not self.bound > 0:
            raise InputError("its candidates, slope or bound is 0 or less; train it again")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> FeatureSpec:
        """Read what `dataclasses.asdict` gave.

        Raises:
            InputError: If a field is missing or unknown, or see above.
        """
        if {field.name for field in fields(cls)} != set(values):
            raise InputError("its config.json has other fields than this version reads; upgrade")
        return cls(**{**values, "features": tuple(values["features"])})


@dataclass(frozen=True, slots=True, eq=False)
class FeatureModel:
    """A network over features of candidates: two hidden layers, one number a candidate.

    Attributes:
        spec: What it was trained on.
        network: Its arrays by name: mean and spread of each feature (f,), and the weights.
        familiarity: The lists that it learnt from.
    """

    spec: FeatureSpec
    network: Mapping[str, FloatArray]
    familiarity: Familiarity

    def moves(self, features: FloatArray, *, guarded: bool = True) -> FloatArray:
        """Return what to add to each candidate's score, (k,), at most `bound / slope` either way.

        The network's output is bounded by a tanh, and multiplied by how familiar the list is: a
        list unlike those it learnt from keeps its order.

        Args:
            features: Features of the candidates, best first, (k, f); see `feature_matrix`.
            guarded: False moves every list as if it were familiar, for measurements.
        """
        share = self.familiarity.share(features) if guarded else 1.0
        if not share:
            return np.zeros(len(features), dtype=np.float32)
        own, spec = self.network, self.spec
        state = ((features - own["mean"]) / own["spread"]).clip(-CLIP, CLIP)
        state = np.maximum(state @ own["w1"].T + own["b1"], 0)
        state = np.maximum(state @ own["w2"].T + own["b2"], 0)
        logits = (state @ own["w3"].T + own["b3"])[:, 0]  # (k,)
        bounded = spec.bound * np.tanh(logits / spec.bound)
        moves: FloatArray = (share / spec.slope * bounded).astype(np.float32)
        return moves

    def save(self, target: Path) -> None:
        """Write it into a folder; after a failure the old one is unchanged.

        Raises:
            EncoderError: If it cannot be written, or something else is at that path.
        """
        arrays = {_FAMILIARITY + name: each for name, each in self.familiarity.arrays().items()}
        arrays |= self.network

        def write(file: Path) -> None:
            with file.open("wb") as out:
                np.savez(out, **arrays)  # type: ignore[arg-type]

        spec = asdict(self.spec) | {"features": list(self.spec.features)}
        write_folder(target, FORMAT, spec, {MODEL: write})

    @classmethod
    def load(cls, folder: str | Path) -> FeatureModel:
        """Read a folder.

        Raises:
            EncoderError: If it is not such a reranker, is damaged, or of another version.
        """
        folder = Path(folder)
        spec = read_feature_spec(folder)
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


def copy_feature_folder(folder: Path, target: Path, encoder: str) -> None:
    """Copy a reranker for another encoder, given by its fingerprint.

    Raises:
        EncoderError: If it is no such reranker or is damaged, or the target cannot be written.
    """
    model = FeatureModel.load(folder)
    replace(model, spec=replace(model.spec, encoder=encoder)).save(target)


def read_feature_spec(folder: Path) -> FeatureSpec:
    """Return the spec of a folder after checking its format, fingerprint and hashes.

    Raises:
        EncoderError: If it is missing, incomplete, damaged, or of another kind or version.
    """
    values = read_folder(folder, FORMAT)
    try:
        with reading(folder, FORMAT):
            return FeatureSpec.from_dict(values)
    except InputError as error:
        raise EncoderError(f"the reranker in {folder} cannot be used: {error}") from error
