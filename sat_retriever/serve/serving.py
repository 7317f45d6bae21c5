"""The socket and the server of an application; no other module serves HTTP."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from sat_retriever._extras import require
from sat_retriever.errors import InputError
from sat_retriever.serve.guard import SecureHeaders, host_of
from sat_retriever.serve.limits import client_of
from sat_retriever.serve.plan import OpenFiles, Plan
from sat_retriever.serve.service import Service
from sat_retriever.serve.tokens import MAKE_ONE
from sat_retriever.serve.trusted import Network, Peer, is_within, network_of

try:
    import uvicorn
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ModuleNotFoundError:
    require("uvicorn", "serve")  # names the extra to install
    raise

INTERRUPTED = 130  # exit code after Ctrl-C
CONNECTIONS = 512  # of a process; further ones are answered 503
CLIENTS_CONNECTIONS = CONNECTIONS // 4  # of one client that is no named proxy; others are closed
_WAITING = 2_048  # connections that wait to be accepted
_TURN_S = 0.001  # after each, so that another process takes the next one
_AGAIN_S = 1.0  # after one that could not be accepted
_HEADER_BYTES = 65_536  # of a request, its URL included
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 (a user's own choice, only compared)

_logger = logging.getLogger(__name__)
HEAD_WITHIN_S = 10.0


def listen(host: str, port: int) -> socket.socket:
    """Take a port; port 0 selects a free one. Connections are refused until a server listens.

    Raises:
        InputError: If the host is not an address of this machine, or the port is not free.
    """
    made = None
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # Only of a socket that names its protocol does asyncio turn off Nagle's algorithm, which
        # would hold back the body of each answer for 40 ms.
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if os.name == "posix":  # elsewhere it would share the port with another server
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
    except (OSError, UnicodeError) as error:
        if made:
            made.close()
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot serve on {host} port {port}: {reason}; choose another port or host"
        ) from error
    return made


def check_private(listening: socket.socket, *, signs_in: bool) -> None:
    """Refuse to serve other machines unless people and programs sign in."""
    if not signs_in and not is_for_this_machine(listening):
        host = listening.getsockname()[0]
        raise InputError(
            f"other machines can reach {host}, so a token is needed: make one with "
            f"{MAKE_ONE} and add --token-file sat.token; or add --tokens, --oidc-issuer or "
            "--trusted-header"
        )


def is_for_this_machine(listening: socket.socket) -> bool:
    """True if no other machine reaches a socket."""
    host: str = listening.getsockname()[0]
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback


def open_files_at(listening: socket.socket, plan: Plan) -> OpenFiles:
    """What a server does with whole workbooks: what was asked for, else what fits its address.

    Raises:
        InputError: If programs of this machine would be started for others.
    """
    others = plan.names or plan.proxies or plan.oidc or plan.header
    alone = is_for_this_machine(listening) and not others
    if plan.open_files == OpenFiles.DESKTOP and not alone:
        raise InputError(
            "others can reach this server, so it opens no programs here; give --open-files "
            "download, or leave out --host, --allow-host, --proxy, --oidc-issuer and "
            "--trusted-header"
        )
    return plan.open_files or (OpenFiles.DESKTOP if alone else OpenFiles.OFF)


def url(listening: socket.socket) -> str:
    """URL at which clients reach the server on a socket, without a path."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - any address
    return f"http://{_bracketed(host)}:{port}"


def known_names(host: str, names: Sequence[str] = ()) -> list[str]:
    """Host names whose requests are answered."""
    own = _bracketed(socket.gethostname() if host in _ANYWHERE else host)
    return [*_LOOPBACK, *([own] if host_of(own) else []), *names]


def networks(addresses: Sequence[str]) -> list[str]:
    """Addresses of proxies, checked."""
    for each in addresses:
        network_of(each)
    return list(addresses)


