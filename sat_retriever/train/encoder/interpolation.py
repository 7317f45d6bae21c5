"""Mix the trained weights with those before training, by the share that is best on validation.

Fine-tuning improves answers to questions like the training's and loses some of the model's other
knowledge. Weights between both keep most of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from accelerate import Accelerator

from sat_retriever.records.progress import Progress
from sat_retriever.train.encoder.fusion import CHOSEN, name_of
from sat_retriever.train.loop.course import Metrics
from sat_retriever.train.loop.task import MEASURE, Task
from sat_retriever.train.loop.weights import own_copy

SHARE = "trained_share"  # its name among the metrics

Weights = Mapping[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Interpolated:
    """The chosen share of the trained weights, and its metrics.

    Attributes:
        share: 1 keeps the trained weights.
        metrics: Metrics of the validation questions with these weights, and the share and the
            result of every share.
    """

    share: float
    metrics: Metrics


def trained_weights(module: torch.nn.Module) -> Weights:
    """Return copies of the trainable parameters, by name, on the CPU."""
    learn = {name: each for name, each in module.named_parameters() if each.requires_grad}
    return {name: own_copy(each) for name, each in learn.items()}


def interpolate(
    task: Task,
    before: Weights,
    trained: Metrics,
    shares: Sequence[float],
    accelerator: Accelerator,
    counting: Progress | None = None,
) -> Interpolated:
    """Give the task's module the best mixture of its weights and earlier ones.

    Called in every process. The best mixture has the highest NDCG@5 on validation, of the fused
    score if words are known. Among equals it is the one nearest to the trained weights.

    Source: Wortsman et al. 2022, "Robust fine-tuning of zero-shot models" (section 3, weight
    ensembling). Departs: the share is chosen on validation questions.

    Args:
        task: The task; its module has the trained weights and is in eval mode.
        before: The weights before training, from `trained_weights`.
        trained: Validation metrics of the module's weights.
        shares: Shares of the trained weights to choose from, each in [0, 1]; 1 is none of them
            unless it is named.
        accelerator: The training's accelerator.
        counting: Called before each mixture with the number tried, and of all.
    """
    after = trained_weights(task.module)
    tried: dict[float, Metrics] = {}
    for done, share in enumerate(sorted({*shares}, reverse=True)):
        if counting is not None:
            counting(done, len({*shares}))
        if share == 1:
            tried[share] = trained
            continue
        _mix(task.module, before, after, share)
        with torch.no_grad():
            tried[share] = task.validate(accelerator)
    best = max(tried, key=lambda share: _measure(tried[share]))  # the first of equals: descending
    _mix(task.module, before, after, best)
    curve = {f"{MEASURE}, {SHARE} = {share:g}": _measure(tried[share]) for share in tried}
    return Interpolated(best, {**tried[best], SHARE: best, **curve})


def _mix(module: torch.nn.Module, before: Weights, after: Weights, share: float) -> None:
    """Set each trained parameter to share · after + (1 - share) · before."""
    here = dict(module.named_parameters())
    with torch.no_grad():
        for name, trained in after.items():
            # Not `lerp`: at 1 the trained weights are restored bit for bit.
            mixed = trained if share == 1 else share * trained + (1 - share) * before[name]
            here[name].copy_(mixed)


def _measure(found: Metrics) -> float:
    """Return NDCG@5 of the score that ranks: fused at the chosen share if words are known."""
    share = found.get(CHOSEN)
    value = found[MEASURE if share is None else name_of(share)]
    return -1.0 if value is None else value
