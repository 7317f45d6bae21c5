"""Checks between the network and an application, the same for every server.

headers → known hosts and origins → no other sites → limits → token → application

A web page whose host name is made to resolve to this machine (DNS rebinding) sends that name as
`Host` and `Origin`, so both are checked against the names that the server answers for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from sat_retriever.errors import InputError
from sat_retriever.serve.access import CALLBACK
from sat_retriever.serve.asgi import App, Header, Message, Receive, Send, header_values, refuse
from sat_retriever.serve.limits import RATE, Counts, RateLimit, RequestLimits

_BURST = 4  # seconds' worth of requests that may come at once
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: tuple[Header, ...] = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_OWN = ("same-origin", "none")  # the page itself, or the user: address bar, bookmark
# RFC 3986's host and port, without user names, percent signs and zones.
_AUTHORITY = re.compile(
    r"(?:(?P<name>[\w.-]{1,253})|\[(?P<six>[0-9a-f:.]{2,45})\])(?::(?P<port>[0-9]{1,5}))?",
    re.ASCII | re.IGNORECASE,
)
_SCHEME = re.compile(r"https?://", re.ASCII | re.IGNORECASE)
_MISDIRECTED, _FORBIDDEN = 421, 403
_LOCAL = ("127.0.0.1", "::1", "localhost")
_FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-real-ip", b"via")


@dataclass(frozen=True, slots=True)
class Guard:
    """Settings of the guard; `rate` is requests a second of one client, 0 for no limit."""

    names: Sequence[str]
    rate: float = RATE

    def around(self, app: App, counts: Counts) -> App:
        """Wrap an application."""
        rate = RateLimit(self.rate, int(self.rate * _BURST) or 1, counts.requests, counts.place)
        # Requests of other sites are refused before they are counted: they would use up the
        # requests of the user whose browser sends them.
        return HostCheck(OwnSite(RequestLimits(app, rate)), self.names)


@dataclass(frozen=True, slots=True)
class SecureHeaders:
    """An ASGI application that adds security headers to every answer."""

    app: App

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Add the headers that an answer does not have itself."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                names = {name.lower() for name, _ in own}
                message["headers"] = own + [each for each in _HEADERS if each[0] not in names]
            await send(message)

        await self.app(scope, receive, with_headers)


@dataclass(frozen=True, slots=True)
class OwnSite:
    """An ASGI application that no page of another site can use.

    Browsers tell which site a request comes from. A link on another site may lead to the start
    page, which runs no search, and back from signing in, which a cookie must have begun here;
    everything else is refused, forms and scripts included. Programs that are no browsers do not
    send the header.
    """

    app: App

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Reply 403 to requests that a page of another site has caused; pass others on."""
        if scope["type"] == "http" and not _is_own(scope):
            reason = "Another site's page caused this request. Open the address yourself to go on."
            await refuse(scope, send, 403, reason)
        else:
            await self.app(scope, receive, send)


def _is_own(scope: Message) -> bool:
    sites = header_values(scope, b"sec-fetch-site")
    if all(site in _OWN for site in sites):
        return True
    start = scope["path"] == CALLBACK or (scope["path"] == "/" and not scope["query_string"])
    link = header_values(scope, b"sec-fetch-mode") == ["navigate"]
    alone = header_values(scope, b"sec-fetch-dest") == ["document"]
    return scope["method"] in ("GET", "HEAD") and start and link and alone


class HostCheck:
    """An ASGI application that passes on requests for known hosts, from pages of known hosts.

    A request needs one `Host` and may have one `Origin`; each must be a known host, with any port.
    """

    def __init__(self, app: App, names: Iterable[str]) -> None:
        """Wrap an application; `names` are its hosts and addresses for clients, without ports."""
        self._app = app
        self._known = frozenset(_known(name) for name in names)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Reply 421 to another host and 403 to another origin; pass other requests on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif [host_of(each) in self._known for each in header_values(scope, b"host")] != [True]:
            await refuse(
                scope, send, _MISDIRECTED, "Invalid Host header: see --allow-host of the server."
            )
        elif [self._is_own(each) for each in header_values(scope, b"origin")] not in ([], [True]):
            await refuse(
                scope, send, _FORBIDDEN, "Invalid Origin header: another site's page may not ask."
            )
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


def is_local(scope: Message, passed_on: Sequence[bytes] = ()) -> bool:
    """True for a request that a program of this machine sends to it, without a proxy.

    Args:
        passed_on: Further headers, in small letters, that a proxy alone sends.
    """
    try:
        near = ip_address((scope.get("client") or ("",))[0].partition("%")[0]).is_loopback
    except ValueError:
        return False
    hosts = [host_of(each) in _LOCAL for each in header_values(scope, b"host")]
    proxied = any(header_values(scope, each) for each in (*_FORWARDED, *passed_on))
    return near and hosts == [True] and not proxied


def _known(name: str) -> str:
    host = host_of(f"[{name}]" if ":" in name and not name.startswith("[") else name)
    if host is None:
        raise InputError(
            f"{name!r} is not a host name; give a name or address without a port, for example "
            "reports.example (letters other than a-z in their xn-- form)"
        )
    return host
