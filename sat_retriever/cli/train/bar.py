"""How a training is shown while it runs: what it does, how far it is, what has come of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sat_retriever.cli.progress import At, Shown, progress

if TYPE_CHECKING:
    from sat_retriever.training.loop.progress import Standing


def is_main() -> bool:
    """True if this process speaks; of those of `accelerate launch` only the first one does."""
    return os.environ.get("RANK", "0") == "0"


class TrainingBar:
    """What trainings report to; all of it is shown in one line.

    Args:
        shown: Where to show it.
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    def training(self, standing: Standing) -> None:
        """Show where a training stands."""
        now = At(
            described(standing),
            standing.step,
            standing.steps,
            noun="step",
            figures=measured(standing),
            stage=f"training {standing.phase}",
        )
        self._shown.at(now)

    def finding(self, done: int, total: int) -> None:
        """Show how many questions have their candidates."""
        self.counting("candidates", done, total)

    def counting(self, what: str, done: int, total: int) -> None:
        """Show how much is done of something that is no training."""
        self._shown.at(At(what, done, total))

    def say(self, text: str) -> None:
        """Print a line above the bar, in a terminal or not."""
        self._shown.say(text)


@contextmanager
def training_bar(command: str) -> Iterator[TrainingBar]:
    """What a command's trainings report to; nothing is shown of any but the main process."""
    with progress(command, "getting ready", quiet=not is_main()) as shown:
        yield TrainingBar(shown)


def described(standing: Standing) -> str:
    """What the training is doing.

    >>> from sat_retriever.training.loop.progress import Standing
    >>> described(Standing("graph", "training", 2, 20, 31, 300, 0.5, 0.9))
    'graph: training, epoch 2 of 20'
    """
    phase = f"{standing.phase}: " if standing.phase else ""
    return f"{phase}{standing.doing}, epoch {standing.epoch} of {standing.epochs}"


def measured(standing: Standing) -> str:
    """What it has come to.

    >>> from sat_retriever.training.loop.progress import Standing
    >>> measured(Standing("", "training", 2, 20, 31, 300, 0.5, 0.9))
    'loss 0.500, best NDCG@5 .900'
    """
    parts = [] if standing.loss is None else [f"loss {standing.loss:.3f}"]
    if standing.best is not None:
        parts.append(f"best NDCG@5 {standing.best:.3f}".replace(" 0.", " ."))
    return ", ".join(parts)
