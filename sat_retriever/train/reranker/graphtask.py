"""Define base scorer and graph as a task of the training loop, and their loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, relu

from sat_retriever.records.files import make_folder
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.loop.device import moved, staged
from sat_retriever.train.loop.task import Share, Task
from sat_retriever.train.loop.weights import save_weights
from sat_retriever.train.reranker.candidatesets import (
    CandidateBatch,
    CandidateSets,
    candidate_metrics,
)
from sat_retriever.train.reranker.scorer import BaseScorer, GraphScorer

if TYPE_CHECKING:
    from accelerate import Accelerator

_MOST_POSITIVE_WEIGHT = 20.0
_AT_ONCE = 256  # questions of a validation batch
Scorer = BaseScorer | GraphScorer


@dataclass(frozen=True, slots=True)
class LossWeights:
    """Weights of the parts, and margin of the last (paper, table of training hyper-parameters)."""

    listwise: float = 1.0
    binary: float = 0.5
    pairwise: float = 0.2
    margin: float = 0.2


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """The counts that divide the parts of the loss, each a scalar of the whole batch."""

    answerable: torch.Tensor  # queries with a relevant candidate
    candidates: torch.Tensor  # of all queries
    relevant: torch.Tensor  # relevant candidates
    world: int = 1  # processes that share the batch


def batch_counts(
    relevant: torch.Tensor, mask: torch.Tensor, accelerator: Accelerator | None = None
) -> BatchCounts:
    """Count this share, (b, k) each, or the batch of all processes if given an accelerator."""
    found = relevant & mask
    counts = torch.stack((found.any(dim=1).sum(), mask.sum(), found.sum())).float()  # (3,)
    world = 1
    if accelerator is not None:
        counts = accelerator.reduce(counts, reduction="sum")
        world = accelerator.num_processes
    return BatchCounts(counts[0], counts[1], counts[2], world)


def ranking_loss(
    logits: torch.Tensor,
    relevant: torch.Tensor,
    mask: torch.Tensor,
    weights: LossWeights,
    counts: BatchCounts,
) -> torch.Tensor:
    """Return the loss of a share of a batch, (); the mean over processes is the batch's loss.

    Logits, `relevant` and `mask` are (b, k); values of padding, where the mask is false, are
    ignored. The counts are of the whole batch.

    Source: paper, appendix A: L = L_list + 0.5 L_BCE + 0.2 L_pair.
    """
    logits = logits.float()  # sums of exponentials need more than half precision
    relevant, negative = relevant & mask, ~relevant & mask
    parts = (
        (weights.listwise, list_loss(logits, relevant, mask), counts.answerable),
        (weights.binary, binary_loss(logits, relevant, mask, counts), counts.candidates),
        (
            weights.pairwise,
            pair_loss(logits, relevant, negative, weights.margin),
            counts.answerable,
        ),
    )
    total = logits.new_zeros(())
    for weight, losses, count in parts:
        total = total + weight * losses.sum() / count.clamp(min=1)
    return counts.world * total


def list_loss(logits: torch.Tensor, relevant: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return each query's logsumexp(all) - logsumexp(relevant), (b,); 0 with none relevant."""
    lowest = torch.finfo(logits.dtype).min
    everything = logits.masked_fill(~mask, lowest).logsumexp(dim=1)  # (b,)
    wanted = logits.masked_fill(~relevant, lowest).logsumexp(dim=1)  # (b,)
    # Chosen before the difference: its gradient is then exactly zero, never 0 x inf.
    return torch.where(relevant.any(dim=1), everything - wanted, 0.0)


def binary_loss(
    logits: torch.Tensor, relevant: torch.Tensor, mask: torch.Tensor, counts: BatchCounts
) -> torch.Tensor:
    """Return the binary cross-entropy of each candidate, (b, k), zero for padding.

    Relevant ones have weight min(20, irrelevant / relevant), counted over the whole batch.
    """
    ratio = (counts.candidates - counts.relevant) / counts.relevant.clamp(min=1)
    losses = binary_cross_entropy_with_logits(
        logits,
        relevant.to(logits.dtype),
        pos_weight=ratio.clamp(max=_MOST_POSITIVE_WEIGHT),
        reduction="none",
    )
    return torch.where(mask, losses, 0.0)


def pair_loss(
    logits: torch.Tensor, relevant: torch.Tensor, negative: torch.Tensor, margin: float
) -> torch.Tensor:
    """Return relu(margin - lowest relevant + highest irrelevant logit), (b,); 0 without both."""
    largest = torch.finfo(logits.dtype).max
    lowest = logits.masked_fill(~relevant, largest).amin(dim=1)  # (b,)
    highest = logits.masked_fill(~negative, -largest).amax(dim=1)  # (b,)
    both = relevant.any(dim=1) & negative.any(dim=1)
    gap = torch.where(both, highest, 0.0) - torch.where(both, lowest, 0.0)
    return torch.where(both, relu(margin + gap), 0.0)


