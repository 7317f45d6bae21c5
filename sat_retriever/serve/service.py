"""The state of a serving process: it answers probes, and stops after the last request."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from sat_retriever._extras import require
from sat_retriever.errors import SatError
from sat_retriever.serve.asgi import App, Message, Receive, Send, refuse

try:
    from anyio import CapacityLimiter, to_thread
except ModuleNotFoundError:
    require("anyio", "mcp")  # names the extra to install
    raise

LIVE, READY = "/health/live", "/health/ready"
_CHECK_AGAIN_S = 1.0
_CHECK_WITHIN_S = 5.0
_CLOSE = (b"connection", b"close")
_RETRY = (b"retry-after", b"1")

_logger = logging.getLogger(__name__)


class Service:
    """An ASGI application that answers probes, and refuses requests once it stops.

    `/health/live` is 200 as long as the process runs. `/health/ready` is 200 and `ok` while
    requests are answered, else 503 and `stopping` or `index unreadable`. A probe needs no token and
    no known host, is counted by no limit, and learns nothing else.

    Args:
        check: Reads the index; its errors tell that it cannot be read.

    Attributes:
        running: Number of requests that are being answered.
        stopping: True as soon as new requests are refused.
        retiring: True as soon as each answer is to be the last on its connection.
    """

    def __init__(
        self, app: App, check: Callable[[], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.running = 0
        self.stopping = False
        self.retiring = False
        self._app = app
        self._check = check
        self._clock = clock
        self._checked: asyncio.Task[bool] | None = None
        self._checked_at = 0.0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a probe, refuse a request of a server that stops, or pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif scope["path"] in (LIVE, READY):
            await self._probed(scope, send)
        elif self.stopping:
            reason = "The server is stopping; try again in a moment."
            await refuse(scope, send, 503, reason, [_RETRY, _CLOSE])
        else:
            self.running += 1
            try:
                await self._app(scope, receive, _last(send) if self.retiring else send)
            finally:
                self.running -= 1

    async def _probed(self, scope: Message, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            await refuse(scope, send, 405, "A probe is GET or HEAD.", [(b"allow", b"GET, HEAD")])
            return
        state = "ok" if scope["path"] == LIVE else await self._state()
        if state == "ok":
            await refuse(scope, send, 200, state)
        else:
            await refuse(scope, send, 503, state, [_RETRY])

    async def _state(self) -> str:
        if self.stopping:
            return "stopping"
        return "ok" if await self._readable() else "index unreadable"

    async def _readable(self) -> bool:
        """True if the index can be read; it is tried at most once a second, and not waited for."""
        now = self._clock()
        due = self._checked is None or now - self._checked_at >= _CHECK_AGAIN_S
        if self._checked is None or (due and self._checked.done()):
            self._checked, self._checked_at = asyncio.create_task(self._tried()), now
        done, _ = await asyncio.wait([self._checked], timeout=_CHECK_WITHIN_S)
        return bool(done) and self._checked.result()

    async def _tried(self) -> bool:
        try:
            await to_thread.run_sync(self._check, limiter=CapacityLimiter(1))  # waits for no search
        except (SatError, OSError) as error:
            _logger.warning("the index cannot be read: %.500s", error)
            return False
        except Exception:
            _logger.exception("the index cannot be read")
            return False
        return True


def _last(send: Send) -> Send:
    """Return a function that sends an answer as the last one of its connection."""

    async def closing(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), _CLOSE]
        await send(message)

    return closing
