"""The base scorer of Stage 2: query token and candidates in, a logit for each candidate out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.functional import normalize

_FIRST_SCALE = 10.0


@dataclass(frozen=True, slots=True)
class ScorerShape:
    """What decides the parameters of a base scorer.

    Attributes:
        width: Token width d.
        features: Numbers a candidate beyond the paper's, f.
        dropout: Inside the perceptron.
    """

    width: int
    features: int = 0
    dropout: float = 0.1


class BaseScorer(nn.Module):
    r"""Scores every candidate by itself, starting from the order of Stage 1.

    Source: paper, section 3.4 (listwise base scorer), as the released recipe builds it.
    Departs: the paper's :math:`h^{(0)} = \varphi([q; z; q \odot z; |q - z|])` becomes two
    projections and a perceptron over the same four parts, with Stage 1's score and rank.

    .. math::
        q' &= \mathrm{norm}(\mathrm{LN}(\mathrm{GELU}(W_q q))) \\
        h_i &= \mathrm{norm}(\mathrm{LN}(\mathrm{GELU}(W_n z_i))) \\
        y_i &= a s_i + \mathrm{MLP}([h_i; q'; |h_i - q'|; h_i \odot q'; s_i; \rho_i; f_i])

    where :math:`q` is the query token, :math:`z_i` a sheet token, :math:`s_i` its Stage 1
    score, :math:`\rho_i` its rank from 1 (best) down to 0 in equal steps, :math:`f_i` further
    features, and :math:`a` a learnt number, 10 at first. The MLP has one hidden layer of
    width d; its last layer is zero at first, so :math:`y_i = 10 s_i`.

    Args:
        shape: Width, features and dropout.

    Shapes:
        - query (b, d), tokens (b, k, d), scores (b, k), features (b, k, f), mask (b, k) bool
        - logits (b, k); what stands at masked places does not matter
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
    ) -> torch.Tensor:
        """Logits (b, k)."""
        asked, states = self.states(query, tokens)
        return self.score(asked, states, scores, features, mask)

    def states(
        self, query: torch.Tensor, tokens: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """States q' (b, d) and h (b, k, d), rows of unit length."""
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
    ) -> torch.Tensor:
        """Logits (b, k) of states (b, k, d), for queries q' (b, d)."""
        q = asked.unsqueeze(1).expand_as(states)  # (b, k, d)
        own = torch.stack((scores, ranks(mask)), dim=-1)  # (b, k, 2)
        read = torch.cat((states, q, (states - q).abs(), states * q, own, features), dim=-1)
        logits: torch.Tensor = self.scale * scores + self.perceptron(read).squeeze(-1)
        return logits


def _projection(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))


def ranks(mask: torch.Tensor) -> torch.Tensor:
    """Ranks of candidates in list order, (b, k): from 1 down to 0 in equal steps; 1 if alone.

    >>> ranks(torch.tensor([[True, True, True], [True, False, False]])).tolist()[0]
    [1.0, 0.5, 0.0]
    """
    count = mask.sum(dim=1, keepdim=True)  # (b, 1)
    place = torch.arange(mask.shape[1], device=mask.device)  # (k,)
    return (1 - place / (count - 1).clamp(min=1)).float()
