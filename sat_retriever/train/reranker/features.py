"""Train the feature reranker, on lists of one corpus or of many."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn
from torch.nn.functional import softplus

from sat_retriever.datasets.metrics import mean
from sat_retriever.encoder.models.folder import file_hash
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import InputError, TrainingError
from sat_retriever.rank.features.featurerank import FEATURES
from sat_retriever.rank.features.features import FEATURES as INPUTS
from sat_retriever.rank.features.features import RELATIONS
from sat_retriever.rank.features.model import (
    ASKED_COLUMNS,
    CLIP,
    HIDDEN,
    MODEL,
    PAIRED_COLUMNS,
    PULL_HIDDEN,
    PULL_INPUTS,
    Familiarity,
    FeatureModel,
    FeatureSpec,
)
from sat_retriever.records.files import make_folder
from sat_retriever.records.tokens import FloatArray
from sat_retriever.train.data.trainingdata import defined_metrics
from sat_retriever.train.loop.device import make_accelerator, moved, staged
from sat_retriever.train.loop.task import Share
from sat_retriever.train.loop.weights import save_weights
from sat_retriever.train.reranker.featurelists import CANDIDATES, FeatureLists
from sat_retriever.train.reranker.run import RerankerTask, TrainedReranker, open_run, train_in
from sat_retriever.train.settings import FeatureTraining

if TYPE_CHECKING:
    from accelerate import Accelerator

    from sat_retriever.train.loop.state import OnProgress

FEATURE_METRICS = ("NDCG@5", "NDCG@10", "AllRelevant@10")
_WEIGHTS = "features.safetensors"
_FEWEST = 10  # lists from which it is learnt how familiar a list is
_SLOPE = 20.0  # logits for a score of 1, at the start
_FAR = 1e4  # beyond every logit
_AT_ONCE = 256  # lists of a validation step
_COMPLETE = (5, 10)  # sizes of an answer that should hold all relevant sheets


class FeatureNetwork(nn.Module):
    """The network of `FeatureModel` in torch; a logit is slope · score + both bounded terms."""

    mean: torch.Tensor
    spread: torch.Tensor

    def __init__(self, lists: FeatureLists, settings: FeatureTraining) -> None:
        super().__init__()
        known = lists.features[lists.mask]
        self.register_buffer("mean", torch.from_numpy(known.mean(axis=0)))
        self.register_buffer("spread", torch.from_numpy(known.std(axis=0) + 1e-3))
        self.slope = nn.Parameter(torch.tensor(_SLOPE))
        self.bounds = (settings.bound, settings.pull_bound)
        self.own = _perceptron(len(INPUTS), HIDDEN, settings.dropout)
        self.pull = _perceptron(PULL_INPUTS, PULL_HIDDEN, settings.dropout)

    def forward(
        self, features: torch.Tensor, relations: torch.Tensor, scores: torch.Tensor
    ) -> torch.Tensor:
        """Return logits (b, k) of features (b, k, f), relations (b, k, p, r), scores (b, k)."""
        state = ((features - self.mean) / self.spread).clamp(-CLIP, CLIP)
        own = self.own(state).squeeze(-1)
        row, pulled, pulling = relations.any(dim=-1).nonzero(as_tuple=True)  # of n related pairs
        paired, asked = state[..., PAIRED_COLUMNS], state[:, 0, ASKED_COLUMNS]
        parts = (
            relations[row, pulled, pulling], paired[row, pulled], paired[row, pulling], asked[row]
        )  # fmt: skip
        strength = self.pull(torch.cat(parts, dim=-1)).squeeze(-1)  # (n,)
        pulls = torch.zeros_like(own).index_put((row, pulled), strength, accumulate=True)
        logits: torch.Tensor = self.slope * scores
        for term, bound in zip((own, pulls), self.bounds, strict=True):
            logits = logits + bound * torch.tanh(term / bound)
        return logits

    def arrays(self) -> dict[str, torch.Tensor]:
        """Return its arrays by the names that `FeatureModel` reads; they share its memory."""
        found = {"mean": self.mean, "spread": self.spread}
        for name, layers in (("own", self.own), ("pull", self.pull)):
            linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
            for number, layer in enumerate(linear, start=1):
                found |= {f"{name}.w{number}": layer.weight, f"{name}.b{number}": layer.bias}
        return {name: each.detach() for name, each in found.items()}

    def begin_with(self, model: FeatureModel) -> None:
        """Take the arrays and the slope of a trained model."""
        for name, array in self.arrays().items():
            array.copy_(torch.from_numpy(model.network[name]))
        self.slope.data.fill_(model.spec.slope)


def _perceptron(inputs: int, hidden: tuple[int, int], dropout: float) -> nn.Sequential:
    """Return two hidden layers and one output, which is 0 at first."""
    last = nn.Linear(hidden[1], 1)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(
        nn.Linear(inputs, hidden[0]), nn.ReLU(), nn.Dropout(dropout),
        nn.Linear(hidden[0], hidden[1]), nn.ReLU(), last,
    )  # fmt: skip


def list_losses(
    logits: torch.Tensor, mask: torch.Tensor, relevant: torch.Tensor, complete: float
) -> torch.Tensor:
    """Return the loss of each list, (b,): listwise, and that of incomplete answers.

    The first part is the mean −log softmax of the relevant sheets. The second, weighted by
    `complete`, compares the worst relevant sheet with the irrelevant one that it must pass for all
    to stand among the first five, and among the first ten. All arrays are (b, k); each list has a
    relevant candidate.
    """
    logits = logits.masked_fill(~mask, -_FAR)
    number = relevant.sum(dim=1)
    losses: torch.Tensor = -(logits.log_softmax(dim=1) * relevant).sum(dim=1) / number
    if complete:
        worst = logits.masked_fill(~relevant, _FAR).min(dim=1).values
        wrong = logits.masked_fill(relevant, -_FAR).sort(dim=1, descending=True).values
        for size in _COMPLETE:
            place = (size - number).clamp(min=0, max=wrong.shape[1] - 1)
            bar = wrong.gather(1, place[:, None]).squeeze(1)
            losses = losses + complete * softplus(bar - worst) * (number <= size)
    return losses


class FeatureTask(RerankerTask):
    """A task that trains a feature network.

    Validation counts every corpus alike, with the guard that a search has: `familiarity`, learnt
    from the training lists or an earlier training's.
    """

    def __init__(
        self,
        network: FeatureNetwork,
        train: FeatureLists,
        validation: FeatureLists,
        familiarity: Familiarity,
        settings: FeatureTraining,
    ) -> None:
        self._network = network
        self._settings = settings
        self._train = train
        self._validation = validation
        self._answerable = np.flatnonzero(train.relevant.any(axis=1))
        self._familiarity = familiarity
        shares = [familiarity.share(features) for features in validation.lists()]
        self._shares = np.array(shares, dtype=np.float32)

    @property
    def module(self) -> torch.nn.Module:
        return self._network

    @property
    def size(self) -> int:
        return len(self._answerable)  # training questions with a relevant candidate

    def inputs(self, share: Share, device: torch.device) -> dict[str, torch.Tensor]:
        rows = self._answerable[share.items]
        names = ("features", "relations", "scores", "mask", "relevant")
        return {name: staged(getattr(self._train, name)[rows], device) for name in names}

    def loss(
        self,
        module: torch.nn.Module,
        inputs: Mapping[str, torch.Tensor],
        share: Share,
        accelerator: Accelerator,
    ) -> torch.Tensor:
        given = {name: moved(value, accelerator.device) for name, value in inputs.items()}
        logits = module(given["features"], given["relations"].float(), given["scores"])
        losses = list_losses(logits, given["mask"], given["relevant"], self._settings.complete)
        own = losses.sum() if share.counts else losses.sum() * 0
        shared: torch.Tensor = own * share.world / share.total
        return shared

    def validate(self, accelerator: Accelerator) -> Mapping[str, float]:
        rows = self._validation.rows(self.values())
        corpora: list[str] = self._validation.corpora.tolist()
        of_each = {}
        for name in dict.fromkeys(corpora):
            own = [row for row, corpus in zip(rows, corpora, strict=True) if corpus == name]
            of_each[name] = defined_metrics(own, FEATURE_METRICS)
        found = {name: mean([each[name] for each in of_each.values()]) for name in FEATURE_METRICS}
        return found | {
            f"{name} ({part})": each[name]
            for part, each in of_each.items()
            for name in each
            if part
        }

    def values(self) -> FloatArray:
        """Return what the validation lists are ranked by, (b, k)."""
        lists = self._validation
        device, parts = self._network.slope.device, []
        with torch.no_grad():
            for rows in np.array_split(np.arange(len(lists)), -(-len(lists) // _AT_ONCE)):
                given = (lists.features[rows], lists.relations[rows], lists.scores[rows])
                features, relations, scores = (torch.from_numpy(each).to(device) for each in given)
                parts.append(self._network(features, relations.float(), scores).cpu())
        slope = float(self._network.slope.detach())
        moves = torch.cat(parts).numpy() / slope - lists.scores
        values: FloatArray = (lists.scores + self._shares[:, None] * moves).astype(np.float32)
        return values

    def save(self, folder: Path) -> None:
        make_folder(folder)
        save_weights(folder / _WEIGHTS, self._network)

    def export(self, target: Path) -> None:
        network, settings, train = self._network, self._settings, self._train
        spec = FeatureSpec(
            train.encoder, train.serialization, CANDIDATES, tuple(INPUTS), RELATIONS,
            float(network.slope.detach()), settings.bound, settings.pull_bound,
        )  # fmt: skip
        arrays = {name: each.cpu().numpy() for name, each in network.arrays().items()}
        FeatureModel(spec, arrays, self._familiarity).save(target)


def train_features(
    train: FeatureLists,
    validation: FeatureLists,
    settings: FeatureTraining,
    folder: str | Path,
    *,
    start_from: Path | None = None,
    data_name: str = "",
    device: Device = "auto",
    progress: OnProgress | None = None,
) -> TrainedReranker:
    """Train the feature reranker in a run folder; see `train_reranker`.

    If no epoch is better than the start on the validation lists, the start is kept: the order of
    the links, or the reranker in `start_from`. A training that starts from another reranker keeps
    its guard, so what it learns of few lists changes no list that was strange before. A start is
    needed if there are fewer than ten training lists.
    """
    if start_from is None and len(train) < _FEWEST:
        raise InputError(
            f"there are {len(train)} training questions, and this reranker needs {_FEWEST}: "
            "label more, or train one of another kind"
        )
    accelerator = make_accelerator(settings.schedule(), device)
    start, starts = None, {}
    if start_from is not None:
        start, starts = FeatureModel.load(start_from), {"start_from": file_hash(start_from / MODEL)}
        for name in ("bound", "pull_bound"):
            theirs, ours = getattr(start.spec, name), getattr(settings, name)
            if theirs != ours:
                raise TrainingError(
                    f"a training with {name} {ours} cannot begin with {start_from}, which has "
                    f"{theirs}; give that, or begin with another"
                )
    run = open_run(folder, FEATURES.name, settings, (train, validation), data_name, **starts)

    def make() -> FeatureTask:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            network = FeatureNetwork(train, settings)
        if start is None:
            guard = Familiarity.of(train.lists(), settings.seed)
        else:
            guard = start.familiarity
            network.begin_with(start)
        return FeatureTask(network, train, validation, guard, settings)

    return train_in(
        run, make, settings.schedule(), accelerator, progress, "network", untrained="keep"
    )