class RerankTask(Task):
    """A task that trains a base scorer, or the graph over one; `name` is its weights' file."""

    def __init__(
        self,
        scorer: Scorer,
        train: CandidateSets,
        validation: CandidateSets,
        weights: LossWeights,
        name: str,
    ) -> None:
        self.scorer = scorer
        self.train = train
        self.validation = validation
        self.weights = weights
        self.name = name

    @property
    def module(self) -> torch.nn.Module:
        return self.scorer

    @property
    def size(self) -> int:
        return len(self.train)

    def inputs(self, share: Share, device: torch.device) -> dict[str, torch.Tensor]:
        batch = self.train.batch(share.items)
        return _staged(batch, (*_names(self.scorer), "relevant"), device)

    def loss(
        self,
        module: torch.nn.Module,
        inputs: Mapping[str, torch.Tensor],
        share: Share,
        accelerator: Accelerator,
    ) -> torch.Tensor:
        given = {name: moved(value, accelerator.device) for name, value in inputs.items()}
        relevant, mask = given.pop("relevant"), given["mask"]
        # A process without a question of its own computes another's, which is not counted.
        own = mask if share.counts else torch.zeros_like(mask)
        counts = batch_counts(relevant, own, accelerator)
        logits = module(**given)
        return ranking_loss(logits, relevant, mask, self.weights, counts)

    def validate(self, accelerator: Accelerator) -> Mapping[str, float]:
        found = candidate_metrics(self.validation, logits_of(self.scorer, self.validation))
        if isinstance(self.scorer, GraphScorer):
            found |= graph_measures(self.scorer, self.validation)
        return found

    def save(self, folder: Path) -> None:
        make_folder(folder)
        save_weights(folder / self.name, self.scorer)


def logits_of(scorer: Scorer, sets: CandidateSets) -> FloatArray:
    """Return the logits of all candidates of all questions, (b, k) float32, without dropout."""
    scorer.eval()
    device = _device(scorer)
    with torch.no_grad():
        parts = [
            scorer(**_tensors(sets.batch(items), scorer, device)).float().cpu().numpy()
            for items in _parts(len(sets))
        ]
    logits: FloatArray = np.concatenate(parts)
    return logits


def graph_measures(scorer: GraphScorer, sets: CandidateSets) -> dict[str, float]:
    """Return each layer's gate σ(g0), and the mean weight α of each channel over all candidates.

    The names are "gate 1" and "weight 1 semantic" for the first layer, and so on.
    """
    scorer.eval()
    device = _device(scorer)
    total = torch.zeros(len(scorer.layers), len(scorer.shape.channels), device=device)
    count = 0
    with torch.no_grad():
        for items in _parts(len(sets)):
            given = _tensors(sets.batch(items), scorer, device)
            mask = given["mask"]
            asked, states = scorer.base.states(given["query"], given["tokens"])
            _, chosen = scorer.refine(asked, states, given["relations"], mask, given["rows"])
            total += torch.stack([weights[mask].sum(dim=0) for weights in chosen])  # (l, c)
            count += int(mask.sum())
    means = (total / count).tolist()
    found: dict[str, float] = {}
    for number, (gate, row) in enumerate(zip(scorer.gates(), means, strict=True), start=1):
        found[f"gate {number}"] = gate
        for channel, mean in zip(scorer.shape.channels, row, strict=True):
            found[f"weight {number} {channel}"] = mean
    return found


def _tensors(
    batch: CandidateBatch, scorer: Scorer, device: torch.device
) -> dict[str, torch.Tensor]:
    """Return a scorer's inputs from a batch, by the names of its arguments."""
    given = _staged(batch, _names(scorer), device)
    return {name: moved(value, device) for name, value in given.items()}


def _staged(
    batch: CandidateBatch, names: Sequence[str], device: torch.device
) -> dict[str, torch.Tensor]:
    return {name: staged(getattr(batch, name), device) for name in names}


def _names(scorer: Scorer) -> tuple[str, ...]:
    names = ("query", "tokens", "rows", "scores", "features", "mask")
    return (*names, "relations") if isinstance(scorer, GraphScorer) else names


def _parts(size: int) -> list[np.ndarray]:
    return np.split(np.arange(size), range(_AT_ONCE, size, _AT_ONCE))


def _device(scorer: Scorer) -> torch.device:
    return next(scorer.parameters()).device
