"""Strict check of `Host` and `Origin` against the host names that a web server answers for.

A web page whose host name is made to resolve to this machine (DNS rebinding) sends that name in
both headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from ipaddress import IPv6Address

from sat_retriever.errors import InputError
from sat_retriever.serve.asgi import App, Message, Receive, Send, header_values, refuse

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
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif [host_of(each) in self._known for each in header_values(scope, b"host")] != [True]:
            await refuse(send, _MISDIRECTED, "Invalid Host header: see --allow-host of the server.")
        elif [self._is_own(each) for each in header_values(scope, b"origin")] not in ([], [True]):
            await refuse(send, _FORBIDDEN, "Invalid Origin header: pages elsewhere may not ask.")
        else:
            await self._app(scope, receive, send)

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
