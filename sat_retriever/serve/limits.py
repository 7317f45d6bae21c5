"""Limits on the requests of one client: how often, how long the URL, how large the body."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import math
import mmap
import time
from collections.abc import Callable, MutableSequence
from dataclasses import dataclass

from sat_retriever.serve.asgi import App, Message, Receive, Send, refuse, wants_json

HTTP_PATH = "/mcp"
OPENAPI = "/api/openapi.json"
MAX_URL = 16_384  # bytes of path and query: a sheet's id may be long
MAX_BODY = 16_384  # bytes of a form
MAX_API_BODY = 1 << 20  # twenty sheets and a query
MAX_MCP_BODY = 4 << 20
RATE = 50.0  # requests a second of one client, and four times as many at once
BODY_WITHIN_S = 30
_CLIENTS = 65_536  # that are told apart; of more, some are counted together
_DRAINED = 16 << 20  # bytes beyond a limit that are read, since many clients send before they read
_CLOSE = (b"connection", b"close")
_IPV6_PREFIX = 64  # bits that one client has for itself


class Counts:
    """Numbers that all processes of a server count in: tables of requests and of sign-ins.

    A third table, `beats`, has a number for each process, which grows as long as it answers.

    Two processes that count at the same moment may count one request instead of two.

    Args:
        file: File descriptor of `SIZE` bytes, which the processes share; -1 for one process.
        salt: The same in all of these processes, and known to nobody else.
    """

    PROCESSES = 256
    SIZE = 8 * (2 * _CLIENTS + PROCESSES)

    def __init__(self, file: int = -1, salt: str = "") -> None:
        self._memory = memoryview(mmap.mmap(file, self.SIZE)).cast("d")
        self._salt = salt.encode()
        self.requests = self._memory[:_CLIENTS]
        self.tries = self._memory[_CLIENTS : 2 * _CLIENTS]
        self.beats = self._memory[2 * _CLIENTS :]

    def place(self, client: str) -> int:
        """Return the place of a client in each table; nobody can choose whom to share it with."""
        found = hashlib.blake2b(client.encode("utf-8", "replace"), digest_size=8, key=self._salt)
        return int.from_bytes(found.digest(), "big") % _CLIENTS


class RateLimit:
    """Counts requests by client: a bucket for each, which fills again at a constant rate.

    Args:
        burst: Requests at once, after a pause.
        full_at: Table of the times at which each bucket is full again.
        clock: Returns seconds that never go back, the same in all processes.
    """

    def __init__(
        self,
        per_second: float,
        burst: int,
        full_at: MutableSequence[float] | memoryview[float],
        place: Callable[[str], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate = per_second
        self._burst = burst
        self._full_at = full_at
        self._place = place
        self._clock = clock

    def wait_s(self, client: str) -> float:
        """Count a request and return 0.0, or return the seconds after which one is allowed.

        >>> limit = RateLimit(1, 2, [0.0, 0.0], int, clock=lambda: 0.0)
        >>> [limit.wait_s("0") for _ in range(3)], limit.wait_s("1")
        ([0.0, 0.0, 1.0], 0.0)
        """
        if not self._rate:
            return 0.0
        now, place = self._clock(), self._place(client)
        full_at = max(self._full_at[place], now)
        wait = full_at - now - (self._burst - 1) / self._rate
        if wait > 0:
            return wait
        self._full_at[place] = full_at + 1 / self._rate
        return 0.0


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """An ASGI application that passes on requests of a moderate rate and size."""

    app: App
    rate: RateLimit

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Reply 429, 414, 413 or 408 to a request beyond a limit; pass others on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        wait = self.rate.wait_s(client_of(scope))
        if wait:
            await too_often(scope, send, wait)
        elif len(scope["raw_path"]) + len(scope["query_string"]) > MAX_URL:
            await refuse(scope, send, 414, f"The address is longer than {MAX_URL:,} bytes.")
        elif scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, send)
        else:
            await self._with_body(scope, receive, send)

    async def _with_body(self, scope: Message, receive: Receive, send: Send) -> None:
        programs = MAX_API_BODY if wants_json(scope["path"]) else MAX_BODY
        most = MAX_MCP_BODY if scope["path"] == HTTP_PATH else programs
        try:
            body = await asyncio.wait_for(_body(receive, most), BODY_WITHIN_S)
        except TimeoutError:
            await refuse(scope, send, 408, "The request's body did not arrive.")
            return
        if body is None:
            await refuse(scope, send, 413, f"The request has more than {most:,} bytes.", [_CLOSE])
        else:
            await _while_there(self.app, body, scope, receive, send)


async def too_often(scope: Message, send: Send, wait_s: float) -> None:
    """Refuse a client that asks too often, and tell it when to ask again."""
    seconds = math.ceil(wait_s)
    retry = (b"retry-after", str(seconds).encode())
    await refuse(scope, send, 429, f"Too many requests; wait {seconds} s, then try again.", [retry])


def client_of(scope: Message) -> str:
    """Return the key by which one client's requests are counted: its address, of IPv6 the network.

    >>> client_of({"client": ("2001:db8::1", 80)}), client_of({"client": ("10.0.0.1", 80)})
    ('2001:db8::/64', '10.0.0.1')
    """
    host: str = (scope.get("client") or ("unknown", 0))[0]
    if ":" not in host:
        return host
    try:
        return str(ipaddress.ip_network(f"{host.partition('%')[0]}/{_IPV6_PREFIX}", strict=False))
    except ValueError:
        return host


async def _body(receive: Receive, most: int) -> bytes | None:
    body = bytearray()
    size = 0
    more = True
    while more and size <= most + _DRAINED:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        body += part[: max(0, most - len(body))]
        more = message["type"] == "http.request" and message.get("more_body", False)
    return bytes(body) if size <= most else None


async def _while_there(app: App, body: bytes, scope: Message, receive: Receive, send: Send) -> None:
    """Answer a request whose body was read; the work is cancelled if the client goes before."""
    import anyio  # the command's help needs this module, and no server

    given, gone = False, asyncio.Event()

    async def replay() -> Message:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    with anyio.CancelScope() as running:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.set()
            running.cancel()

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body"):
                watching.cancel()  # what follows the answer is done whoever is there
            await send(message)

        watching = asyncio.create_task(watch())
        try:
            await app(scope, replay, watched)
        finally:
            watching.cancel()
