"""Show the progress of long work: a bar with an estimate, or a line a minute in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

_SECONDS = 60.0  # between two lines without a terminal

Each = TypeVar("Each")
Told = Callable[[int, int], None]  # the amount done, and the total


def track(values: Iterable[Each], what: str, total: int | None = None) -> Iterator[Each]:
    """Yield values and show how many of them are done.

    Args:
        values: What is worked on.
        what: What the progress is called.
        total: The number of values; None takes their length.
    """
    if total is None:
        assert isinstance(values, Sized), "without a total, values need a length"
        total = len(values)
    with progress_bar(what, total) as told:
        for number, value in enumerate(values, start=1):
            yield value
            told(number, total)


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
