"""Describe the state that a training reports to progress bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a training.

    Attributes:
        phase: Name of the part of the training, for example "graph"; may be empty.
        doing: "preparing" an epoch (mining), "training" or "validating" it; at the end "mixing"
            weights from before and after, when steps count mixtures.
        epoch: The current epoch; 0 is the model before training.
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
    """A receiver of the state after each step and at each start of another activity.

    Called in the main process only.
    """

    def __call__(self, standing: Standing) -> None:
        """Show the state."""
        ...
