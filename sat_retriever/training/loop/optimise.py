"""Do one optimiser step: parts of a batch, backward, clipping, AdamW."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from numpy.typing import NDArray

from sat_retriever.errors import TrainingError
from sat_retriever.training.loop.checkpoint import Trained
from sat_retriever.training.loop.schedule import Schedule
from sat_retriever.training.loop.task import Share, Task

_SMALLEST_SCALE = 2.0**-10  # a smaller scale does not help if fp16 gradients still overflow


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one optimiser step.

    Attributes:
        loss: The batch's loss, over all processes.
        grad_norm: L2 norm of the gradients before clipping; None if fp16 overflowed. In that case
            the weights stay as they were, and the next step uses a smaller scale.
        due: True if the main process wants a checkpoint.
        stop: True if a process was told to stop.
    """

    loss: float
    grad_norm: float | None
    due: bool
    stop: bool


class _Wrapped(torch.nn.Module):
    """A wrapper for accelerate that leaves the task's module unchanged.

    Accelerate replaces the `forward` of the module that it prepares (autocast). Export and
    validation call the task's module, which must stay as it is.
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
        _renew_scaler(accelerator)
        self._module, self._optimizer = accelerator.prepare(_Wrapped(module), plain)

    def step(
        self, batch: NDArray[np.int64], rate: float, where: str, *, due: bool, stop: bool
    ) -> Step:
        """Train on one batch.

        Args:
            batch: Indices of training queries, the same in every process.
            rate: Learning rate.
            where: Name of the step, for error messages.
            due: True if this process wants a checkpoint; only the main process decides.
            stop: True if this process must stop; any process decides.

        Raises:
            TrainingError: If the loss or the gradients are not finite.
        """
        for group in self.trained.optimizer.param_groups:
            group["lr"] = rate
        loss = self._backward(batch)
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

    def _backward(self, batch: NDArray[np.int64]) -> torch.Tensor:
        """Compute this process's part of the batch's loss and add up its gradients."""
        total = torch.zeros((), device=self._accelerator.device)
        shares = list(self._shares(batch))
        for number, (share, weight) in enumerate(shares, start=1):
            last = number == len(shares)  # processes exchange gradients once per step
            with nullcontext() if last else self._accelerator.no_sync(self._module):
                loss = self._task.loss(self._module, share, self._accelerator) * weight
                self._accelerator.backward(loss)
            total += loss.detach()
        return total

    def _shares(self, batch: NDArray[np.int64]) -> Iterator[tuple[Share, float]]:
        """Yield this process's share of each part of a batch, and the weight of its loss.

        A part's loss is weighted by its number of queries, so the losses add up to the mean over
        the batch. A process without a query of its own computes another's with weight 0, since
        every process must take part in every exchange.
        """
        rank, world = self._accelerator.process_index, self._accelerator.num_processes
        parts = min(self._schedule.accumulation, len(batch))
        for part in np.array_split(batch, parts):
            items, weight = part[rank::world], len(part) / len(batch)
            if not len(items):
                items, weight = part[:1], 0.0
            yield Share(items, len(part), rank, world), weight

    def _update(self, where: str) -> float | None:
        """Update the weights and return the norm of the gradients; None if the step was skipped."""
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


def _renew_scaler(accelerator: Accelerator) -> None:
    """Reset a gradient scaler, so that an earlier training has no effect."""
    if accelerator.scaler is not None:
        fresh = type(accelerator.scaler)(accelerator.device.type)
        accelerator.scaler.load_state_dict(fresh.state_dict())
