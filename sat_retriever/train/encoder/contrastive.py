"""Compute the losses of Stage 1 from the cosines of queries and sheets."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Bank:
    """Further sheets as negatives, with tokens that get no gradient.

    Attributes:
        cosines: Cosines of b queries with m further sheets, (b, m) float.
        excluded: (b, m) bool: sheets to ignore, since they are relevant for the query or among
            the step's own.
    """

    cosines: torch.Tensor
    excluded: torch.Tensor


def multi_positive_loss(
    cosines: torch.Tensor, relevant: torch.Tensor, temperature: float, bank: Bank | None = None
) -> torch.Tensor:
    """Return the paper's loss per query: all its relevant sheets together against the others.

    L(q) = −log( Σ_{p ∈ P} exp(cos(q, p) / τ) / Σ_{s ∈ P ∪ N} exp(cos(q, s) / τ) )

    P are the relevant sheets of q among the step's sheets, N are all others of the step. A relevant
    sheet is never a negative. Without negatives the loss and its gradient are 0.

    Source: paper, section 3.3 (contrastive loss). Departs: a bank may add to N.

    Args:
        cosines: Cosines of b queries with the step's s distinct sheets, (b, s) float.
        relevant: (b, s) bool; at least one in each row.
        temperature: τ.
        bank: Further sheets.

    Returns:
        (b,) float32, at least 0.

    >>> same = torch.zeros(1, 4)  # two relevant sheets of four, all equally near: −log(2/4)
    >>> multi_positive_loss(same, torch.tensor([[True, True, False, False]]), 0.02)
    tensor([0.6931])
    """
    scores = cosines.float() / temperature
    everything = scores
    if bank is not None:
        others = (bank.cosines.float() / temperature).masked_fill(bank.excluded, -torch.inf)
        everything = torch.cat([scores, others], dim=1)  # (b, s + m)
    near = scores.masked_fill(~relevant, -torch.inf).logsumexp(1)
    return everything.logsumexp(1) - near


def single_positive_loss(
    cosines: torch.Tensor, drawn: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Return the released recipe's loss per query: one relevant sheet against all others.

    L(q) = −log( exp(cos(q, p) / τ) / Σ_s exp(cos(q, s) / τ) ), s over all sheets of the step.
    Other relevant sheets of q count as negatives.

    Source: released recipe. Departs: a sheet that two queries bring counts once.

    Args:
        cosines: Cosines of b queries with the step's s distinct sheets, (b, s) float.
        drawn: Column of each query's drawn sheet p, (b,) int64.
        temperature: τ.

    Returns:
        (b,) float32, at least 0.

    >>> single_positive_loss(torch.zeros(1, 4), torch.tensor([0]), 0.02)  # −log(1/4)
    tensor([1.3863])
    """
    scores = cosines.float() / temperature
    return torch.nn.functional.cross_entropy(scores, drawn, reduction="none")
