"""Work that blocks, in a bounded number of threads, with a bounded queue for all and for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from sat_retriever._extras import require

try:
    from anyio import CapacityLimiter, to_thread
except ModuleNotFoundError:
    require("anyio", "mcp")  # names the extra to install
    raise

Result = TypeVar("Result")

_SHARE = 4  # clients that fill the queue together; one alone takes a fourth of it


class BusyError(Exception):
    """Too many requests wait already."""


class ShareError(BusyError):
    """Too many requests of this one client wait already."""


class Workers:
    """Threads for one kind of work.

    Args:
        at_once: Threads; further calls wait.
        waiting: Calls that may wait; further ones are refused.
    """

    def __init__(self, at_once: int, waiting: int) -> None:
        self._at_once = at_once
        self._room = at_once + waiting
        self._share = max(at_once, self._room // _SHARE)
        self._taken: Counter[str] = Counter()  # calls that run or wait, by client
        self._limit: CapacityLimiter | None = None

    async def run(
        self, work: Callable[..., Result], *arguments: object, client: str = ""
    ) -> Result:
        """Return what a function returns, without blocking the event loop.

        Args:
            work: The function.
            arguments: Its arguments.
            client: Who asks; "" for a client without others, which may take the whole queue.

        Raises:
            ShareError: If too many calls of this client wait already.
            BusyError: If too many calls wait already.
        """
        if self._limit is None:  # can only be made where an event loop runs
            self._limit = CapacityLimiter(self._at_once)
        if self._taken.total() >= self._room:
            raise BusyError
        if client and self._taken[client] >= self._share:
            raise ShareError
        self._taken[client] += 1  # at once: the limiter counts a call only when it comes to wait
        try:
            # Not abandoned when a client goes away: a running thread counts until it ends.
            return await to_thread.run_sync(partial(work, *arguments), limiter=self._limit)
        finally:
            self._taken[client] -= 1
            if not self._taken[client]:
                del self._taken[client]
