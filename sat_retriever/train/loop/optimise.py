"""Do one optimiser step: parts of a batch, backward, clipping, AdamW."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from numpy.typing import NDArray

from sat_retriever.errors import TrainingError
from sat_retriever.train.loop.checkpoint import Trained
from sat_retriever.train.loop.task import Share, Task
from sat_retriever.train.settings import Schedule

_SMALLEST_SCALE = 2.0**-10  # a smaller scale does not help if fp16 gradients still overflow


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one optimiser step."""

    loss: float  # of the batch, over all processes
    grad_norm: float | None  # L2, before clipping; None if fp16 overflowed: no weight changed
    due: bool  # the main process wants a checkpoint
    stop: bool  # a process was told to stop


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a batch, ready for its forward pass."""

    share: Share
    weight: float  # makes the losses of the parts add up to the mean; 0 without a query of its own
    inputs: Any  # from `Task.inputs`


class _Wrapped(torch.nn.Module):
    """The module for accelerate, which replaces the `forward` of what it prepares (autocast).

    Export and validation call the task's own module, which must stay as it is.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, *arguments: Any, **named: Any) -> Any:
        return self.module(*arguments, **named)


class Optimiser:
    """The module of a task under AdamW and accelerate.

    All parameters that require gradients are trained, and all of them decay, as AdamW does by
    default: the paper names the decay and no exception.
    """

    def __init__(self, task: Task, schedule: Schedule, accelerator: Accelerator) -> None:
        module = task.module.to(accelerator.device)
        parameters = [value for value in module.parameters() if value.requires_grad]
        if not parameters:
            raise TrainingError("the model has no parameter that requires gradients")
        plain = torch.optim.AdamW(
            parameters, lr=schedule.learning_rate, weight_decay=schedule.weight_decay
        )
        self.trained = Trained(module, plain, accelerator)
        self._task = task
        self._schedule = schedule
        self._accelerator = accelerator
        self._parameters = parameters
        if accelerator.scaler is not None:  # an earlier training must have no effect
            fresh = type(accelerator.scaler)(accelerator.device.type)
            accelerator.scaler.load_state_dict(fresh.state_dict())
        self._module, self._optimizer = accelerator.prepare(_Wrapped(module), plain)

    def parts(self, batch: NDArray[np.int64]) -> list[Part]:
        """Return this process's share of each part of a batch, with its inputs.

        The batch is the same in every process. This may run in another thread, ahead of the
        step; see `Task.inputs`.
        """
        rank, world = self._accelerator.process_index, self._accelerator.num_processes
        found = []
        for part in np.array_split(batch, min(self._schedule.accumulation, len(batch))):
            share = Share(part, rank, world)
            weight = len(part) / len(batch) if share.counts else 0.0
            found.append(Part(share, weight, self._task.inputs(share, self._accelerator.device)))
        return found

    def step(
        self, parts: Sequence[Part], rate: float, where: str, *, due: bool, stop: bool
    ) -> Step:
        """Train on one batch.

        `where` names the step in error messages. The main process decides by `due` if a checkpoint
        is due, any process by `stop` if all must stop. A TrainingError if the loss or the gradients
        are not finite.
        """
        for group in self.trained.optimizer.param_groups:
            group["lr"] = rate
        loss = self._backward(parts)
        # One exchange gives all processes the loss and their common decisions.
        wishes = loss.new_tensor([float(due and self._accelerator.is_main_process), float(stop)])
        sums = self._accelerator.reduce(torch.cat([loss[None], wishes]), reduction="sum").tolist()
        mean = sums[0] / self._accelerator.num_processes
        if not math.isfinite(mean):
            raise TrainingError(
                f"the loss is {mean} at {where}; choose a smaller learning rate, or precision "
                "fp32 if it was another"
            )
        return Step(mean, self._update(where), sums[1] > 0, sums[2] > 0)

    def _backward(self, parts: Sequence[Part]) -> torch.Tensor:
        """Return this process's part of the loss, and add up its gradients."""
        total = torch.zeros((), device=self._accelerator.device)
        for number, part in enumerate(parts, start=1):
            last = number == len(parts)  # processes exchange gradients once per step
            with nullcontext() if last else self._accelerator.no_sync(self._module):
                own = self._task.loss(self._module, part.inputs, part.share, self._accelerator)
                loss = own * part.weight
                self._accelerator.backward(loss)
            total += loss.detach()
        return total

    def _update(self, where: str) -> float | None:
        """Update the weights; return the gradients' norm, or None if fp16 overflowed."""
        accelerator = self._accelerator
        norm = float(accelerator.clip_grad_norm_(self._parameters, self._schedule.max_grad_norm))
        finite = math.isfinite(norm)
        scaler = accelerator.scaler
        if not finite and (scaler is None or scaler.get_scale() < _SMALLEST_SCALE):
            raise TrainingError(
                f"the gradients' norm is {norm} at {where}; choose a smaller learning rate, or "
                "precision fp32 if it was another"
            )
        self._optimizer.step()  # with fp16 the scaler skips the step after an overflow
        self._optimizer.zero_grad()
        return norm if finite else None


def learning_rate(schedule: Schedule, step: int, epoch_steps: int) -> float:
    """Return the learning rate of a step: linear warm-up from 0, then linear decay to 0.

    With w warm-up steps of t in all, it is peak * step / w for step < w, and after that
    peak * (t - step) / (t - w). `step` counts the optimiser steps before this one, over all epochs;
    the warm-up is rounded to whole steps.

    Source: paper, training hyper-parameters, which say only "linear". This is the form of
    transformers' `get_linear_schedule_with_warmup`: steps count from 0, so the first step of a
    warm-up changes no weight, only AdamW's moments.

    >>> plan = Schedule(2, 8, 1.0, 0.0, 0.5, 1.0, 1, "fp32", 0)
    >>> [round(learning_rate(plan, step, 4), 2) for step in range(8)]
    [0.0, 0.5, 1.0, 0.83, 0.67, 0.5, 0.33, 0.17]
    """
    total = schedule.epochs * epoch_steps
    warm = min(round(schedule.warmup_epochs * epoch_steps), total)
    if step < warm:
        return schedule.learning_rate * step / warm
    return schedule.learning_rate * (total - step) / max(total - warm, 1)
