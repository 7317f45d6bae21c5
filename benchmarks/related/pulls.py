"""A learnt walk: each of the best candidates pulls those that it is related to, by learnt weights.

The gated graph passes states between candidates and never the scores of Stage 1, so a neighbour
cannot say how well it fits itself. Here a pull reads the scores of both ends, their relations and
the question, and adds to the score of the sheet that is pulled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn.functional import softplus

from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.reranker.candidatesets import CandidateSets, given

PULLING = 8  # best candidates that pull others
RELATIONS = (
    "formula_reference", "aggregation", "summary_source", "join_key", "same_workbook", "schema",
)  # fmt: skip
_LINKS = 5  # of these, which relate two sheets at all: likeness of headers alone is no link
_TYPED = 4  # of these, which the degree of a sheet counts
_OWN, _PAIR = 7, 12
_FAR = 1e4  # beyond every score

Inputs = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class PullShape:
    """What the pulls read.

    Attributes:
        linked: False leaves all pulls out: a sheet is scored by its own numbers.
        asked: Numbers that a pull reads of the question's token; 0 for none.
        width: Width of the perceptrons.
    """

    linked: bool = True
    asked: int = 4
    width: int = 32


class PullScorer(nn.Module):
    r"""Scores candidates by their own numbers and by pulls of the best ones.

    .. math::
        y_i = a s_i + \mathrm{MLP}(x_i)
            + \sum_{j \le 8,\, A_{ij} > 0} \mathrm{MLP}([A_{ij}; x_{ij}; W q])

    where :math:`s_i` is the score that the list is ordered by, :math:`A_{ij}` the relations of two
    sheets, :math:`x` scores, cosines, words and ranks, and :math:`q` the question's token. Both
    last layers are zero at first, so the order is that of the list.

    Shapes:
        - scores, lexical, dense (b, k), mask (b, k) bool, relations (b, c, k, 8), degrees (b, 8),
          asked (b, d)
        - logits (b, k); values at masked places have no meaning
    """

    def __init__(self, shape: PullShape, width: int) -> None:
        super().__init__()
        self.shape = shape
        h = shape.width
        self.own = nn.Sequential(nn.Linear(_OWN, h), nn.GELU(), nn.Linear(h, 1))
        self.pull = nn.Sequential(
            nn.Linear(len(RELATIONS) + _PAIR + shape.asked, h),
            nn.GELU(),
            nn.Linear(h, h),
            nn.GELU(),
            nn.Linear(h, 1),
        )
        for layer in (self.own[-1], self.pull[-1]):
            nn.init.zeros_(layer.weight)  # type: ignore[arg-type]
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
        self.read = (
            nn.Sequential(nn.Dropout(0.2), nn.Linear(width, shape.asked), nn.Tanh())
            if shape.asked
            else None
        )
        self.scale = nn.Parameter(torch.tensor(10.0))

    def forward(
        self,
        scores: torch.Tensor,
        lexical: torch.Tensor,
        dense: torch.Tensor,
        mask: torch.Tensor,
        relations: torch.Tensor,
        degrees: torch.Tensor,
        asked: torch.Tensor,
    ) -> torch.Tensor:
        """Return logits (b, k)."""
        b, k = scores.shape
        places = 1 / torch.arange(1, k + 1).float().expand(b, k)
        top = scores[:, :1].expand(b, k)
        second = scores[:, min(1, k - 1), None].expand(b, k)
        share = scores / top.clamp(min=0.05)
        own = torch.stack([scores, lexical, dense, places, share, top, top - second], dim=-1)
        logits: torch.Tensor = self.scale * scores + self.own(own).squeeze(-1)
        if not self.shape.linked:
            return logits
        p = min(PULLING, k)

        def pulled(values: torch.Tensor) -> torch.Tensor:
            return values[:, :, None].expand(b, k, p)

        def pulling(values: torch.Tensor) -> torch.Tensor:
            return values[:, None, :p].expand(b, k, p)

        pair = [
            pulled(scores), pulling(scores), pulling(scores) - pulled(scores), pulled(lexical),
            pulling(lexical), pulled(dense), pulling(dense), pulling(places), pulled(places),
            pulling(torch.log1p(degrees)), pulling(share), pulling(lexical) - pulled(lexical),
        ]  # fmt: skip
        related = relations.permute(0, 2, 3, 1)  # (b, k, p, c)
        parts = [related, torch.stack(pair, dim=-1)]
        if self.read is not None:
            parts.append(self.read(asked)[:, None, None].expand(b, k, p, -1))
        strength = self.pull(torch.cat(parts, dim=-1)).squeeze(-1)  # (b, k, p)
        other = ~torch.eye(k, dtype=torch.bool)[:, :p]
        counts = (related[..., :_LINKS] > 0).any(dim=-1) & pulling(mask) & other
        logits = logits + (strength * counts).sum(dim=-1)
        return logits


def inputs(sets: CandidateSets, items: np.ndarray) -> dict[str, torch.Tensor]:
    """Return the inputs of some questions, by the names of the scorer's arguments."""
    held = [sets.spec.channels[place] for place in given(sets.spec.channels)]
    chosen = [held.index(name) for name in RELATIONS]
    relations = sets.relations[items][:, chosen].astype(np.float32)  # (b, c, k, k)
    lexical, dense = (
        sets.features[items][..., sets.spec.features.index(name)] for name in ("lexical", "dense")
    )
    found: dict[str, FloatArray] = {
        "scores": sets.scores[items],
        "lexical": lexical,
        "dense": dense,
        "mask": sets.rows[items] >= 0,
        "relations": relations[..., :PULLING],
        "degrees": (relations[:, :_TYPED].max(axis=1) > 0).sum(axis=1)[:, :PULLING].astype("f4"),
        "asked": sets.queries[items],
    }
    return {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in found.items()}


def loss(
    logits: torch.Tensor, mask: torch.Tensor, relevant: torch.Tensor, complete: float
) -> torch.Tensor:
    """Return the listwise loss, and that of incomplete answers.

    The second part compares a question's worst relevant sheet with the irrelevant one that it must
    pass for all to stand among the first five, and among the first ten.

    Args:
        logits: (b, k).
        mask: True for a candidate, (b, k).
        relevant: True for a relevant candidate, (b, k); questions without one count for nothing.
        complete: Weight of the second part.
    """
    held = relevant.any(dim=1)
    if not held.any():
        return logits.sum() * 0
    logits, relevant = logits.masked_fill(~mask, -_FAR)[held], relevant[held]
    number = relevant.sum(dim=1)
    total = -(logits.log_softmax(dim=1) * relevant).sum(dim=1) / number
    worst = logits.masked_fill(~relevant, _FAR).min(dim=1).values
    wrong = logits.masked_fill(relevant, -_FAR).sort(dim=1, descending=True).values
    for size in (5, 10):
        place = (size - number).clamp(min=0, max=wrong.shape[1] - 1)
        bar = wrong.gather(1, place[:, None]).squeeze(1)
        total = total + complete * softplus(bar - worst) * (number <= size)
    return total.mean()
