"""Sign-in by a proxy that says in a header who asks: it counts from named addresses alone."""

from __future__ import annotations

import ipaddress
import logging
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sat_retriever.errors import InputError
from sat_retriever.records.permissions import LONGEST
from sat_retriever.serve.asgi import App, Message, Receive, Send, header_values
from sat_retriever.serve.identity import Identity, Way, plain_groups

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_PEER = "sat.peer"
_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
_TOLD_EVERY_S = 60.0

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TrustedHeader:
    """Headers of a proxy that signs people in.

    Attributes:
        user: Header with the name of the person.
        sources: Addresses and networks of the proxies that may send it.
        groups: Header with the groups, separated by commas; None for none.
    """

    user: str
    sources: Sequence[str]
    groups: str | None = None

    @property
    def names(self) -> tuple[bytes, ...]:
        """Its headers, in small letters."""
        return tuple(each.lower().encode() for each in (self.user, self.groups) if each)

    def check(self) -> None:
        """Refuse settings by which anybody could sign in, or nobody; raises `InputError`."""
        for name in filter(None, (self.user, self.groups)):
            if not _NAME.fullmatch(name):
                raise InputError(
                    f"{name!r} is no name of a header; give one such as X-Forwarded-User"
                )
        if not self.sources:
            raise InputError(
                "--trusted-header counts from named proxies alone; add --trusted-from ADDRESS, for "
                "example 10.0.0.5/32"
            )
        for each in self.sources:
            if network_of(each).prefixlen == 0:
                raise InputError(f"--trusted-from {each} is everybody; name the proxy's address")


def network_of(text: str) -> Network:
    """Return the network that a text names; raises `InputError` if it is none."""
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise InputError(
            f"{text!r} is not the address of a proxy; give an IP address or a network, for "
            "example 127.0.0.1 or 10.0.0.0/24"
        ) from error


def is_within(address: str, networks: Sequence[Network]) -> bool:
    """True if one of some networks has an address, which may be IPv4 written as IPv6."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(found, "ipv4_mapped", None) or found
    return any(mapped in network for network in networks)


@dataclass(frozen=True, slots=True)
class Peer:
    """An ASGI application that notes the address that a connection comes from.

    Another layer then takes the client's address from what a proxy says of it.
    """

    app: App

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Note the address, and pass the request on."""
        if scope["type"] == "http":
            scope[_PEER] = (scope.get("client") or ("", 0))[0]
        await self.app(scope, receive, send)


class HeaderWay:
    """Tells who asks by a trusted header; one from any other address is left out, and logged."""

    def __init__(self, trusted: TrustedHeader, clock: Callable[[], float] = time.monotonic) -> None:
        trusted.check()
        self._user = trusted.user.lower().encode()
        self._groups = trusted.groups.lower().encode() if trusted.groups else None
        self._sources = [network_of(each) for each in trusted.sources]
        self._clock = clock
        self._told_at = -_TOLD_EVERY_S

    def identity(self, scope: Message) -> Identity | None:
        """Return whom the proxy has signed in; None if it names nobody."""
        users = header_values(scope, self._user)
        groups = header_values(scope, self._groups) if self._groups else []
        if not users and not groups:
            return None
        peer: str = scope.get(_PEER, "")
        if not is_within(peer, self._sources):
            self._tell(
                "a header of %s that names a person was left out: not a --trusted-from", peer
            )
            return None
        if len(users) != 1 or len(groups) > 1:  # a client's own header beside that of the proxy
            self._tell("a request of %s has no person or several; have the proxy set it once", peer)
            return None
        name = _text(users[0])
        if not name.isprintable() or not 0 < len(name) <= LONGEST:
            self._tell("the name that %s gives a person is no printable text", peer)
            return None
        listed = _text(groups[0]).split(",") if groups else []
        return Identity(name, Way.HEADER, plain_groups(listed))

    def _tell(self, reason: str, peer: str) -> None:
        """Log a reason, once a minute, since anybody can cause it."""
        now = self._clock()
        if now - self._told_at >= _TOLD_EVERY_S:
            self._told_at = now
            _logger.warning(reason, peer or "an unknown address")


def _text(value: str) -> str:
    """Return a header's value, which proxies send as UTF-8."""
    try:
        return value.encode("latin-1").decode("utf-8").strip()
    except UnicodeDecodeError:
        return value.strip()
