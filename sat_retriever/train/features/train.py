"""Train the feature reranker on lists of many corpora.

run/features/    the reranker folder
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn
from torch.nn.functional import softplus

from sat_retriever.datasets.metrics import mean
from sat_retriever.rank.features.features import FEATURES, RELATIONS
from sat_retriever.rank.features.model import (
    ASKED_COLUMNS,
    CLIP,
    HIDDEN,
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
from sat_retriever.train.features.featurelists import CANDIDATES, FeatureLists
from sat_retriever.train.loop.device import make_accelerator, moved, staged
from sat_retriever.train.loop.fit import fit
from sat_retriever.train.loop.runfolder import RunFolder
from sat_retriever.train.loop.task import Share, State
from sat_retriever.train.loop.weights import save_weights
from sat_retriever.train.settings import Schedule

if TYPE_CHECKING:
    from accelerate import Accelerator

    from sat_retriever.train.loop.state import OnProgress

FEATURE_METRICS = ("NDCG@5", "NDCG@10", "AllRelevant@10")
_RERANKER, _WEIGHTS = "features", "features.safetensors"
_PHASE = "network"
_SLOPE = 20.0  # logits for a score of 1, at the start
_FAR = 1e4  # beyond every logit
_AT_ONCE = 256  # lists of a validation step
_COMPLETE = (5, 10)  # sizes of an answer that should hold all relevant sheets


@dataclass(frozen=True, slots=True)
class FeatureTraining:
    """Settings of the training of the feature reranker.

    Attributes:
        bound: Most that a sheet's own features add to its logit or take from it.
        pull_bound: The same for the pulls of other sheets.
        complete: Weight of the loss of incomplete answers.
        dropout: Share of the first hidden layer that is dropped in training.
        epochs: See `Schedule`, also for the fields that follow.
    """

    bound: float = 2.0
    pull_bound: float = 10.0
    complete: float = 1.0
    dropout: float = 0.2
    epochs: int = 8
    batch_size: int = 64
    learning_rate: float = 2e-3
    weight_decay: float = 1e-3
    warmup_epochs: float = 1.0
    max_grad_norm: float = 1.0
    seed: int = 42

    def schedule(self) -> Schedule:
        """Return the settings for the training loop."""
        return Schedule.of(self, accumulation=1, precision="fp32")


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
        self.own = _perceptron(len(FEATURES), HIDDEN, settings.dropout)
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

    def arrays(self) -> dict[str, FloatArray]:
        """Return its arrays by the names that `FeatureModel` reads."""
        found = {"mean": self.mean, "spread": self.spread}
        for name, layers in (("own", self.own), ("pull", self.pull)):
            linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
            for number, layer in enumerate(linear, start=1):
                found |= {f"{name}.w{number}": layer.weight, f"{name}.b{number}": layer.bias}
        return {name: each.detach().cpu().numpy() for name, each in found.items()}


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


class FeatureTask:
    """A `Task` that trains a feature network.

    Validation counts every corpus alike, with the guard that a search has: `familiarity`, learnt
    from the training lists. `complete` is the weight of the loss of incomplete answers.
    """

    def __init__(
        self,
        network: FeatureNetwork,
        train: FeatureLists,
        validation: FeatureLists,
        familiarity: Familiarity,
        complete: float,
    ) -> None:
        self._network = network
        self._complete = complete
        self._train = train
        self._validation = validation
        self._answerable = np.flatnonzero(train.relevant.any(axis=1))
        self._familiarity = familiarity
        shares = [familiarity.share(features) for features in validation.lists()]
        self._shares = np.array(shares, dtype=np.float32)

    @property
    def module(self) -> torch.nn.Module:
        """The network."""
        return self._network

    @property
    def size(self) -> int:
        """Number of training questions with a relevant candidate."""
        return len(self._answerable)

    def prepare(self, epoch: int, accelerator: Accelerator) -> None:
        """Do nothing: lists stay as they are."""

    def inputs(self, share: Share, device: torch.device) -> dict[str, torch.Tensor]:
        """Return the lists of a share."""
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
        """Return the loss of a share; see `list_losses`."""
        given = {name: moved(value, accelerator.device) for name, value in inputs.items()}
        logits = module(given["features"], given["relations"].float(), given["scores"])
        losses = list_losses(logits, given["mask"], given["relevant"], self._complete)
        own = losses.sum() if share.counts else losses.sum() * 0
        shared: torch.Tensor = own * share.world / share.total
        return shared

    def validate(self, accelerator: Accelerator) -> Mapping[str, float]:
        """Return metrics of each corpus, and their means over the corpora."""
        rows = self._validation.rows(self.values())
        corpora: list[str] = self._validation.corpora.tolist()
        of_each = {}
        for name in dict.fromkeys(corpora):
            own = [row for row, corpus in zip(rows, corpora, strict=True) if corpus == name]
            of_each[name] = defined_metrics(own, FEATURE_METRICS)
        found = {name: mean([each[name] for each in of_each.values()]) for name in FEATURE_METRICS}
        return found | {
            f"{name} ({part})": each[name] for part, each in of_each.items() for name in each
        }

    def values(self) -> FloatArray:
        """Return what the validation lists are ranked by, (b, k)."""
        lists = self._validation
        parts = []
        with torch.no_grad():
            for rows in np.array_split(np.arange(len(lists)), -(-len(lists) // _AT_ONCE)):
                given = (lists.features[rows], lists.relations[rows], lists.scores[rows])
                features, relations, scores = map(torch.from_numpy, given)
                parts.append(self._network(features, relations.float(), scores))
        slope = float(self._network.slope.detach())
        moves = torch.cat(parts).numpy() / slope - lists.scores
        values: FloatArray = (lists.scores + self._shares[:, None] * moves).astype(np.float32)
        return values

    def save(self, folder: Path) -> None:
        """Write the current weights into a new folder."""
        make_folder(folder)
        save_weights(folder / _WEIGHTS, self._network)

    def state(self) -> State:
        """Return no arrays: there are only weights."""
        return {}

    def restore(self, state: State) -> None:
        """Restore nothing."""


@dataclass(frozen=True, slots=True)
class TrainedFeatures:
    """A finished training."""

    folder: Path  # of the run
    best_epoch: int  # that was kept; 0 is the order of the links
    metrics: Mapping[str, float | None]  # of the validation questions

    @property
    def reranker(self) -> Path:
        """The folder that `FeatureReranker.load` reads."""
        return self.folder / _RERANKER


def train_features(
    train: FeatureLists,
    validation: FeatureLists,
    settings: FeatureTraining,
    folder: str | Path,
    *,
    data_name: str = "",
    progress: OnProgress | None = None,
) -> TrainedFeatures:
    """Train the feature reranker in a run folder; the same call goes on after a kill.

    The training lists should be of as many kinds of corpora as possible; those of validation choose
    the epoch.

    Raises:
        TrainingError: If the folder holds another training, or the loss is not finite.
        OutputError: If the folder cannot be written.
    """
    accelerator = make_accelerator(settings.schedule())
    config = {"kind": _RERANKER, **asdict(settings)}
    data_hash = f"{train.fingerprint}-{validation.fingerprint}"
    run = RunFolder.open(folder, config, data_hash=data_hash, data_name=data_name)
    if not run.finished:
        with run.held():
            familiarity = Familiarity.of(train.lists(), settings.seed)
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(settings.seed)
                network = FeatureNetwork(train, settings)
            task = FeatureTask(network, train, validation, familiarity, settings.complete)
            fitted = fit(
                task, settings.schedule(), run, accelerator, progress, _PHASE, untrained="keep"
            )
            if accelerator.is_main_process:
                spec = FeatureSpec(
                    train.encoder, train.serialization, CANDIDATES, tuple(FEATURES), RELATIONS,
                    float(network.slope.detach()), settings.bound, settings.pull_bound,
                )  # fmt: skip
                model = FeatureModel(spec, network.cpu().arrays(), familiarity)
                model.save(fitted.folder / _RERANKER)
                run.finish(fitted.result(), fitted.folder)
            accelerator.wait_for_everyone()
    result = run.result()
    return TrainedFeatures(run.path, result["best_epoch"], result["metrics"])
