"""Display of a running training: its activity, progress and results so far."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sat_retriever.cli.progress import At, Shown, progress

if TYPE_CHECKING:
    from sat_retriever.train.loop.state import TrainingProgress


def is_main() -> bool:
    """True if this process may print; with `accelerate launch` only the first process may."""
    return os.environ.get("RANK", "0") == "0"


class TrainingBar:
    """Receiver of trainings' progress, which it shows in one line.

    Args:
        shown: Display for the progress.
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    def training(self, progress: TrainingProgress) -> None:
        """Show the state of a training."""
        now = At(
            described(progress),
            progress.step,
            progress.steps,
            noun="step",
            figures=measured(progress),
            stage=f"training {progress.phase}",
        )
        self._shown.at(now)

    def finding(self, done: int, total: int) -> None:
        """Show the number of questions that have their candidates."""
        self.counting("candidates", done, total)

    def counting(self, what: str, done: int, total: int) -> None:
        """Show the progress of other work."""
        self._shown.at(At(what, done, total))

    def say(self, text: str) -> None:
        """Print a line, in a terminal above the bar."""
        self._shown.say(text)


@contextmanager
def training_bar(command: str) -> Iterator[TrainingBar]:
    """Show the progress of a command's trainings, in the main process only."""
    with progress(command, "getting ready", quiet=not is_main()) as shown:
        yield TrainingBar(shown)


def described(progress: TrainingProgress) -> str:
    """The activity of a training, in words.

    >>> from sat_retriever.train.loop.state import TrainingProgress
    >>> described(TrainingProgress("graph", "training", 2, 20, 31, 300, 0.5, 0.9))
    'graph: training, epoch 2 of 20'
    """
    phase = f"{progress.phase}: " if progress.phase else ""
    return f"{phase}{progress.doing}, epoch {progress.epoch} of {progress.epochs}"


def measured(progress: TrainingProgress) -> str:
    """The results of a training so far, in words.

    >>> from sat_retriever.train.loop.state import TrainingProgress
    >>> measured(TrainingProgress("", "training", 2, 20, 31, 300, 0.5, 0.9))
    'loss 0.500, best NDCG@5 .900'
    """
    parts = [] if progress.loss is None else [f"loss {progress.loss:.3f}"]
    if progress.best is not None:
        parts.append(f"best NDCG@5 {progress.best:.3f}".replace(" 0.", " ."))
    return ", ".join(parts)
