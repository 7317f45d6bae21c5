"""Work in threads: a bounded number of calls at once, with a bounded queue."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from sat_retriever._extras import require
from sat_retriever.index.index import SheetIndex
from sat_retriever.system import stop_by

try:
    import anyio
    from anyio import from_thread
except ModuleNotFoundError:
    require("anyio", "mcp")  # names the extra to install
    raise

_SHARE = 4  # clients that fill the queue together; one alone takes a fourth of it
_TOGETHER = 8  # questions that are encoded in one batch; more gain little
_LONGEST = 4_000  # characters of a question that is encoded with others

Result = TypeVar("Result")


class BusyError(Exception):
    """Too many requests wait already."""


class ShareError(BusyError):
    """Too many requests of this one client wait already."""


class Workers:
    """Threads for one kind of work."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._at_once = at_once
        self._room = at_once + waiting
        self._share = max(at_once, self._room // _SHARE)
        self._taken: Counter[str] = Counter()  # calls that run or wait, by client
        self._limit: anyio.CapacityLimiter | None = None

    @property
    def is_idle(self) -> bool:
        """True if no call runs or waits."""
        return not self._taken

    async def run(
        self,
        work: Callable[..., Result],
        *arguments: object,
        client: str = "",
        before: Callable[[], Awaitable[None]] | None = None,
    ) -> Result:
        """Return what a function returns, without blocking the event loop.

        Args:
            client: Who asks; "" for a client without others, which may take the whole queue.
            before: What the call waits for before it takes a thread; it counts as waiting already.
        """
        if self._limit is None:  # can only be made where an event loop runs
            self._limit = anyio.CapacityLimiter(self._at_once)
        if self._taken.total() >= self._room:
            raise BusyError
        if client and self._taken[client] >= self._share:
            raise ShareError
        gone = threading.Event()
        self._taken[client] += 1  # at once: the limiter counts a call only when it comes to wait
        try:
            if before:
                await before()
            # Not abandoned when a client goes away: a running thread counts until it ends, which
            # is soon, as long work looks whether it is still wanted.
            return await anyio.to_thread.run_sync(
                partial(_unless_gone, gone, work, *arguments), limiter=self._limit
            )
        finally:
            gone.set()
            self._taken[client] -= 1
            if not self._taken[client]:
                del self._taken[client]


def _unless_gone(gone: threading.Event, work: Callable[..., Result], *arguments: object) -> Result:
    """What a function returns, unless its caller's scope is cancelled, or its task itself."""

    def check() -> None:
        from_thread.check_cancelled()
        if gone.is_set():
            raise asyncio.CancelledError

    stop_by(check)  # in the context of this call, which ends with it
    return work(*arguments)


class Searches:
    """Threads that search an index; the questions of searches that wait are encoded together.

    One thread encodes, beside those that search. A question that comes while it encodes waits for
    that batch, then the first one takes all that wait. A search that finds nothing else running
    encodes its own question, in its own thread, and so does each whose batch failed: an error is
    then that of its own question.
    """

    def __init__(self, index: SheetIndex, processes: int, waiting: int) -> None:
        self._index = index
        self._threads = Workers(searches_at_once(processes), waiting)
        self._waiting: dict[object, str] = {}
        self._encoding: anyio.Lock | None = None

    async def run(
        self,
        work: Callable[..., Result],
        *arguments: object,
        question: object,
        client: str = "",
    ) -> Result:
        """Return what a function returns that asks the question; see `Workers.run`."""
        alone = self._threads.is_idle or not isinstance(question, str) or len(question) > _LONGEST
        before = None if alone else partial(self._encoded, str(question))
        return await self._threads.run(work, *arguments, client=client, before=before)

    async def _encoded(self, question: str) -> None:
        """Wait until a question is encoded, with others that wait."""
        if self._encoding is None:  # can only be made where an event loop runs
            self._encoding = anyio.Lock()
        own = object()
        self._waiting[own] = question
        try:
            async with self._encoding:
                if own not in self._waiting:  # one before it took it along
                    return
                taken = [*self._waiting][:_TOGETHER]
                batch = [self._waiting.pop(each) for each in taken]
                with contextlib.suppress(Exception):  # each search meets its own when it encodes
                    await anyio.to_thread.run_sync(self._index.encode_ahead, batch)
        finally:
            self._waiting.pop(own, None)


def searches_at_once(processes: int = 1) -> int:
    """Threads that search in each of some processes.

    A search computes all the time, so more than the cores only slow each other down: fifty at once
    over 100,000 sheets took 1.4 s each with one thread, 4.6 s with four (two cores).
    """
    return max(1, max(2, (os.cpu_count() or 2) // 2) // processes)
