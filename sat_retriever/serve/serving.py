"""The socket and the server of an application: the only place that serves HTTP."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

from sat_retriever._extras import require
from sat_retriever.errors import InputError
from sat_retriever.serve.access import MAKE_ONE
from sat_retriever.serve.asgi import App
from sat_retriever.serve.hostcheck import host_of

try:
    import uvicorn
except ModuleNotFoundError:
    require("uvicorn", "serve")  # names the extra to install
    raise

STOP_WITHIN_S = 3  # time for running requests to end
CONNECTIONS = 512  # further ones are answered 503
_HEADER_BYTES = 65_536  # of a request, its URL included
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 (a user's own choice, only compared)


def listen(host: str, port: int) -> socket.socket:
    """Open a socket that accepts connections to a port; port 0 selects a free one.

    Raises:
        InputError: If the host is not an address of this machine, or the port is not free.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot serve on {host} port {port}: {reason}; choose another port or host"
        ) from error
    # Only of a socket that names its protocol does asyncio turn off Nagle's algorithm, which would
    # hold back the body of each answer for 40 ms.
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=made.detach())


def check_private(listening: socket.socket, token: str | None) -> None:
    """Refuse to serve other machines without a token.

    Raises:
        InputError: If the socket can be reached from elsewhere and there is no token.
    """
    host = listening.getsockname()[0]
    if token is None and not ipaddress.ip_address(host.partition("%")[0]).is_loopback:
        raise InputError(
            f"other machines can reach {host}, so a token is needed: make one with "
            f"{MAKE_ONE} and add --token-file sat.token"
        )


def url(listening: socket.socket) -> str:
    """URL at which clients reach the server on a socket, without a path."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - any address
    return f"http://{_bracketed(host)}:{port}"


def known_names(host: str, names: Sequence[str] = ()) -> list[str]:
    """Host names whose requests are answered.

    Args:
        host: Host that `listen` was called with.
        names: Further host names that clients use for it.
    """
    own = _bracketed(socket.gethostname() if host in _ANYWHERE else host)
    return [*_LOOPBACK, *([own] if host_of(own) else []), *names]


def serve(app: App, listening: socket.socket) -> None:
    """Serve an application on a socket until a signal stops the server.

    Raises:
        KeyboardInterrupt: After an orderly shutdown, if Ctrl-C stopped the server.
    """
    config = uvicorn.Config(
        app,
        http="h11",  # its limit on the size of headers is the same everywhere
        h11_max_incomplete_event_size=_HEADER_BYTES,
        log_config=None,  # the caller decides where logs go
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,  # a client must not choose the address it is counted by
        ws="none",
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=STOP_WITHIN_S,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _bracketed(host: str) -> str:
    """A host as it is written in a URL.

    >>> _bracketed("::1"), _bracketed("localhost")
    ('[::1]', 'localhost')
    """
    return f"[{host}]" if ":" in host else host
