"""The paper's gated graph over the feature reranker, and how both learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn

from benchmarks.related.graphs import Graph
from sat_retriever.datasets.metrics import mean
from sat_retriever.datasets.metrics.rows import metrics_of
from sat_retriever.rank.features.features import LINKED
from sat_retriever.rank.features.model import ASKED_COLUMNS, CLIP, HIDDEN, PAIRED_COLUMNS
from sat_retriever.records.links import LinkType
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.reranker.featurelists import FeatureLists
from sat_retriever.train.reranker.features import FeatureNetwork, list_losses
from sat_retriever.train.settings import FeatureTraining

CHANNELS = (
    LinkType.FORMULA_REFERENCE, LinkType.AGGREGATION, LinkType.SUMMARY_SOURCE, LinkType.JOIN_KEY,
)  # fmt: skip
PLACES = [LINKED.index(kind) for kind in CHANNELS]
_GATE = -4.0  # before the sigmoid, as in the paper
_CHOOSING = "NDCG@10"
_AT_ONCE = 256  # lists of one pass
Judged = Mapping[str, FeatureLists]


class GatedNetwork(nn.Module):
    r"""A feature reranker whose states related candidates correct before its last layers read them.

    Source: paper, appendix A. Departs: states :math:`h_i` are the first hidden layer of the base
    scorer over features of the list, not of tokens; :math:`q` are features of the question; only
    the ten best candidates speak; states are not scaled; a change of state is also read directly,
    since an untrained base scorer would not read it; and a graph moves a score as far as the base
    scorer's pulls do, at most.

    .. math::
        m_i &= \textstyle\sum_c \alpha_{ic} \sum_j A^c_{ij} V_c h_j \\
        h_i' &= h_i + \sigma(g)\, U([h_i; m_i; q]) \\
        y_i &= \mathrm{base}_i
            + b \tanh((\mathrm{rest}(h_i') - \mathrm{rest}(h_i) + w (h_i' - h_i)) / b)

    With `Graph.pulled`, :math:`h_i' = h_i + \sum_c \sigma(g_c) \sum_j A^c_{ij} p_{ij} V_c h_j`
    where :math:`p_{ij}` is the trained pull of the base scorer.

    Shapes:
        - features (b, k, f), relations (b, k, p, r); the base scorer's logits (b, k), see `over`
        - logits (b, k)
    """

    def __init__(self, base: FeatureNetwork, graph: Graph) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.graph = graph
        d, c = HIDDEN[0], len(CHANNELS)
        self.messages = nn.Linear(d, c * d, bias=False)
        self.read = nn.Linear(d, 1, bias=False)
        self.opened = nn.Parameter(torch.zeros(c if graph.pulled else 1))
        if not graph.pulled:
            self.asked = nn.Linear(len(ASKED_COLUMNS), d)
            self.choice = nn.Sequential(nn.Linear(2 * d, d // 2), nn.GELU(), nn.Linear(d // 2, c))
            self.update = nn.Sequential(
                nn.Linear(3 * d, d), nn.GELU(), nn.Dropout(0.1), nn.Linear(d, d)
            )

    def train(self, mode: bool = True) -> GatedNetwork:
        """Switch dropout on or off; the base scorer's stays off."""
        super().train(mode)
        self.base.eval()
        return self

    def gates(self) -> torch.Tensor:
        """Return the gate, or that of each relation, after the sigmoid."""
        return torch.sigmoid(_GATE + self.graph.speed * self.opened)

    def forward(
        self, features: torch.Tensor, relations: torch.Tensor, logits: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (b, k)."""
        base, (_, bound) = self.base, self.base.bounds
        state = ((features - base.mean) / base.spread).clamp(-CLIP, CLIP)
        first, rest = base.own[:3], base.own[3:]
        h = first(state)  # (b, k, d)
        b, k, d = h.shape
        relations = relations[:, :, :k]  # a short list has fewer than ten
        p = relations.shape[2]
        spoken = self.messages(h[:, :p]).view(b, p, len(CHANNELS), d)
        weights = self._weights(state, relations)  # (b, k, p, c)
        if self.graph.pulled:
            shares = weights * self.gates()
            change = shares.flatten(2) @ spoken.reshape(b, -1, d)
        else:
            q = self.asked(state[:, :1, ASKED_COLUMNS]).expand(b, k, d)
            chosen = self.choice(torch.cat((h, q), dim=-1)).softmax(dim=-1)  # (b, k, c)
            heard = (weights * chosen.unsqueeze(2)).flatten(2) @ spoken.reshape(b, -1, d)
            change = self.gates() * self.update(torch.cat((h, heard, q), dim=-1))
        moved: torch.Tensor = rest(h + change) - rest(h) + self.read(change)
        moved = moved.squeeze(-1)
        return logits + bound * torch.tanh(moved / bound)

    def _weights(self, state: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return how much of each of the best each candidate hears over each relation."""
        ends = relations[..., : 2 * len(LINKED)]
        ends = ends.reshape(*ends.shape[:-1], len(LINKED), 2)
        links = ends.amax(dim=-1)[..., PLACES] * self.graph.linked  # either end, (b, k, p, c)
        if self.graph.pulled:
            row, pulled, pulling = links.any(dim=-1).nonzero(as_tuple=True)
            paired, asked = state[..., PAIRED_COLUMNS], state[:, 0, ASKED_COLUMNS]
            parts = (
                relations[row, pulled, pulling], paired[row, pulled], paired[row, pulling],
                asked[row],
            )  # fmt: skip
            strength = torch.tanh(self.base.pull(torch.cat(parts, dim=-1)).squeeze(-1))
            pulls = state.new_zeros(links.shape[:3]).index_put((row, pulled, pulling), strength)
            return (links > 0) * pulls.unsqueeze(-1)
        return links / links.sum(dim=2, keepdim=True).clamp(min=1e-6)


@dataclass(frozen=True, slots=True)
class Learning:
    """How a network learns; the values are those of a graph: the paper's, but for half the epochs.

    Attributes:
        rate: Highest learning rate, reached after one epoch; it falls to 0.
        epochs: Passes over the taught lists; the best one on the judged lists counts.
        complete: Weight of the loss of incomplete answers, see `list_losses`.
        batch_size: Lists of a step.
        decay: Weight decay.
    """

    rate: float = 5e-4
    epochs: int = 10
    complete: float = 1.0
    batch_size: int = 64
    decay: float = 0.01


OF_BASES = Learning(rate=2e-3, epochs=8, decay=1e-3)


def base_of(taught: FeatureLists, seed: int) -> FeatureNetwork:
    """Return an untrained base scorer, which keeps the order of the lists."""
    torch.manual_seed(seed)
    return FeatureNetwork(taught, FeatureTraining(seed=seed))


def fit(
    network: nn.Module, taught: FeatureLists, judged: Judged, learning: Learning, seed: int
) -> int:
    """Train a network in place and return its best epoch; 0 is the state before.

    Epochs are compared by NDCG@10 on the judged lists, every set alike; a later one has to be
    strictly better. The loss is listwise over all relevant sheets.
    """
    draw = np.random.default_rng(seed)
    rows = np.flatnonzero(taught.relevant.any(axis=1))
    steps = -(-len(rows) // learning.batch_size)
    learnt = [each for each in network.parameters() if each.requires_grad]
    optimiser = torch.optim.AdamW(learnt, learning.rate, weight_decay=learning.decay)
    total = steps * learning.epochs
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / steps, (total - step) / max(total - steps, 1))
    )
    best, kept, value = 0, _copied(network), _judged(network, judged)
    for epoch in range(1, learning.epochs + 1):
        network.train()
        for items in np.array_split(draw.permutation(rows), steps):
            logits = network(*_inputs(taught, items))
            mask, relevant = (torch.from_numpy(x[items]) for x in (taught.mask, taught.relevant))
            loss = list_losses(logits, mask, relevant, learning.complete).mean()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(learnt, 1.0)
            optimiser.step()
            schedule.step()
        if (now := _judged(network, judged)) > value:
            best, kept, value = epoch, _copied(network), now
    network.load_state_dict(kept)
    return best


def over(base: FeatureNetwork, lists: FeatureLists) -> FeatureLists:
    """Return the lists as a graph over a base scorer reads them: with its logits as scores."""
    return replace(lists, scores=logits_of(base, lists))


def logits_of(network: nn.Module, lists: FeatureLists) -> FloatArray:
    """Return what a network ranks lists by, (b, k)."""
    network.eval()
    with torch.no_grad():
        parts = [
            network(*_inputs(lists, items)).numpy()
            for items in np.array_split(np.arange(len(lists)), -(-len(lists) // _AT_ONCE))
        ]
    found: FloatArray = np.concatenate(parts)
    return found


def _inputs(lists: FeatureLists, items: np.ndarray) -> list[torch.Tensor]:
    arrays = (lists.features[items], lists.relations[items].astype(np.float32), lists.scores[items])
    return [torch.from_numpy(each) for each in arrays]


def _judged(network: nn.Module, judged: Judged) -> float:
    values = [
        metrics_of(lists.rows(logits_of(network, lists)), [_CHOOSING])[_CHOOSING] or 0.0
        for lists in judged.values()
    ]
    return mean(values)


def _copied(network: nn.Module) -> dict[str, torch.Tensor]:
    return {name: each.clone() for name, each in network.state_dict().items()}
