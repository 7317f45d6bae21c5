"""A feature reranker of random weights, whose guard knows some questions of an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from sat_retriever.index.index import SheetIndex
from sat_retriever.rank.features.features import (
    FEATURES,
    RELATIONS,
    CandidateList,
    candidate_list,
    list_inputs,
)
from sat_retriever.rank.features.model import (
    HIDDEN,
    PULL_HIDDEN,
    PULL_INPUTS,
    Familiarity,
    FeatureModel,
    FeatureSpec,
)
from sat_retriever.rank.links.linkrank import LinkReranker


def list_of(index: SheetIndex, text: str, k: int = 50) -> CandidateList:
    """The candidates of a question after links."""
    question = index.question(text)
    first = index.search.candidate_set(question, index.candidates(question, k))
    return candidate_list(first, LinkReranker().order(first))


def small_model(index: SheetIndex, texts: Sequence[str], seed: int = 0) -> FeatureModel:
    """A model for an index, to which the lists of these questions are familiar."""
    draw = np.random.default_rng(seed)
    network = {"mean": np.zeros(len(FEATURES)), "spread": np.ones(len(FEATURES))}
    shapes = {"own": (len(FEATURES), *HIDDEN, 1), "pull": (PULL_INPUTS, *PULL_HIDDEN, 1)}
    for name, widths in shapes.items():
        for number, (inner, outer) in enumerate(pairwise(widths), start=1):
            network[f"{name}.w{number}"] = draw.normal(scale=0.5, size=(outer, inner))
            network[f"{name}.b{number}"] = draw.normal(size=outer)
    spec = FeatureSpec(
        index.fingerprint, index.serialization.fingerprint, 50, tuple(FEATURES), RELATIONS,
        slope=20.0, bound=2.0, pull_bound=6.0,
    )  # fmt: skip
    lists = [list_inputs(list_of(index, text)).features for text in texts]
    arrays = {name: value.astype(np.float32) for name, value in network.items()}
    guard = replace(Familiarity.of(lists), near=(1e6, 2e6), left=(10.0, 20.0))  # wide, for so few
    return FeatureModel(spec, arrays, guard)


def save_small_features(folder: Path, index: SheetIndex, texts: Sequence[str]) -> Path:
    """The folder, with that model."""
    small_model(index, texts).save(folder)
    return folder
