"""Define the models of Stage 2: the base scorer, and the gated relational graph over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import nn
from torch.nn.functional import embedding, linear, normalize, relu

from sat_retriever.rank.graph.channels import LEARNT

_FIRST_SCALE = 10.0
SEMANTIC, QUERY = LEARNT  # channels that are computed from states here


@dataclass(frozen=True, slots=True)
class ScorerShape:
    """The settings that define the parameters of a base scorer."""

    width: int  # of a token, d
    features: int = 0  # f per candidate, beyond the paper's
    dropout: float = 0.1  # inside the perceptron


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
    """Copy values of sheets, (n, ·), to the sheets' places in the lists, (b, k, ·).

    `rows` has the sheet of each candidate, (b, k). Values with three axes are returned as they are.

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
    The parts are in the order of the columns of W: (n, ·) of sheets, (b, 1, ·) of queries, (b, k,
    ·) of candidates.
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


@dataclass(frozen=True, slots=True)
class GraphShape:
    """The settings that define the parameters of a graph over a base scorer."""

    channels: tuple[str, ...]  # the c relations, in order
    layers: int = 1  # of message passing, at least one
    gate: float = -4.0  # initial value of every layer's, before the sigmoid
    dropout: float = 0.1  # inside the perceptron of the update


class GatedLayer(nn.Module):
    r"""A round of messages between candidates, admitted by a gate.

    Source: paper, appendix A, as the released recipe builds it. Departs: the update also reads the
    query, and the result is scaled to unit length where the paper applies LN.

    .. math::
        m_{ic} &= \sum_j A^c_{ij} V_c h_j \\
        \alpha_i &= \mathrm{softmax}_c(g([h_i; q'])) \\
        u_i &= U([h_i; \textstyle\sum_c \alpha_{ic} m_{ic}; q']) \\
        h_i' &= \mathrm{norm}(h_i + \sigma(g_0) u_i)

    where :math:`h_i` is a candidate's state, :math:`q'` the query's, :math:`A^c` the
    row-normalised relation c, :math:`V_c` a matrix d x d without bias, :math:`g` a perceptron
    2d -> d/2 -> c and :math:`U` one 3d -> d -> d (both GELU), :math:`g_0` a learnt number.

    Shapes:
        - states (n, d) of sheets with rows (b, k), the place of each candidate in them; or
          (b, k, d) without rows; asked (b, d), adjacency (b, c, k, k)
        - new states (b, k, d), rows of unit length; channel weights (b, k, c), summing to 1
    """

    def __init__(self, width: int, shape: GraphShape) -> None:
        super().__init__()
        channels = len(shape.channels)
        self.messages = nn.Linear(width, channels * width, bias=False)
        self.choice = nn.Sequential(
            nn.Linear(2 * width, max(width // 2, 1)),
            nn.GELU(),
            nn.Linear(max(width // 2, 1), channels),
        )
        self.update = nn.Sequential(
            nn.Linear(3 * width, width),
            nn.GELU(),
            nn.Dropout(shape.dropout),
            nn.Linear(width, width),
        )
        self.gate = nn.Parameter(torch.tensor(float(shape.gate)))

    def forward(
        self,
        states: torch.Tensor,
        asked: torch.Tensor,
        adjacency: torch.Tensor,
        rows: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return new states (b, k, d) and channel weights (b, k, c)."""
        q = asked.unsqueeze(1)  # (b, 1, d)
        weights = blockwise(self.choice, (states, q), rows).softmax(dim=-1)  # (b, k, c)
        # The sums over channels and over candidates are one product.
        spoken = spread(self.messages(states), rows)  # (b, k, c d)
        spoken = spoken.reshape(len(spoken), -1, q.shape[-1])  # (b, k c, d)
        shares = weights.unsqueeze(2) * adjacency.permute(0, 2, 3, 1)  # (b, k, k, c)
        mixed = shares.flatten(2) @ spoken  # (b, k, d)
        change = blockwise(self.update, (states, mixed, q), rows)  # (b, k, d)
        states = spread(states, rows)  # (b, k, d)
        return normalize(states + torch.sigmoid(self.gate) * change, dim=-1), weights


class GraphScorer(nn.Module):
    r"""A scorer that scores candidates by the base scorer after they corrected each other.

    Source: paper, section 3.4 and appendix A: the final logit is the base scorer's, with the last
    layer's states in place of its own.

    .. math::
        y_i = \mathrm{base}(h_i^{(L)}, q', s_i, \rho_i, f_i), \qquad h^{(0)}, q' \text{ the base's}

    Two relations are computed from the states: semantic :math:`(\cos(h_i, h_j) + 1) / 2` and query
    relevance :math:`(r_i r_j + 1) / 2` with :math:`r_i = \cos(h_i, q')`. The others are given.

    Args:
        joint: True trains the base scorer too; False freezes it, with its dropout off.

    Shapes:
        - as `BaseScorer`, with relations (b, c, k, k); those computed here are not read
        - logits (b, k)
    """

    def __init__(self, base: BaseScorer, shape: GraphShape, *, joint: bool = False) -> None:
        super().__init__()
        self.base = base
        self.shape = shape
        self.joint = joint
        self.layers = nn.ModuleList(
            GatedLayer(base.shape.width, shape) for _ in range(shape.layers)
        )
        for parameter in base.parameters():
            parameter.requires_grad_(joint)

    def train(self, mode: bool = True) -> GraphScorer:
        """Switch dropout on or off; a frozen base scorer's stays off."""
        super().train(mode)
        self.base.train(mode and self.joint)
        return self

    def forward(
        self,
        query: torch.Tensor,
        tokens: torch.Tensor,
        scores: torch.Tensor,
        features: torch.Tensor,
        relations: torch.Tensor,
        mask: torch.Tensor,
        rows: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return logits (b, k)."""
        asked, states = self.base.states(query, tokens)
        states, _ = self.refine(asked, states, relations, mask, rows)
        return self.base.score(asked, states, scores, features, mask)

    def gates(self) -> list[float]:
        """Return the gate of each layer after the sigmoid, in (0, 1)."""
        layers = [layer for layer in self.layers if isinstance(layer, GatedLayer)]
        return [float(torch.sigmoid(layer.gate.detach())) for layer in layers]

    def refine(
        self,
        asked: torch.Tensor,
        states: torch.Tensor,
        relations: torch.Tensor,
        mask: torch.Tensor,
        rows: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Return states (b, k, d) of the last layer, and channel weights (b, k, c) of each."""
        adjacency = self.adjacency(asked, spread(states, rows), relations, mask)
        chosen = []
        for layer in self.layers:
            states, weights = layer(states, asked, adjacency, rows)  # (b, k, d) from here on
            chosen.append(weights)
        return states, chosen

    def adjacency(
        self,
        asked: torch.Tensor,
        states: torch.Tensor,
        relations: torch.Tensor,
        mask: torch.Tensor,
    ) -> torch.Tensor:
        """Return row-normalised relations (b, c, k, k), with the model's own computed."""
        made = []
        for place, channel in enumerate(self.shape.channels):
            if channel == SEMANTIC:
                made.append((states @ states.transpose(1, 2) + 1) / 2)
            elif channel == QUERY:
                fit = (states @ asked.unsqueeze(-1)).squeeze(-1)  # (b, k)
                made.append((fit.unsqueeze(2) * fit.unsqueeze(1) + 1) / 2)
            else:
                made.append(relations[:, place].to(states.dtype))
        return row_normalised(torch.stack(made, dim=1), mask)


def row_normalised(relations: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Normalise rows of relations (b, c, k, k) to sum 1, without self-loops; empty rows stay 0.

    Negative entries count as 0, and so does padding, where the mask (b, k) is false.
    """
    k = mask.shape[1]
    other = ~torch.eye(k, dtype=torch.bool, device=mask.device)  # (k, k)
    pairs = mask.unsqueeze(2) & mask.unsqueeze(1) & other  # (b, k, k)
    kept = torch.where(pairs.unsqueeze(1), relu(relations), 0.0)  # (b, c, k, k)
    total = kept.sum(dim=-1, keepdim=True)  # (b, c, k, 1)
    return kept / torch.where(total > 0, total, 1.0)
