"""Define Stage 2 as a task of the training loop: the base scorer, or the graph over it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from sat_retriever.records.files import make_folder
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.loop.device import moved, staged
from sat_retriever.train.loop.task import Share, State
from sat_retriever.train.loop.weights import save_weights
from sat_retriever.train.reranker.candidaterows import candidate_metrics
from sat_retriever.train.reranker.candidatesets import CandidateBatch, CandidateSets
from sat_retriever.train.reranker.gnn import GraphScorer
from sat_retriever.train.reranker.ranking_loss import LossWeights, batch_counts, ranking_loss
from sat_retriever.train.reranker.scorer import BaseScorer

if TYPE_CHECKING:
    from accelerate import Accelerator

_AT_ONCE = 256  # questions of a validation batch

Scorer = BaseScorer | GraphScorer


class RerankTask:
    """A `Task` that trains a base scorer, or the graph over one.

    Args:
        scorer: The scorer to train.
        train: Questions to learn from.
        validation: Questions to choose with.
        weights: Weights of the parts of the loss.
        name: Name of the weights' file.
    """

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
        """The scorer."""
        return self.scorer

    @property
    def size(self) -> int:
        """Number of training questions."""
        return len(self.train)

    def prepare(self, epoch: int, accelerator: Accelerator) -> None:
        """Do nothing: candidates stay as Stage 1 found them."""

    def inputs(self, share: Share, device: torch.device) -> dict[str, torch.Tensor]:
        """Return the candidates of a share: the scorer's inputs, and `relevant`."""
        batch = self.train.batch(share.items)
        return staged_tensors(batch, (*_names(self.scorer), "relevant"), device)

    def loss(
        self,
        module: torch.nn.Module,
        inputs: Mapping[str, torch.Tensor],
        share: Share,
        accelerator: Accelerator,
    ) -> torch.Tensor:
        """Return the ranking loss of a share of a batch; the mean over processes is the batch's.

        The counts that divide the parts of the loss are over all processes.
        """
        given = {name: moved(value, accelerator.device) for name, value in inputs.items()}
        relevant, mask = given.pop("relevant"), given["mask"]
        # A process without a question of its own computes another's, which is not counted.
        own = mask if share.counts else torch.zeros_like(mask)
        counts = batch_counts(relevant, own, accelerator)
        logits = module(**given)
        return ranking_loss(logits, relevant, mask, self.weights, counts)

    def validate(self, accelerator: Accelerator) -> Mapping[str, float]:
        """Return metrics of the validation questions; of a graph also gates and channel weights."""
        found = candidate_metrics(self.validation, logits_of(self.scorer, self.validation))
        if isinstance(self.scorer, GraphScorer):
            found |= graph_measures(self.scorer, self.validation)
        return found

    def save(self, folder: Path) -> None:
        """Write the current weights into a new folder."""
        make_folder(folder)
        save_weights(folder / self.name, self.scorer)

    def state(self) -> State:
        """Return an empty state: a reranker has only its weights."""
        return {}

    def restore(self, state: State) -> None:
        """Ignore the state: a reranker has only its weights."""


def logits_of(scorer: Scorer, sets: CandidateSets) -> FloatArray:
    """Return the logits of all candidates of all questions, (b, k) float32, without dropout."""
    scorer.eval()
    device = _device(scorer)
    with torch.no_grad():
        parts = [
            scorer(**tensors(sets.batch(items), scorer, device)).float().cpu().numpy()
            for items in _parts(len(sets))
        ]
    logits: FloatArray = np.concatenate(parts)
    return logits


def graph_measures(scorer: GraphScorer, sets: CandidateSets) -> dict[str, float]:
    """Return each layer's gate σ(g0), and the mean weight α of each channel over all candidates.

    Returns:
        Values by name: "gate 1" and "weight 1 semantic" for the first layer, and so on.
    """
    scorer.eval()
    device = _device(scorer)
    total = torch.zeros(len(scorer.layers), len(scorer.shape.channels), device=device)
    count = 0
    with torch.no_grad():
        for items in _parts(len(sets)):
            given = tensors(sets.batch(items), scorer, device)
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


def tensors(batch: CandidateBatch, scorer: Scorer, device: torch.device) -> dict[str, torch.Tensor]:
    """Return a scorer's inputs from a batch, by the names of its arguments."""
    given = staged_tensors(batch, _names(scorer), device)
    return {name: moved(value, device) for name, value in given.items()}


def staged_tensors(
    batch: CandidateBatch, names: Sequence[str], device: torch.device
) -> dict[str, torch.Tensor]:
    """Return fields of a batch as tensors of the host, staged for a device."""
    return {name: staged(getattr(batch, name), device) for name in names}


def _names(scorer: Scorer) -> tuple[str, ...]:
    """Return the fields of a batch that a scorer reads."""
    names = ("query", "tokens", "rows", "scores", "features", "mask")
    return (*names, "relations") if isinstance(scorer, GraphScorer) else names


def _parts(size: int) -> list[np.ndarray]:
    return np.split(np.arange(size), range(_AT_ONCE, size, _AT_ONCE))


def _device(scorer: Scorer) -> torch.device:
    return next(scorer.parameters()).device
