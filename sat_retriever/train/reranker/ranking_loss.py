"""Compute the loss of Stage 2 from a listwise, a pointwise and a margin part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, relu

if TYPE_CHECKING:
    from accelerate import Accelerator

_MOST_POSITIVE_WEIGHT = 20.0


@dataclass(frozen=True, slots=True)
class LossWeights:
    """The weights of the three parts, and the margin of the last.

    Source: paper, table of training hyper-parameters.
    """

    listwise: float = 1.0
    binary: float = 0.5
    pairwise: float = 0.2
    margin: float = 0.2


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """The counts by which the parts of the loss are divided, each a scalar of the whole batch.

    Attributes:
        answerable: Number of queries with a relevant candidate.
        candidates: Number of candidates of all queries.
        relevant: Number of relevant candidates.
        world: Number of processes that share the batch.
    """

    answerable: torch.Tensor
    candidates: torch.Tensor
    relevant: torch.Tensor
    world: int = 1


def batch_counts(
    relevant: torch.Tensor, mask: torch.Tensor, accelerator: Accelerator | None = None
) -> BatchCounts:
    """Count a batch, over all processes if an accelerator is given.

    Args:
        relevant: True for a relevant candidate, (b, k) bool; this process's share.
        mask: True for a candidate, False for padding, (b, k) bool.
        accelerator: Adds up the shares of the processes.
    """
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

    Source: paper, appendix A: L = L_list + 0.5 L_BCE + 0.2 L_pair.

    Args:
        logits: Logit of each candidate, (b, k) float.
        relevant: True for a relevant candidate, (b, k) bool.
        mask: True for a candidate, False for padding, (b, k) bool; values of padding are ignored.
        weights: Weights of the three parts.
        counts: Counts of the whole batch, see `batch_counts`.
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
    """Return logsumexp(all candidates) - logsumexp(relevant ones) of each query, (b,).

    The loss is zero for a query without a relevant candidate.
    """
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
    """Return relu(margin - lowest relevant + highest irrelevant logit) of each query, (b,).

    The loss is zero for a query whose candidates are all relevant, or all irrelevant.
    """
    largest = torch.finfo(logits.dtype).max
    lowest = logits.masked_fill(~relevant, largest).amin(dim=1)  # (b,)
    highest = logits.masked_fill(~negative, -largest).amax(dim=1)  # (b,)
    both = relevant.any(dim=1) & negative.any(dim=1)
    gap = torch.where(both, highest, 0.0) - torch.where(both, lowest, 0.0)
    return torch.where(both, relu(margin + gap), 0.0)
