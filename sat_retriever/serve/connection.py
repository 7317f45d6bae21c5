"""A connection that is closed if the head of a request does not come in time."""

from __future__ import annotations

import asyncio
from typing import Any

from sat_retriever._extras import require

try:
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ModuleNotFoundError:
    require("uvicorn", "mcp")  # names the extra to install
    raise

HEAD_WITHIN_S = 10.0


class Connection(H11Protocol):
    """One client's connection.

    uvicorn waits for a request line and headers without end; only a connection without a single
    byte after an answer does it close. Here the head must be complete some seconds after the
    connection was made, or after the answer before. `RequestLimits` does the same for bodies.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take some bytes; after those of a whole head there is no wait until its answer."""
        super().data_received(data)
        if self._answering():
            self._cancel()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless it is there already."""
        super().on_response_complete()
        if not self._answering():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._cancel()
        super().connection_lost(exc)

    def _answering(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _wait(self) -> None:
        self._cancel()
        self._late = self.loop.call_later(HEAD_WITHIN_S, self.transport.close)

    def _cancel(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
