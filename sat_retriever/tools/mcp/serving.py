"""An MCP server to its clients: one over standard input and output, any number over HTTP."""

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
STOP_WITHIN_S = 3  # how long running HTTP requests may take to end
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 (a user's own choice, only compared with)


def serve_stdio(server: SheetServer) -> None:
    """Serve one client over standard input and output until it goes away."""

    async def serve() -> None:
        async with stdio_server() as (messages, answers):
            await server.run(messages, answers, server.create_initialization_options())

    try:
        anyio.run(serve)
    except* BrokenPipeError:  # the client was gone before its answer
        pass


def listen(host: str, port: int) -> socket.socket:
    """A socket that accepts connections to a port; port 0 takes a free one.

    Raises:
        InputError: If the host is not this machine's, or the port is not free.
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
    """Where clients find the server that serves on a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://{_bracketed(host)}:{port}{HTTP_PATH}"


def serve_http(
    server: SheetServer, listening: socket.socket, *, host: str, names: Sequence[str] = ()
) -> None:
    """Serve any number of clients over streamable HTTP until a signal ends it.

    Requests for another host name, or from a web page of another origin, are refused, so that
    a page that has its name point here (DNS rebinding) reads nothing. There is no
    password: whoever reaches the port may read what is indexed.

    Args:
        server: What is served; no session is kept, every request stands alone.
        listening: Where, from `listen`.
        host: What `listen` was called with.
        names: Further host names that clients reach it by.

    Raises:
        InputError: If one of the names cannot be a host's.
        KeyboardInterrupt: After an orderly end, if it was Ctrl-C that ended it.
    """
    app = server.streamable_http_app(
        streamable_http_path=HTTP_PATH,
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    config = uvicorn.Config(
        HostCheck(app, _names(host, names)),  # the SDK's own reads both headers less strictly
        log_config=None,  # the caller decides where logs go
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=STOP_WITHIN_S,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _names(host: str, names: Sequence[str]) -> list[str]:
    """Host names of requests that are answered."""
    own = _bracketed(socket.gethostname() if host in _ANYWHERE else host)
    return [*_LOOPBACK, *([own] if host_of(own) else []), *names]


def _bracketed(host: str) -> str:
    """A host as in a URL.

    >>> _bracketed("::1"), _bracketed("localhost")
    ('[::1]', 'localhost')
    """
    return f"[{host}]" if ":" in host else host
