"""Strict check of `Host` and `Origin` against the host names that a web server answers for.

A web page whose host name is made to resolve to this machine (DNS rebinding) sends that name in
both headers.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from ipaddress import IPv6Address
from typing import Any

from sat_retriever.errors import InputError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

# RFC 3986's host and port, without user names, percent signs and zones.
_AUTHORITY = re.compile(
    r"(?:(?P<name>[\w.-]{1,253})|\[(?P<six>[0-9a-f:.]{2,45})\])(?::(?P<port>[0-9]{1,5}))?",
    re.ASCII | re.IGNORECASE,
)
_SCHEME = re.compile(r"https?://", re.ASCII | re.IGNORECASE)
_MISDIRECTED, _FORBIDDEN = 421, 403


class HostCheck:
    """An ASGI application that passes on requests for known hosts, from pages of known hosts.

    A request needs one `Host` and may have one `Origin`; each must be a known host, with any port.
    """

    def __init__(self, app: App, names: Iterable[str]) -> None:
        """Wrap an application.

        Args:
            app: Application that answers the requests.
            names: Host names and addresses that clients use for it, without ports.

        Raises:
            InputError: If one of the names is not a valid host name or address.
        """
        self._app = app
        self._known = frozenset(_known(name) for name in names)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Reply 421 to another host and 403 to another origin; pass other requests on."""
        status = self._refusal(scope["headers"]) if scope["type"] == "http" else None
        if status is None:
            await self._app(scope, receive, send)
            return
        which = b"Host" if status == _MISDIRECTED else b"Origin"
        headers = [(b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"Invalid " + which + b" header"})

    def _refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> int | None:
        given: dict[bytes, list[str]] = {b"host": [], b"origin": []}
        for name, value in headers:
            if name.lower() in given:
                given[name.lower()].append(value.decode("latin-1"))
        if [host_of(each) in self._known for each in given[b"host"]] != [True]:
            return _MISDIRECTED
        if [self._is_own(each) for each in given[b"origin"]] not in ([], [True]):
            return _FORBIDDEN
        return None

    def _is_own(self, origin: str) -> bool:
        scheme = _SCHEME.match(origin)
        return scheme is not None and host_of(origin[scheme.end() :]) in self._known


def host_of(authority: str) -> str | None:
    """The host of a `host[:port]` in normalized form; None if the text is not valid.

    >>> host_of("LocalHost.:80"), host_of("[0:0::1]:80"), host_of("localhost:80@evil.com")
    ('localhost', '::1', None)
    """
    found = _AUTHORITY.fullmatch(authority)
    if found is None or int(found["port"] or 1) not in range(1, 65_536):
        return None
    if found["name"]:
        return found["name"].lower().removesuffix(".") or None
    try:
        return IPv6Address(found["six"]).compressed
    except ValueError:
        return None


def _known(name: str) -> str:
    host = host_of(f"[{name}]" if ":" in name and not name.startswith("[") else name)
    if host is None:
        raise InputError(
            f"{name!r} is not a host name; give a name or address without a port, for example "
            "reports.example (letters other than a-z in their xn-- form)"
        )
    return host
