"""Describe the inputs of a trained graph reranker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from sat_retriever.errors import InputError
from sat_retriever.rank.graph.channels import check_channels

Start = Literal["dense", "fused", "links"]
FEATURES = ("lexical", "dense", "fused")


@dataclass(frozen=True, slots=True)
class GraphSpec:
    """The inputs of a trained reranker; saved beside its weights."""

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


FORMAT = "sat-reranker"
MODEL = "model.onnx"
