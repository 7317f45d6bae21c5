"""Prepare the inputs of coming steps in a thread while the current step runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")

# On a GPU the host is idle during a step. On a CPU every core computes the step, so a thread beside
# it would only take turns with it.
_DEPTHS = {"cuda": 2}


def depth_on(kind: str) -> int:
    """Return the number of steps to prepare ahead for a kind of device: 0 unless it is "cuda"."""
    return _DEPTHS.get(kind, 0)


def made_ahead(
    make: Callable[[Item], Made], items: Iterable[Item], depth: int
) -> Generator[Made, None, None]:
    """Yield `make(item)` for each item, in order; errors are raised at their item.

    Args:
        make: Called for one item at a time, in the order of the items.
        items: The items.
        depth: Results made in another thread before they are needed; 0 makes each when it is.

    >>> list(made_ahead(str, [1, 2, 3], depth=2))
    ['1', '2', '3']
    """
    if depth == 0:
        yield from map(make, items)
        return
    waiting: deque[Future[Made]] = deque()
    pool = ThreadPoolExecutor(1, thread_name_prefix="inputs")
    try:
        for item in items:
            waiting.append(pool.submit(make, item))
            if len(waiting) > depth:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:  # also if the loop ends early: an interrupt, an error
        pool.shutdown(wait=True, cancel_futures=True)
