"""Compute the learning rate of each step."""

from __future__ import annotations

from sat_retriever.train.loop.schedule import Schedule


def learning_rate(schedule: Schedule, step: int, epoch_steps: int) -> float:
    """Return the learning rate of a step: linear warm-up from 0, then linear decay to 0.

    With w warm-up steps of t in all, it is peak * step / w for step < w, and after that
    peak * (t - step) / (t - w).

    Source: paper, training hyper-parameters, which say only "linear". This is the form of
    transformers' `get_linear_schedule_with_warmup`: steps count from 0, so the first step of a
    warm-up changes no weight, only AdamW's moments.

    Args:
        schedule: Peak, epochs, and epochs of warm-up (rounded to whole steps).
        step: Optimiser steps done before this one, over all epochs.
        epoch_steps: Steps per epoch.

    >>> plan = Schedule(2, 8, 1.0, 0.0, 0.5, 1.0, 1, "fp32", 0)
    >>> [round(learning_rate(plan, step, 4), 2) for step in range(8)]
    [0.0, 0.5, 1.0, 0.83, 0.67, 0.5, 0.33, 0.17]
    """
    total = schedule.epochs * epoch_steps
    warm = min(round(schedule.warmup_epochs * epoch_steps), total)
    if step < warm:
        return schedule.learning_rate * step / warm
    return schedule.learning_rate * (total - step) / max(total - warm, 1)
