"""Work that blocks, in a bounded number of threads, with a bounded queue."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from sat_retriever._extras import require

try:
    from anyio import CapacityLimiter, to_thread
except ModuleNotFoundError:
    require("anyio", "serve")  # names the extra to install
    raise

Result = TypeVar("Result")


class BusyError(Exception):
    """Too many requests wait already."""


class Workers:
    """Threads for one kind of work.

    Args:
        at_once: Threads; further calls wait.
        waiting: Calls that may wait; further ones are refused.
    """

    def __init__(self, at_once: int, waiting: int) -> None:
        self._at_once = at_once
        self._waiting = waiting
        self._taken = 0  # calls that run or wait
        self._limit: CapacityLimiter | None = None

    async def run(self, work: Callable[..., Result], *arguments: object) -> Result:
        """Return what a function returns, without blocking the event loop.

        Raises:
            BusyError: If too many calls wait already.
        """
        if self._limit is None:  # can only be made where an event loop runs
            self._limit = CapacityLimiter(self._at_once)
        if self._taken >= self._at_once + self._waiting:
            raise BusyError
        self._taken += 1  # at once: the limiter counts a call only when it comes to wait
        try:
            # Not abandoned when a client goes away: a running thread counts until it ends.
            return await to_thread.run_sync(partial(work, *arguments), limiter=self._limit)
        finally:
            self._taken -= 1
