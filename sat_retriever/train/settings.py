"""Define every hyper-parameter of the trainings; the defaults are the paper's, if it has them.

A comment after a value names its source: T = the paper's table of training hyper-parameters,
A = its appendix, R = the released recipe.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from sat_retriever.errors import InputError
from sat_retriever.rank.graph.spec import Start

Precision = Literal["auto", "fast", "fp32", "fp16", "bf16"]
Loss = Literal["multi_positive", "single_positive"]
NegativeChoice = Literal["first", "random"]
Mining = Literal["epoch", "fixed"]


def _check_choices(settings: object, **known: Any) -> None:
    for name, words in known.items():
        if getattr(settings, name) not in get_args(words):
            listed = ", ".join(get_args(words))
            raise InputError(f"unknown {name} {getattr(settings, name)!r}; choose one of: {listed}")


def _check_least(settings: object, **least: int) -> None:
    for name, smallest in least.items():
        if getattr(settings, name) < smallest:
            raise InputError(f"{name} is {getattr(settings, name)}; give {smallest} or more")


def _check_share(dense_weight: float | None) -> None:
    if dense_weight is not None and not 0 <= dense_weight <= 1:
        raise InputError(f"dense_weight is {dense_weight}; give a share from 0 to 1, or None")


def _check_dropout(dropout: float) -> None:
    if not 0 <= dropout < 1:
        raise InputError(f"dropout is {dropout}; give a share from 0 to below 1")


@dataclass(frozen=True, slots=True)
class Schedule:
    """Optimiser steps of one training: AdamW, linear warm-up, linear decay to zero.

    Attributes:
        epochs: Passes over the training queries.
        batch_size: Queries per step, over all processes and accumulated parts.
        learning_rate: Highest learning rate, reached after the warm-up.
        weight_decay: Decoupled weight decay of AdamW.
        warmup_epochs: Length of the warm-up in epochs; may be a fraction.
        max_grad_norm: Largest L2 norm of the gradients; larger ones are clipped.
        accumulation: Number of parts of a batch, each with its own forward and backward pass; only
            queries of the same part share negatives.
        precision: "auto" is fp16 autocast on a CUDA device and fp32 elsewhere, "fast" the same
            but for bf16 autocast on a CPU that multiplies it in hardware.
        seed: Seed of all that is random: weights, order, samples, dropout.
    """

    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float
    warmup_epochs: float
    max_grad_norm: float
    accumulation: int
    precision: Precision
    seed: int

    @classmethod
    def of(cls, settings: Any, **own: Any) -> Schedule:
        """Take the fields from a training's settings, but for those that are given."""
        taken = (each.name for each in fields(cls) if each.name not in own)
        return cls(**{name: getattr(settings, name) for name in taken}, **own)

    def __post_init__(self) -> None:
        _check_least(self, epochs=1, batch_size=1, accumulation=1)
        for name in ("learning_rate", "max_grad_norm"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} is {getattr(self, name)}; give more than 0")
        for name in ("weight_decay", "warmup_epochs"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} is {getattr(self, name)}; give 0 or more")
        _check_choices(self, precision=Precision)


@dataclass(frozen=True, slots=True)
class EncoderTraining:
    """Settings of the fine-tuning of Stage 1, the Sheet Encoder.

    Source: paper, section 3.3 and the table of training hyper-parameters.

    Attributes:
        backbone: Model to start from: "minilm", "general", a sentence-transformers folder or a hub
            name.
        trained_layers: Number of last transformer layers to train; None trains all weights. The
            paper names the pooler too, which neither CLS nor mean pooling reads.
        max_length: Longest text in word pieces; the backbone's own limit if that is smaller.
        loss: "multi_positive" (the paper's) or "single_positive" (the released one, where a
            query's other relevant sheets in the batch count as negatives).
        temperature: Divisor of the cosines in the loss.
        positives: Relevant sheets drawn for a question in each epoch.
        negatives: Hard negatives of a question in each epoch.
        negative_depth: Number of a question's nearest sheets from which its hard negatives come.
        negative_choice: Choice of hard negatives from the non-relevant ones of the nearest sheets:
            the "first" ones, or "random" ones.
        mining: Find the nearest sheets anew before each "epoch", or keep them "fixed" as the
            untrained backbone finds them.
        trained_share: Share of the trained weights in the result; the rest is the weights before
            training. 1 keeps the trained ones. Not in the paper.
        epochs: See `Schedule`, also for the fields that follow.
    """

    backbone: str = "minilm"  # the paper: BAAI/bge-base-en-v1.5
    trained_layers: int | None = 4  # T
    max_length: int = 256  # T; the text says 512
    loss: Loss = "multi_positive"  # eq. of section 3.3
    temperature: float = 0.02  # T
    positives: int = 1  # T
    negatives: int = 1  # T
    negative_depth: int = 50  # R
    negative_choice: NegativeChoice = "first"  # R
    mining: Mining = "epoch"  # R: fixed
    trained_share: float = 1.0
    epochs: int = 3  # T
    batch_size: int = 64  # T
    learning_rate: float = 2e-4  # T
    weight_decay: float = 0.01  # T
    warmup_epochs: float = 0.5  # T
    max_grad_norm: float = 1.0  # T
    accumulation: int = 1
    precision: Precision = "auto"  # T: fp16 autocast (on a GPU)
    seed: int = 42  # T: 42, 43, 44

    def __post_init__(self) -> None:
        _check_choices(self, loss=Loss, negative_choice=NegativeChoice, mining=Mining)
        _check_least(self, max_length=3, positives=1, negatives=0, negative_depth=1, seed=0)
        if self.trained_layers is not None:
            _check_least(self, trained_layers=1)
        if not self.temperature > 0:
            raise InputError(f"temperature is {self.temperature}; give more than 0")
        if not 0 <= self.trained_share <= 1:
            raise InputError(f"trained_share is {self.trained_share}; give a share from 0 to 1")
        if self.loss == "single_positive" and self.positives > 1:
            raise InputError(
                "the single_positive loss draws one relevant sheet a question; set positives to "
                "1, or choose multi_positive"
            )
        self.schedule()

    def schedule(self) -> Schedule:
        """Return the settings for the training loop."""
        return Schedule.of(self)