class Serving(uvicorn.Server):
    """A server of one process on a socket that may be shared.

    Args:
        proxies: Addresses and networks of proxies, whose word on their clients counts.
        stop_s: Seconds that running requests have to end once the server stops.
        hurry: True stops at once at a second signal.
        beat: Called several times a second, as long as the event loop turns.
    """

    def __init__(
        self,
        service: Service,
        proxies: Sequence[str],
        stop_s: float,
        started: Callable[[], object],
        *,
        hurry: bool,
        beat: Callable[[], object] = lambda: None,
    ) -> None:
        # Who connects is noted before a proxy's word on its client takes its place. No other
        # client may choose the address that it is counted by.
        app: Any = SecureHeaders(service)
        app = ProxyHeadersMiddleware(app, list(proxies)) if proxies else app
        config = uvicorn.Config(
            Peer(app),
            http=Connection,
            h11_max_incomplete_event_size=_HEADER_BYTES,
            log_config=None,  # the caller decides where logs go
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            ws="none",
            limit_concurrency=CONNECTIONS,
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)
        self._service = service
        self._proxies = [network_of(each) for each in proxies]
        self._stop_s = stop_s
        self._stopped_by = 0
        self._deadline = 0.0
        self._started = started
        self._hurry = hurry
        self._beat = beat
        self._closed, self._told = asyncio.Event(), asyncio.Event()

    def serve_until_stopped(self, listening: socket.socket) -> int:
        """Serve until a signal; return the exit code: 0 after SIGTERM, 130 after Ctrl-C."""
        self._listening = listening
        self.run(sockets=[])
        return self._code

    def retire(self) -> None:
        """Accept no more connections, and end when the open ones are closed; refuse no request."""
        self._service.retiring = True
        self._deadline = time.monotonic() + self._stop_s

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell so."""
        await super().startup(sockets)
        if self.started:
            self._listening.setblocking(False)
            self._listening.listen(_WAITING)
            self._accepting = asyncio.create_task(self._accept())
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more connections, and close the open ones."""
        self._accept_no_more()
        await super().shutdown(sockets)

    async def _accept(self) -> None:
        """Accept connections one by one; uvicorn would give one process a whole burst."""
        loop = asyncio.get_running_loop()
        while await self._comes():
            pause = _TURN_S
            try:
                client, _ = self._listening.accept()
                client.setblocking(False)
                await loop.connect_accepted_socket(self._connection, client)
            except BlockingIOError:  # another process has taken it
                pass
            except OSError as error:  # for example too many open files
                _logger.warning("a connection was not accepted: %s", error)
                pause = _AGAIN_S
            await asyncio.sleep(pause)

    async def _comes(self) -> bool:
        """Wait for a connection; False if no more are accepted.

        Nothing is accepted while it waits: `sock_accept` loses a connection if it is cancelled in
        the moment in which it has accepted one.
        """
        if self._closed.is_set():
            return False
        if sys.platform == "win32":  # whose loop does not tell; it is stopped, never retired
            await asyncio.sleep(_TURN_S)
            return True
        loop = asyncio.get_running_loop()
        loop.add_reader(self._listening, self._told.set)
        try:
            await self._told.wait()
        finally:
            loop.remove_reader(self._listening)
            self._told.clear()
        return not self._closed.is_set()

    def _accept_no_more(self) -> None:
        self._closed.set()
        self._told.set()

    def _connection(self) -> Connection:
        made = Connection(self.config, self.server_state, self.lifespan.state)
        made.proxies = self._proxies
        return made

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop at a signal: new requests are refused, running ones may end."""
        if not self._stopped_by:
            self._stopped_by = sig
            self._deadline = time.monotonic() + self._stop_s
            self._service.stopping = True
        elif self._hurry:
            os._exit(128 + sig)

    async def on_tick(self, counter: int) -> bool:
        """Return True as soon as the server is to end."""
        self._beat()
        if self._stopped_by:
            running = self._service.running
            if running and time.monotonic() >= self._deadline:
                # At once: threads cannot be cut off, and an answer that is half sent must not look
                # like a whole one.
                _logger.warning("requests that were cut off: %d", running)
                os._exit(self._code)
            self.should_exit = not running
        elif self._service.retiring:
            self._accept_no_more()
            late = time.monotonic() >= self._deadline
            open_ = not self._accepting.done() or self.server_state.connections
            self.should_exit = late or not open_
        return await super().on_tick(counter)

    @property
    def _code(self) -> int:
        return INTERRUPTED if self._stopped_by == signal.SIGINT else 0


def _bracketed(host: str) -> str:
    """A host as it is written in a URL.

    >>> _bracketed("::1"), _bracketed("localhost")
    ('[::1]', 'localhost')
    """
    return f"[{host}]" if ":" in host else host


class Connection(H11Protocol):
    """One client's connection.

    uvicorn waits for a request line and headers without end; only a connection without a single
    byte after an answer does it close. Here the head must be complete some seconds after the
    connection was made, or after the answer before. `RequestLimits` does the same for bodies.
    """

    proxies: Sequence[Network] = ()
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, unless this client has too many connections already."""
        super().connection_made(transport)
        own = client_of({"client": self.client})
        others = [each for each in self.connections if isinstance(each, Connection)]
        there = sum(client_of({"client": each.client}) == own for each in others)
        if there > CLIENTS_CONNECTIONS and not is_within(own, self.proxies):
            transport.close()
        else:
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
