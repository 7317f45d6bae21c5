"""Show the progress of long work: a bar with an estimate, or a line a minute in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress

_SECONDS = 60.0  # between two lines without a terminal

Told = Callable[[int, int], None]  # the amount done, and the total


@contextmanager
def progress_bar(what: str, total: int) -> Iterator[Told]:
    """Yield a function to call as the work goes on."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield progress_lines(what)
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done, _: bar.update(task, completed=done)


def progress_lines(what: str) -> Told:
    """Return the function for a log: the amount done, and the minutes left at this pace.

    The pace is that since the first call: what was done before may be an earlier run's.
    """
    told = time.monotonic()
    first: tuple[float, int] | None = None  # when, and the amount done

    def progress(done: int, total: int) -> None:
        nonlocal told, first
        now = time.monotonic()
        start, before = first = first or (now, done)
        if now - told >= _SECONDS and done > before:
            told = now
            left = (now - start) / (done - before) * (total - done)
            sys.stderr.write(f"{what}: {done:,} of {total:,}, about {left / 60:.0f} min left\n")

    return progress
