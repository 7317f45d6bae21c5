"""Transports of an MCP server: one client over standard input and output, many over HTTP."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from sat_retriever._extras import require
from sat_retriever.errors import InputError
from sat_retriever.tools.mcp.hostcheck import HostCheck, host_of
from sat_retriever.tools.mcp.server import SheetServer

try:
    import anyio
    import uvicorn
    from mcp.server.stdio import stdio_server
    from mcp.server.transport_security import TransportSecuritySettings
except ModuleNotFoundError:
    require("mcp", "mcp")  # names the extra to install
    raise

HTTP_PATH = "/mcp"
STOP_WITHIN_S = 3  # time for running HTTP requests to end
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 (a user's own choice, only compared)


def serve_stdio(server: SheetServer) -> None:
    """Serve one client over standard input and output until it disconnects."""

    async def serve() -> None:
        async with stdio_server() as (messages, answers):
            await server.run(messages, answers, server.create_initialization_options())

    try:
        anyio.run(serve)
    except* BrokenPipeError:  # the client disconnected before its answer
        pass


def listen(host: str, port: int) -> socket.socket:
    """Open a socket that accepts connections to a port; port 0 selects a free one.

    Raises:
        InputError: If the host is not an address of this machine, or the port is not free.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot serve on {host} port {port}: {reason}; choose another port or host"
        ) from error


def url(listening: socket.socket) -> str:
    """URL at which clients reach the server on a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://{_bracketed(host)}:{port}{HTTP_PATH}"


def serve_http(
    server: SheetServer, listening: socket.socket, *, host: str, names: Sequence[str] = ()
) -> None:
    """Serve any number of clients over streamable HTTP until a signal stops the server.

    Requests for another host name, or from a web page of another origin, are rejected, so that a
    page whose host name resolves to this machine (DNS rebinding) reads nothing. There is no
    password: anyone who can reach the port can read what is indexed.

    Args:
        server: Server to run; it is stateless, so every request is independent.
        listening: Socket from `listen`.
        host: Host that `listen` was called with.
        names: Further host names that clients use for it.

    Raises:
        InputError: If one of the names is not a valid host name.
        KeyboardInterrupt: After an orderly shutdown, if Ctrl-C stopped the server.
    """
    app = server.streamable_http_app(
        streamable_http_path=HTTP_PATH,
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    config = uvicorn.Config(
        HostCheck(app, _names(host, names)),  # the SDK's own check of both headers is less strict
        log_config=None,  # the caller decides where logs go
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=STOP_WITHIN_S,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _names(host: str, names: Sequence[str]) -> list[str]:
    """Host names whose requests are answered."""
    own = _bracketed(socket.gethostname() if host in _ANYWHERE else host)
    return [*_LOOPBACK, *([own] if host_of(own) else []), *names]


def _bracketed(host: str) -> str:
    """A host as it is written in a URL.

    >>> _bracketed("::1"), _bracketed("localhost")
    ('[::1]', 'localhost')
    """
    return f"[{host}]" if ":" in host else host
