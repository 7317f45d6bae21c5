"""The progress of long work: a bar with an estimate, or without a terminal a line a minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress

_SECONDS = 60.0  # between two lines where there is no terminal

Told = Callable[[int, int], None]  # how much is done, and of how much


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Told]:
    """What is to be called as the work goes on."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield progress_lines(what)
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done, _: bar.update(task, completed=done)


def progress_lines(what: str) -> Told:
    """The same for a log: how much is done, and the minutes left at the pace since the start."""
    start = told = time.monotonic()
    before: int | None = None  # done by an earlier run that goes on

    def progress(done: int, total: int) -> None:
        nonlocal told, before
        now = time.monotonic()
        if before is None:
            before = done - 1
        if now - told >= _SECONDS:
            told = now
            left = (now - start) / (done - before) * (total - done)
            sys.stderr.write(f"{what}: {done:,} of {total:,}, about {left / 60:.0f} min left\n")

    return progress
