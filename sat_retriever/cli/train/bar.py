"""How a training is shown while it runs: one line on standard error, in a terminal only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

from sat_retriever.cli.terminal import plain, stderr

if TYPE_CHECKING:
    from sat_retriever.training.progress import Standing


def is_main() -> bool:
    """Whether this process speaks; of those of `accelerate launch` only the first one does."""
    return os.environ.get("RANK", "0") == "0"


class TrainingBar:
    """What trainings report to; all of it is shown in one line.

    Args:
        bar: Where to show it.
    """

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._task = bar.add_task("getting ready", total=None, found="")

    def training(self, standing: Standing) -> None:
        """Show where a training stands."""
        self._bar.update(
            self._task,
            description=described(standing),
            completed=standing.step,
            total=standing.steps,
            found=measured(standing),
        )

    def finding(self, done: int, total: int) -> None:
        """Show how many questions have their candidates."""
        self.counting("candidates", done, total)

    def counting(self, what: str, done: int, total: int) -> None:
        """Show how much is done of something that is no training."""
        self._bar.update(self._task, description=what, completed=done, total=total, found="")

    def say(self, text: str) -> None:
        """Print a line above the bar, in a terminal or not."""
        self._bar.console.print(plain(text), soft_wrap=True)


@contextmanager
def training_bar() -> Iterator[TrainingBar]:
    """A bar on standard error; hidden where it could not be drawn, and in all but one process."""
    console = stderr()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[found]}"),
    )
    off = not console.is_terminal or console.is_dumb_terminal or not is_main()
    with Bar(*columns, console=console, transient=True, disable=off) as bar:
        yield TrainingBar(bar)


def described(standing: Standing) -> str:
    """What the training is doing.

    >>> from sat_retriever.training.progress import Standing
    >>> described(Standing("graph", "training", 2, 20, 31, 300, 0.5, 0.9))
    'graph: training, epoch 2 of 20'
    """
    phase = f"{standing.phase}: " if standing.phase else ""
    return f"{phase}{standing.doing}, epoch {standing.epoch} of {standing.epochs}"


def measured(standing: Standing) -> str:
    """What it has come to.

    >>> from sat_retriever.training.progress import Standing
    >>> measured(Standing("", "training", 2, 20, 31, 300, 0.5, 0.9))
    'loss 0.500, best NDCG@5 .900'
    """
    parts = [] if standing.loss is None else [f"loss {standing.loss:.3f}"]
    if standing.best is not None:
        parts.append(f"best NDCG@5 {standing.best:.3f}".replace(" 0.", " ."))
    return ", ".join(parts)
