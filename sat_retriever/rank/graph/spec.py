"""Describe a trained reranker, its inputs and its identity, and keep it as a folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from sat_retriever.encoder.models.folder import read_folder, reading, write_folder
from sat_retriever.encoder.onnx.compact import compact_onnx
from sat_retriever.errors import EncoderError, InputError
from sat_retriever.rank.graph.channels import check_channels

Start = Literal["dense", "fused", "links"]
FEATURES = ("lexical", "dense", "fused")


@dataclass(frozen=True, slots=True)
class GraphSpec:
    """The inputs of a trained reranker; saved beside its weights.

    Raises:
        InputError: If a name is unknown or a number out of its range.
    """

    encoder: str  # fingerprint of the Sheet Encoder whose tokens it was trained on
    serialization: str  # fingerprint of the texts that those tokens were made from
    width: int
    # Score that ranked its candidates: "dense" is the cosine, "fused" mixes cosine and words,
    # "links" adds the training-free link reranker to that.
    start: Start
    # Share of the cosine in the fused score that finds candidates, whatever ranks them afterwards;
    # 1 is the cosine alone.
    dense_weight: float
    candidates: int  # candidates per query that it was trained on, the paper's K
    # Its f inputs per sheet beyond token and score, in order, from "lexical" (BM25), "dense"
    # (cosine) and "fused" (both).
    features: tuple[str, ...]
    channels: tuple[str, ...]  # the c relations of the graph, in order; see `rank.graph.channels`
    layers: int  # message-passing layers; 0 for a base scorer alone
    # Share of the best score, in (0, 1], that a sheet of a complete answer needs
    # (`SheetRetriever.retrieve_set`); scores are probabilities.
    complete_share: float = 0.5

    def __post_init__(self) -> None:
        if self.start not in get_args(Start):
            known = ", ".join(get_args(Start))
            raise InputError(f"unknown start {self.start!r}; choose one of: {known}")
        for feature in self.features:
            if feature not in FEATURES:
                known = ", ".join(FEATURES)
                raise InputError(f"unknown feature {feature!r}; choose from: {known}")
        if not 0 <= self.dense_weight <= 1:
            raise InputError(f"dense_weight is {self.dense_weight}; give a share from 0 to 1")
        if not 0 < self.complete_share <= 1:
            share = self.complete_share
            raise InputError(f"complete_share is {share}; give a share above 0, at most 1")
        for name, least in (("width", 1), ("candidates", 1), ("layers", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}; give {least} or more")
        check_channels(self.channels)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        values = asdict(self)
        return {**values, "features": list(self.features), "channels": list(self.channels)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> GraphSpec:
        """Read a spec from the output of `to_dict`."""
        wrong = sorted({field.name for field in fields(cls)} ^ set(values))
        if wrong:
            raise InputError(
                f"the reranker's config.json has other fields than this version reads "
                f"({', '.join(wrong)}); upgrade sat-retriever or train again"
            )
        lists = {name: tuple(values[name]) for name in ("features", "channels")}
        return cls(**{**values, **lists})


FORMAT = "sat-reranker"
MODEL = "model.onnx"


def write_graph_folder(target: Path, spec: GraphSpec, write_model: Callable[[Path], None]) -> None:
    """Write a folder that `GraphModel.load` reads; after a failure the old one is unchanged."""
    write_folder(target, FORMAT, spec.to_dict(), {MODEL: write_model})


def read_graph_folder(folder: Path) -> GraphSpec:
    """Return the spec of a folder after checking its format, fingerprint and hashes."""
    values = read_folder(folder, FORMAT)
    try:
        with reading(folder, FORMAT):
            return GraphSpec.from_dict(values)
    except InputError as error:
        raise EncoderError(f"{folder} holds a reranker that cannot be used: {error}") from error


def copy_graph_folder(source: Path, target: Path, *, encoder: str | None = None) -> None:
    """Copy a reranker, for its own encoder or for one trained further from it.

    `encoder` is the fingerprint of the encoder whose tokens the copy will order; None keeps its
    own. The caller must measure how well it orders them, and how well the copied
    `complete_share` fits.
    """
    spec = read_graph_folder(source)
    if encoder is not None:
        spec = replace(spec, encoder=encoder)

    def copy_model(file: Path) -> None:
        shutil.copyfile(source / MODEL, file)

    write_graph_folder(target, spec, copy_model)


def compact_graph_folder(source: Path, target: Path) -> None:
    """Copy a reranker in half the space: weights in half precision, computed in fp32."""
    spec = read_graph_folder(source)
    write_graph_folder(target, spec, lambda file: compact_onnx(source / MODEL, file, "train"))
