"""The state that a training reports for progress bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a training stands.

    Attributes:
        phase: Name of the part of the training, for example "graph"; may be empty.
        doing: "preparing" an epoch (mining), "training", or "validating" it; "mixing" weights from
            before and after, at the end: the steps are mixtures then.
        epoch: The epoch at hand; 0 is the model before training.
        epochs: Epochs in all.
        step: Optimiser steps done, over all epochs.
        steps: Optimiser steps in all.
        loss: Loss of the last step; None before the first one since the start or resumption.
        best: Best validation NDCG@5 so far; None before the first validation.
    """

    phase: str
    doing: Literal["preparing", "training", "validating", "mixing"]
    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float | None
    best: float | None


class TrainingProgress(Protocol):
    """Is told after each step, and when preparing or validating starts; main process only."""

    def __call__(self, standing: Standing) -> None:
        """Show it."""
        ...
