"""Define the base scorer of Stage 2: one logit for each candidate of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import nn
from torch.nn.functional import embedding, linear, normalize

_FIRST_SCALE = 10.0


@dataclass(frozen=True, slots=True)
class ScorerShape:
    """The settings that define the parameters of a base scorer.

    Attributes:
        width: Token width d.
        features: Number f of features per candidate beyond the paper's.
        dropout: Dropout inside the perceptron.
    """

    width: int
    features: int = 0
    dropout: float = 0.1


class BaseScorer(nn.Module):
    r"""A scorer that scores every candidate by itself, starting from the order of Stage 1.

    Source: paper, section 3.4 (listwise base scorer), as the released recipe builds it.
    Departs: the paper's :math:`h^{(0)} = \varphi([q; z; q \odot z; |q - z|])` becomes two
    projections and a perceptron over the same four parts, with Stage 1's score and rank.

    .. math::
        q' &= \mathrm{norm}(\mathrm{LN}(\mathrm{GELU}(W_q q))) \\
        h_i &= \mathrm{norm}(\mathrm{LN}(\mathrm{GELU}(W_n z_i))) \\
        y_i &= a s_i + \mathrm{MLP}([h_i; q'; |h_i - q'|; h_i \odot q'; s_i; \rho_i; f_i])

    where :math:`q` is the query token, :math:`z_i` a sheet token, :math:`s_i` its Stage 1
    score, :math:`\rho_i` its rank from 1 (best) down to 0 in equal steps, :math:`f_i` further
    features, and :math:`a` a learnt number, 10 at first. The MLP has one hidden layer of width d.
    Its last layer is zero at first, so :math:`y_i = 10 s_i`.

    The lists of a batch share many sheets. Terms that depend only on a sheet are computed once and
    copied to its places in the lists; see `rows`.

    Args:
        shape: Width, features and dropout.

    Shapes:
        - query (b, d), tokens (n, d) of the batch's sheets, scores (b, k), features (b, k, f),
          mask (b, k) bool, rows (b, k) int: the place of each candidate among the n sheets
        - without rows: tokens (b, k, d), each candidate's own
        - logits (b, k); values at masked places have no meaning
    """

    def __init__(self, shape: ScorerShape) -> None:
        super().__init__()
        self.shape = shape
        d = shape.width
        self.of_query = _projection(d)
        self.of_sheet = _projection(d)
        self.scale = nn.Parameter(torch.tensor(_FIRST_SCALE))
        last = nn.Linear(d, 1)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.perceptron = nn.Sequential(
            nn.Linear(4 * d + 2 + shape.features, d),
            nn.GELU(),
            nn.Dropout(shape.dropout),
            last,
        )

    def forward(
        self,
        query: torch.Tensor,
        tokens: torch.Tensor,
        scores: torch.Tensor,
        features: torch.Tensor,
        mask: torch.Tensor,
        rows: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return logits (b, k)."""
        asked, states = self.states(query, tokens)
        return self.score(asked, states, scores, features, mask, rows)

    def states(
        self, query: torch.Tensor, tokens: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return states q' (b, d) and h, one for each token, all of unit length."""
        asked = normalize(self.of_query(query), dim=-1)
        states = normalize(self.of_sheet(tokens), dim=-1)
        return asked, states

    def score(
        self,
        asked: torch.Tensor,
        states: torch.Tensor,
        scores: torch.Tensor,
        features: torch.Tensor,
        mask: torch.Tensor,
        rows: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return logits (b, k) of states (n, d), or (b, k, d) without rows, for queries (b, d)."""
        h, q = spread(states, rows), asked.unsqueeze(1)  # (b, k, d), (b, 1, d)
        own = torch.stack((scores, ranks(mask)), dim=-1)  # (b, k, 2)
        own = torch.cat((own, features), dim=-1)  # (b, k, 2 + f)
        parts = (states, q, (h - q).abs(), h * q, own)
        return self.scale * scores + blockwise(self.perceptron, parts, rows).squeeze(-1)


def _projection(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))


def spread(values: torch.Tensor, rows: torch.Tensor | None) -> torch.Tensor:
    """Copy values of sheets to the sheets' places in the lists: (b, k, ·).

    Args:
        values: (n, ·) of sheets; values with three axes are returned as they are.
        rows: The sheet of each candidate, (b, k) int.

    >>> spread(torch.tensor([[1.0], [2.0]]), torch.tensor([[1, 0, 1]])).squeeze(-1).tolist()
    [[2.0, 1.0, 2.0]]
    """
    if rows is None or values.dim() > 2:
        return values
    return embedding(rows, values)  # a gather whose gradient is summed fast, in a fixed order


def blockwise(
    perceptron: nn.Sequential, parts: Sequence[torch.Tensor], rows: torch.Tensor | None
) -> torch.Tensor:
    """Return a perceptron's output for each candidate, (b, k, ·), with its first layer split.

    W [x; y; ...] + b is computed as W_x x + W_y y + ... + b. The result is the same, but sheets are
    multiplied once per sheet and queries once per query, not once for each of the b k candidates.

    Args:
        perceptron: A perceptron that begins with a linear layer.
        parts: Its inputs, in the order of its columns: (n, ·) of sheets, (b, 1, ·) of queries,
            (b, k, ·) of candidates.
        rows: The sheet of each candidate, (b, k) int.
    """
    first = cast("nn.Linear", perceptron[0])
    matrices = first.weight.split_with_sizes([part.shape[-1] for part in parts], dim=1)
    total: torch.Tensor = first.bias
    for part, matrix in zip(parts, matrices, strict=True):
        total = total + spread(linear(part, matrix), rows)
    output: torch.Tensor = perceptron[1:](total)
    return output


def ranks(mask: torch.Tensor) -> torch.Tensor:
    """Return ranks in list order, (b, k): from 1 down to 0 in equal steps; 1 if alone.

    >>> ranks(torch.tensor([[True, True, True], [True, False, False]])).tolist()[0]
    [1.0, 0.5, 0.0]
    """
    count = mask.sum(dim=1, keepdim=True)  # (b, 1)
    place = torch.arange(mask.shape[1], device=mask.device)  # (k,)
    return (1 - place / (count - 1).clamp(min=1)).float()