# Named sets of Stage 1's options; `dataclasses.replace` changes a backbone or a seed.
ENCODER_PRESETS: Mapping[str, EncoderTraining] = {
    "paper": EncoderTraining(backbone="BAAI/bge-base-en-v1.5"),
    "released": EncoderTraining(
        backbone="BAAI/bge-base-en-v1.5", loss="single_positive", mining="fixed"
    ),
}


@dataclass(frozen=True, slots=True)
class RerankerTraining:
    """Settings of the training of Stage 2: first the base scorer, then the gated graph over it.

    Source: paper, section 3.4 and the table of training hyper-parameters.

    Attributes:
        candidates: Sheets that Stage 1 passes on, the paper's K.
        start: Score that ranks the candidates and that the base scorer starts from: "dense" is the
            cosine (the paper's), "fused" mixes cosine and words, "links" adds the training-free
            link reranker to that.
        dense_weight: Share of the cosine in the fused score of cosine and words. 1 is the cosine
            alone; None takes the index's own share, which a trained encoder brings.
        features: Scores that the base scorer reads beside the paper's, from "lexical", "dense" and
            "fused".
        channels: Relations between candidates that the graph reads, from semantic, query, schema,
            shape, lexical, and the types of links (`sat_retriever.rank.graph.channels`).
        layers: Message-passing layers; 0 trains the base scorer alone.
        gate: Initial value of every layer's gate, before the sigmoid.
        joint: Train base scorer and graph together in the second phase; the paper freezes
            the base scorer.
        dropout: Dropout in the perceptrons of base scorer and graph.
        list_weight: Weight of the listwise loss.
        bce_weight: Weight of the binary loss.
        pair_weight: Weight of the margin loss.
        margin: Wanted distance of relevant from other logits in the margin loss.
        keep_start: Let the untrained base scorer compete with its epochs, so that Stage 2 is never
            worse on validation than its start: Stage 1's order, or the given initial weights. A
            frozen graph over Stage 1's order learns nothing.
        base_epochs: Epochs of the base scorer.
        base_learning_rate: Highest learning rate of the base scorer, after the warm-up.
        graph_epochs: Epochs of the graph.
        graph_learning_rate: Highest learning rate of the graph, after the warm-up.
        batch_size: See `Schedule`, also for the fields that follow.
    """

    candidates: int = 50  # T
    start: Start = "dense"  # section 3.3
    dense_weight: float | None = 1.0  # section 3.3
    features: tuple[str, ...] = ()
    channels: tuple[str, ...] = (
        "semantic", "query", "schema", "shape", "formula_reference", "summary_source",
    )  # A: the selection for IndustryTab-1K  # fmt: skip
    layers: int = 1  # A
    gate: float = -4.0  # A: IndustryTab-1K; -6 for IndustryTab-614
    joint: bool = False  # T
    dropout: float = 0.1  # T
    list_weight: float = 1.0  # T
    bce_weight: float = 0.5  # T
    pair_weight: float = 0.2  # T
    margin: float = 0.2  # T
    keep_start: bool = False
    base_epochs: int = 20  # T
    base_learning_rate: float = 2e-4  # T
    graph_epochs: int = 20  # T
    graph_learning_rate: float = 5e-4  # T
    batch_size: int = 64  # T
    weight_decay: float = 0.01  # T
    warmup_epochs: float = 1.0  # T
    max_grad_norm: float = 1.0  # T
    accumulation: int = 1
    precision: Precision = "fp32"  # T
    seed: int = 42  # T: 42, 43, 44

    def __post_init__(self) -> None:
        _check_choices(self, start=Start)
        _check_least(self, candidates=1, layers=0, seed=0)
        _check_share(self.dense_weight)
        _check_dropout(self.dropout)
        if self.layers and not self.channels:
            raise InputError(
                f"layers is {self.layers} without a channel to pass messages along; name some "
                "channels, or set layers to 0 for the base scorer alone"
            )
        if not math.isfinite(self.gate):
            raise InputError(f"gate is {self.gate}; give a finite number, such as -4")
        weights = (self.list_weight, self.bce_weight, self.pair_weight)
        if not all(0 <= value < math.inf for value in (*weights, self.margin)) or not any(weights):
            raise InputError(
                f"the loss weights are {weights} with margin {self.margin}; give 0 or more each, "
                "and one weight above 0"
            )
        self.base_schedule()
        self.graph_schedule()

    def base_schedule(self) -> Schedule:
        """Return the training loop's settings for the base scorer."""
        return Schedule.of(self, epochs=self.base_epochs, learning_rate=self.base_learning_rate)

    def graph_schedule(self) -> Schedule:
        """Return the training loop's settings for the graph."""
        return Schedule.of(self, epochs=self.graph_epochs, learning_rate=self.graph_learning_rate)


