"""Convert a trained scorer to a reranker folder that runs without torch, and back."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import normalize

from sat_retriever.encoder.onnx.compact import onnx_weights
from sat_retriever.encoder.onnx.export import export_onnx
from sat_retriever.errors import TrainingError
from sat_retriever.rank.graph.spec import MODEL, GraphSpec, read_graph_folder, write_graph_folder
from sat_retriever.train.reranker.scorer import BaseScorer, GraphScorer, ScorerShape

_EXTRA = "train"  # installs onnx
_EXAMPLE = 5  # candidates of the export's example; the model takes any number


class OneBase(nn.Module):
    """A base scorer for one question without padding, for export to ONNX."""

    def __init__(self, scorer: BaseScorer) -> None:
        super().__init__()
        self.scorer = scorer

    def forward(
        self,
        query: torch.Tensor,
        tokens: torch.Tensor,
        scores: torch.Tensor,
        features: torch.Tensor,
    ) -> torch.Tensor:
        """Return logits (k,) of query (d,), tokens (k, d), scores (k,), features (k, f)."""
        mask = torch.ones_like(scores, dtype=torch.bool)
        logits: torch.Tensor = self.scorer(
            query[None], tokens[None], scores[None], features[None], mask[None]
        )
        return logits[0]


class OneGraph(nn.Module):
    """A graph for one question without padding, for export to ONNX."""

    def __init__(self, scorer: GraphScorer) -> None:
        super().__init__()
        self.scorer = scorer

    def forward(
        self,
        query: torch.Tensor,
        tokens: torch.Tensor,
        scores: torch.Tensor,
        features: torch.Tensor,
        relations: torch.Tensor,
    ) -> torch.Tensor:
        """Return logits (k,); relations are (c, k, k), other inputs as in `OneBase`."""
        mask = torch.ones_like(scores, dtype=torch.bool)
        logits: torch.Tensor = self.scorer(
            query[None], tokens[None], scores[None], features[None], relations[None], mask[None]
        )
        return logits[0]


def export_scorer(scorer: BaseScorer | GraphScorer, spec: GraphSpec, folder: Path) -> None:
    """Write a scorer as a folder that `GraphModel.load` reads, checked against torch.

    The scorer is on the CPU and is left in eval mode; an existing reranker is replaced.

    Raises:
        EncoderError: If it cannot be exported or written.
        MissingExtraError: If an optional package is missing; the message names the command.
    """
    one = OneGraph(scorer.eval()) if isinstance(scorer, GraphScorer) else OneBase(scorer.eval())
    inputs = _example(spec)
    dynamic: dict[str, tuple[int, ...]] = {"tokens": (0,), "scores": (0,), "features": (0,)}
    if isinstance(scorer, GraphScorer):
        dynamic["relations"] = (1, 2)
    else:
        del inputs["relations"]
    write_graph_folder(
        folder,
        spec,
        lambda file: export_onnx(one.eval(), inputs, ("logits",), dynamic, file, _EXTRA),
    )


def base_weights(folder: Path, spec: GraphSpec) -> dict[str, torch.Tensor]:
    """Return the weights of a reranker's base scorer, as the start of another one.

    The reranker may have a graph or not, be compact or not, and be trained on any tokens and with
    any share of the cosine. `spec` has the inputs of the other scorer.

    Raises:
        EncoderError: If the folder is not a reranker, or is damaged.
        TrainingError: If its width, start or features differ, or it was never trained: the file
            stores equal weights once, so an untrained scorer's names are missing.
        MissingExtraError: If an optional package is missing; the message names the command.
    """
    theirs = read_graph_folder(folder)
    for name in ("width", "start", "features"):
        if getattr(theirs, name) != getattr(spec, name):
            raise TrainingError(
                f"a training with {name} {getattr(spec, name)} cannot begin with the base scorer "
                f"in {folder}, which has {getattr(theirs, name)}; begin with another, or with none"
            )
    module = "scorer.base" if theirs.layers else "scorer"
    found = onnx_weights(folder / MODEL, module, _EXTRA)
    missing = BaseScorer(ScorerShape(spec.width, len(spec.features))).state_dict().keys() - found
    if missing:
        raise TrainingError(
            f"the base scorer in {folder} has never learnt (its file does not name "
            f"{min(missing)}); begin with another, or with none"
        )
    return {name: torch.from_numpy(value) for name, value in found.items()}


def _example(spec: GraphSpec) -> dict[str, torch.Tensor]:
    """Return made-up candidates from a separate generator, so other random numbers stay."""
    draw = torch.Generator().manual_seed(0)
    k, d, f, c = _EXAMPLE, spec.width, len(spec.features), len(spec.channels)
    return {
        "query": normalize(torch.randn(d, generator=draw), dim=-1),
        "tokens": normalize(torch.randn(k, d, generator=draw), dim=-1),
        "scores": torch.rand(k, generator=draw).sort(descending=True).values,
        "features": torch.rand(k, f, generator=draw),
        "relations": torch.rand(c, k, k, generator=draw),
    }
