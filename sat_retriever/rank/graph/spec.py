"""Describe a trained reranker: its inputs and its identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from sat_retriever.errors import InputError
from sat_retriever.rank.graph.channels import check_channels

Start = Literal["dense", "fused", "links"]
FEATURES = ("lexical", "dense", "fused")


@dataclass(frozen=True, slots=True)
class GraphSpec:
    """The inputs of a trained reranker; saved beside its weights.

    Attributes:
        encoder: Fingerprint of the Sheet Encoder whose tokens it was trained on.
        serialization: Fingerprint of the texts that those tokens were made from.
        width: Token width d.
        start: Score that ranked its candidates: "dense" is the cosine, "fused" mixes cosine and
            words, "links" adds the training-free link reranker to that.
        dense_weight: Share of the cosine in the fused score that finds candidates, whatever ranks
            them afterwards; 1 is the cosine alone.
        candidates: Candidates per query that it was trained on, the paper's K.
        features: Its f inputs per sheet beyond token and score, in order, from "lexical" (BM25),
            "dense" (cosine) and "fused" (both).
        channels: The c relations of the graph, in order; see `rank.graph.channels`.
        layers: Message-passing layers; 0 for a base scorer alone.
        complete_share: Share of the best score, in (0, 1], that a sheet of a complete answer needs
            (`SheetRetriever.retrieve_set`); scores are probabilities.

    Raises:
        InputError: If a name is unknown or a number out of its range.
    """

    encoder: str
    serialization: str
    width: int
    start: Start
    dense_weight: float
    candidates: int
    features: tuple[str, ...]
    channels: tuple[str, ...]
    layers: int
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
        """Read a spec from the output of `to_dict`.

        Raises:
            InputError: If a field is missing, unknown (a newer version wrote it) or invalid.
        """
        wrong = sorted({field.name for field in fields(cls)} ^ set(values))
        if wrong:
            raise InputError(
                f"the reranker's config.json has other fields than this version reads "
                f"({', '.join(wrong)}); upgrade sat-retriever or train again"
            )
        lists = {name: tuple(values[name]) for name in ("features", "channels")}
        return cls(**{**values, **lists})