# Named sets of Stage 2's options, by the corpus that they were reported for.
RERANKER_PRESETS: Mapping[str, RerankerTraining] = {
    "industrytab_1k": RerankerTraining(),
    "industrytab_614": RerankerTraining(
        channels=(
            "semantic", "query", "schema", "shape",
            "aggregation", "formula_reference", "summary_source",
        ),
        gate=-6.0,
    ),
}  # A  # fmt: skip


@dataclass(frozen=True, slots=True)
class FeatureTraining:
    """Settings of the training of the feature reranker; the values are not the paper's.

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

    def __post_init__(self) -> None:
        _check_least(self, seed=0)
        _check_dropout(self.dropout)
        for name in ("bound", "pull_bound"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name} is {getattr(self, name)}; give more than 0")
        if not 0 <= self.complete < math.inf:
            raise InputError(f"complete is {self.complete}; give 0 or more")
        self.schedule()

    def schedule(self) -> Schedule:
        """Return the settings for the training loop."""
        return Schedule.of(self, accumulation=1, precision="fp32")


@dataclass(frozen=True, slots=True)
class CrossEncoderTraining:
    """Settings of the fine-tuning of the Cross-Encoder on pairs of a question and a sheet.

    Source: paper, appendix (training hyper-parameters, last paragraph).

    Attributes:
        backbone: Model to start from: "minilm", a sentence-transformers folder or a hub name;
            the paper starts from the backbone as published.
        trained_layers: Number of last transformer layers to train, with the linear head; None
            trains all weights.
        max_length: Longest pair of a question and a sheet, in word pieces; the backbone's own limit
            if that is smaller.
        candidates: Sheets that Stage 1 passes on.
        dense_weight: Share of the cosine in the score that finds candidates. 1 is the cosine alone;
            None takes the index's own share, which a trained encoder brings.
        positives: Most relevant sheets paired with a question in an epoch.
        negatives: Most non-relevant candidates paired with a question in an epoch.
        positive_weight: Weight of a relevant pair in the binary loss.
        blend: Weights of the Stage 1 score, from which validation chooses one; the final score is
            the logit plus this weight times the cosine.
        epochs: Passes over the training questions, each with new pairs.
        batch_size: Pairs per step, over all processes and accumulated parts.
        learning_rate: See `Schedule`, also for the fields that follow.
    """

    backbone: str = "minilm"  # the paper: BAAI/bge-base-en-v1.5
    trained_layers: int | None = 2  # A
    max_length: int = 256  # A
    candidates: int = 50  # A
    dense_weight: float | None = 1.0  # section 3.3
    positives: int = 2  # A
    negatives: int = 8  # A
    positive_weight: float = 4.0  # A
    blend: tuple[float, ...] = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)  # R; 10 was selected
    epochs: int = 3  # A
    batch_size: int = 64  # A
    learning_rate: float = 2e-4  # A
    weight_decay: float = 0.01  # A
    warmup_epochs: float = 0.5
    max_grad_norm: float = 1.0  # T
    accumulation: int = 1
    precision: Precision = "auto"  # A: fp16 autocast (on a GPU)
    seed: int = 42  # A: 42, 43, 44

    def __post_init__(self) -> None:
        _check_least(self, max_length=8, candidates=1, positives=1, negatives=1, seed=0)
        if self.trained_layers is not None:
            _check_least(self, trained_layers=1)
        _check_share(self.dense_weight)
        if not self.positive_weight > 0:
            raise InputError(f"positive_weight is {self.positive_weight}; give more than 0")
        if not self.blend or not all(0 <= weight < math.inf for weight in self.blend):
            raise InputError(f"blend is {self.blend}; give one weight or more, each 0 or more")
        self.schedule()

    def schedule(self) -> Schedule:
        """Return the settings for the training loop."""
        return Schedule.of(self)


# The same for the Cross-Encoder.
CROSS_ENCODER_PRESETS: Mapping[str, CrossEncoderTraining] = {
    "paper": CrossEncoderTraining(backbone="BAAI/bge-base-en-v1.5"),
}
