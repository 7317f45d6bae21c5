"""Applications by those who see the same sheets: made when they first ask, and kept a while."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from anyio import CapacityLimiter, to_thread

from sat_retriever.errors import SatError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.permissions import Owner, Principals
from sat_retriever.serve.asgi import App, Message, Receive, Send, refuse
from sat_retriever.serve.identity import SignInError, identity_of

Seeing = tuple[str, ...] | Owner | None
"""Groups in force, the owner, or None for an index without permissions."""
MOST = 16  # applications that are kept, as views of the index are
_ASKED_AT_ONCE = 4  # readings of the groups in force

_logger = logging.getLogger(__name__)


@dataclass(eq=False, slots=True)
class _Living:
    """An application whose lifespan runs."""

    app: App
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Task[None] | None = None
    running: int = 0

    async def start(self) -> None:
        started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ended = asyncio.create_task(self._live(started))
        self.ended.add_done_callback(partial(_failed, started))
        await started

    async def _live(self, started: asyncio.Future[None]) -> None:
        told = False

        async def receive() -> Message:
            nonlocal told
            if told:
                await self.stop.wait()
            kind, told = ("shutdown" if told else "startup"), True
            return {"type": f"lifespan.{kind}"}

        async def send(message: Message) -> None:
            if message["type"] == "lifespan.startup.complete":
                started.set_result(None)

        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        await self.app(scope, receive, send)

    async def end(self) -> None:
        self.stop.set()
        if self.ended is not None:
            await asyncio.wait([self.ended])


def _failed(started: asyncio.Future[None], ended: asyncio.Task[None]) -> None:
    if not started.done():
        started.set_exception(ended.exception() or SatError("an application did not start"))


class Audiences:
    """An ASGI application that passes a request on to that of those who see the same sheets.

    The groups of whoever asks are compared with the rules in force at the time of the request.

    Args:
        index: The whole index.
        make: Makes the application of those who see the same sheets; called in a thread.
        unsigned: For whom requests of nobody in particular are answered.
    """

    def __init__(
        self, index: SheetIndex, make: Callable[[Seeing], App], unsigned: Principals | None
    ) -> None:
        self._index = index
        self._make = make
        self._unsigned = unsigned
        self._made: dict[Seeing, App] = {}
        self._living: OrderedDict[Seeing, asyncio.Task[_Living]] = OrderedDict()
        self._asking: CapacityLimiter | None = None
        self._making: CapacityLimiter | None = None

    def prepare(self, principals: Principals | None) -> None:
        """Make the application of some who may ask, before there are requests."""
        seeing = self._seeing(principals)
        if seeing not in self._made:
            self._made[seeing] = self._make(seeing)

    def _seeing(self, principals: Principals | None) -> Seeing:
        if principals is None or isinstance(principals, Owner):
            return principals
        return self._index.groups_in_force(principals)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or start and stop with the server."""
        if scope["type"] != "http":
            await self._lifespan(receive, send)
            return
        try:
            living = await self._found(scope)
        except (SatError, OSError) as error:
            _logger.warning("a request could not be answered: %.500s", error)
            reason = str(error) if isinstance(error, SignInError) else "The index cannot be read."
            await refuse(scope, send, 503, reason, [(b"retry-after", b"5")])
            return
        try:
            await living.app(scope, receive, send)
        finally:
            living.running -= 1

    async def _found(self, scope: Message) -> _Living:
        if self._asking is None or self._making is None:  # only where an event loop runs
            self._asking, self._making = CapacityLimiter(_ASKED_AT_ONCE), CapacityLimiter(1)
        identity = identity_of(scope)
        principals = identity.principals if identity else self._unsigned
        if principals is None or isinstance(principals, Owner):  # no rules to read
            seeing: Seeing = principals
        else:
            seeing = await to_thread.run_sync(
                self._index.groups_in_force, principals, limiter=self._asking
            )
        if seeing not in self._living:
            self._living[seeing] = asyncio.create_task(self._started(seeing, self._making))
            await self._let_go()
        self._living.move_to_end(seeing)
        task = self._living[seeing]
        try:
            living = await asyncio.shield(task)
        except (SatError, OSError):
            if self._living.get(seeing) is task:
                del self._living[seeing]
            raise
        living.running += 1
        return living

    async def _started(self, seeing: Seeing, making: CapacityLimiter) -> _Living:
        app = self._made.pop(seeing, None)
        if app is None:
            app = await to_thread.run_sync(self._make, seeing, limiter=making)
        living = _Living(app)
        await living.start()
        return living

    async def _let_go(self) -> None:
        """End the applications that were used longest ago and answer nothing, beyond so many."""
        for seeing, task in [*self._living.items()][: max(0, len(self._living) - MOST)]:
            if task.done() and not task.exception() and not task.result().running:
                del self._living[seeing]
                await task.result().end()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        for task in self._living.values():
            if task.done() and not task.exception():
                await task.result().end()
        await send({"type": "lifespan.shutdown.complete"})
