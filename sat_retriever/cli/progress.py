"""Progress of a command: a bar in a terminal, an occasional plain line elsewhere."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import Protocol

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.progress import Progress, Task
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from sat_retriever.cli.terminal import counted, ending, plain, stderr

LINE_EVERY_S = 10.0  # at first; lines become rarer the longer a command runs
_LINE_SHARE, _LINE_MOST_S = 0.05, 300.0
_BAR = (10, 24)  # least and largest width beside a path, in columns
_PATH_LEAST = 10  # columns; less of a path is not helpful


@dataclass(frozen=True, slots=True)
class At:
    """The state of a running command.

    Attributes:
        total: Number of items in all; None if unknown.
        noun: Noun for one item, for example "workbook"; may be empty.
        parts: Share of the items being worked on that is done, together, beside those of `done`.
        stage: Name of the stage; the remaining time is estimated anew for each; `what` if empty.
    """

    what: str
    done: int = 0
    total: int | None = None
    noun: str = ""
    figures: str = ""
    path: str = ""
    stage: str = ""
    parts: float = 0.0


class Shown(Protocol):
    """The receiver of a command's progress."""

    def at(self, now: At) -> None:
        """Show the state of the command."""

    def say(self, text: str) -> None:
        """Print a line on standard error without disturbing the progress display."""


class Silent:
    """Progress that shows only the lines passed to `say`."""

    def at(self, now: At) -> None:
        """Show nothing."""

    def say(self, text: str) -> None:
        """Print a line on standard error."""
        stderr().print(plain(text), soft_wrap=True)


class Lines(Silent):
    """Progress as occasional plain lines: in a log, a pipe, or a dumb terminal."""

    def __init__(self, command: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._command = command
        self._clock = clock
        self._start = self._last = clock()
        self._stage, self._since, self._before = "", self._start, 0

    def at(self, now: At) -> None:
        """Print a line if enough time has passed since the last one."""
        clock = self._clock()
        stage = now.stage or now.what
        if stage != self._stage:
            self._stage, self._since, self._before = stage, clock, now.done
        pause = min(max(LINE_EVERY_S, _LINE_SHARE * (clock - self._start)), _LINE_MOST_S)
        if clock - self._last < pause:
            return
        self._last = clock
        self.say(
            f"sat {self._command}: {in_words(now, now.done - self._before, clock - self._since)}"
        )


class _Bar(Progress):
    """Progress in one line of any width: numbers stay, the path and the bar shrink."""

    def __init__(self, console: Console) -> None:
        self._spinner = Spinner("dots")  # drawn first, even before any report
        self._now: At | None = None
        super().__init__(console=console, transient=True)

    def at(self, now: At) -> None:
        """Show the state of the command."""
        stage = now.stage or now.what
        for task in self.tasks:
            if task.fields["stage"] != stage:
                self.remove_task(task.id)
        self._now = now
        if not self.tasks:
            self.add_task("", total=now.total, completed=now.done, stage=stage)
        self.update(self.task_ids[0], total=now.total, completed=now.done + now.parts)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self.console.print(plain(text), soft_wrap=True)

    def get_renderables(self) -> Iterator[RenderableType]:
        """Yield the line."""
        now, tasks = self._now, self.tasks  # rich draws in a thread while `at` replaces the task
        if now is not None and tasks:
            yield _line(now, tasks[0], self._spinner, self.console.width)


@contextmanager
def progress(command: str, first: str, *, path: str = "", quiet: bool = False) -> Iterator[Shown]:
    """Show a command's progress on standard error, at first what it begins with."""
    console = stderr()
    if quiet:
        yield Silent()
    elif console.is_terminal and not console.is_dumb_terminal:
        with _Bar(console) as bar:
            bar.at(At(first, path=path))
            yield bar
    else:
        yield Lines(command)


# ---- words


def in_words(now: At, done: int, seconds: float) -> str:
    """The state of a command as a line of a log.

    >>> in_words(At("reading", 1200, 8000, "workbook"), 1200, 30)
    'reading, 1,200 of 8,000 workbooks, 40 workbooks/s, about 3 minutes left'
    """
    if now.total:
        number = f"{now.done:,} of {counted(now.total, now.noun) if now.noun else f'{now.total:,}'}"
    else:
        number = counted(now.done, now.noun) if now.noun else f"{now.done:,}"
    parts = [now.what, number, now.path if now.parts else "", now.figures]
    if done > 0 and seconds > 0:
        if now.noun:
            parts.append(rate(done, seconds, now.noun))
        if now.total:
            parts.append(f"{about((now.total - now.done) * seconds / done)} left")
    return ", ".join(part for part in parts if part)


def rate(number: int, seconds: float, noun: str) -> str:
    """Items per second, or per minute if fewer than one per second.

    >>> rate(21, 3, "workbook"), rate(1, 1, "workbook"), rate(2, 60, "workbook")
    ('7 workbooks/s', '1 workbook/s', '2 workbooks/min')
    """
    each = number / max(seconds, 1e-3)
    return (
        f"{counted(round(each), noun)}/s" if each >= 1 else f"{counted(round(60 * each), noun)}/min"
    )


def about(seconds: float) -> str:
    """An estimated time in words.

    >>> about(20), about(60), about(130), about(9000)
    ('less than a minute', 'about 1 minute', 'about 2 minutes', 'about 2.5 hours')
    """
    if seconds < 60:
        return "less than a minute"
    if seconds < 5400:
        return f"about {counted(round(seconds / 60), 'minute')}"
    return f"about {seconds / 3600:.1f} hours"


# ---- the bar


def _line(now: At, task: Task, spinner: Spinner, width: int) -> Table:
    """All parts of the bar within `width` columns; numbers take precedence."""
    numbers = f"{now.done:,}/{'?' if now.total is None else f'{now.total:,}'}"
    seconds = task.time_remaining
    left = "" if seconds is None else str(dt.timedelta(seconds=ceil(seconds)))
    what, path = plain(now.what).plain, plain(now.path).plain
    room = width - 2  # the spinner
    widths = []
    for part in (numbers, left, now.figures, what):
        widths.append(max(0, min(cell_len(part), room)))
        room -= widths[-1] + 1 if widths[-1] else 0
    bar = min(_BAR[1], max(_BAR[0], room - cell_len(path) - 1))
    bar = bar if bar <= room else 0
    room -= bar + 1 if bar else 0
    shown = ending(path, room) if room >= _PATH_LEAST else ""
    cells: list[tuple[RenderableType, int]] = [
        (spinner, 1),
        (what, widths[3]),
        (ProgressBar(task.total, task.completed, width=bar, pulse=task.total is None), bar),
        (numbers, widths[0]),
        (left, widths[1]),
        (now.figures, widths[2]),
        (shown, cell_len(shown)),
    ]
    grid = Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
    kept = [(cell, wide) for cell, wide in cells if wide > 0]
    for _, wide in kept:
        grid.add_column(width=wide, no_wrap=True, overflow="ellipsis")
    grid.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell, _ in kept))
    return grid
