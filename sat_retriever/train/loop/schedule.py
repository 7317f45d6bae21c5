"""Define the optimiser settings of a training, and the learning rate of each step."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from sat_retriever.errors import InputError

Precision = Literal["auto", "fast", "fp32", "fp16", "bf16"]


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

    Raises:
        InputError: If a number is out of its range.
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
        for name in ("epochs", "batch_size", "accumulation"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; give 1 or more")
        for name in ("learning_rate", "max_grad_norm"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} is {getattr(self, name)}; give more than 0")
        for name in ("weight_decay", "warmup_epochs"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name} is {getattr(self, name)}; give 0 or more")
        if self.precision not in get_args(Precision):
            known = ", ".join(get_args(Precision))
            raise InputError(f"unknown precision {self.precision!r}; choose one of: {known}")


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
