"""What stands between the network and an application, the same for every server.

headers → probes → known hosts and origins → no other sites → limits → token → application
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sat_retriever.serve.access import Access, SignInPage
from sat_retriever.serve.asgi import App, Header, Message, Receive, Send, header_values, refuse
from sat_retriever.serve.hostcheck import HostCheck
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


@dataclass(frozen=True, slots=True)
class Guard:
    """Settings of the guard.

    Attributes:
        names: Host names and addresses that clients use; see `serving.known_names`.
        rate: Requests a second of one client; 0 for no limit.
    """

    names: Sequence[str]
    rate: float = RATE

    def around(
        self, apps: Mapping[str | None, App], counts: Counts, sign_in: SignInPage | None = None
    ) -> App:
        """Wrap applications.

        Args:
            apps: Application that answers requests with a token, by the token; None is that for
                all requests.
            counts: Where requests are counted.
            sign_in: Page on which a browser gives the token; None for a server of programs.

        Raises:
            InputError: If one of the names is not a valid host name.
        """
        tokens = {token: app for token, app in apps.items() if token is not None}
        inner = Access(tokens, counts, sign_in) if tokens else apps[None]
        rate = RateLimit(self.rate, int(self.rate * _BURST) or 1, counts.requests, counts.place)
        # Requests of other sites are refused before they are counted: they would use up the
        # requests of the user whose browser sends them.
        return HostCheck(OwnSite(RequestLimits(inner, rate)), self.names)


@dataclass(frozen=True, slots=True)
class SecureHeaders:
    """An ASGI application whose every answer tells a browser what it may do with it."""

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
    page, which runs no search; everything else is refused, forms and scripts included. Programs
    that are no browsers do not send the header.
    """

    app: App

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Reply 403 to what a page of another site has caused; pass other requests on."""
        if scope["type"] == "http" and not _is_own(scope):
            reason = "A page of another site asked for this. Open the address yourself if you want."
            await refuse(send, 403, reason)
        else:
            await self.app(scope, receive, send)


def _is_own(scope: Message) -> bool:
    sites = header_values(scope, b"sec-fetch-site")
    if all(site in _OWN for site in sites):
        return True
    start = scope["path"] == "/" and not scope["query_string"]
    link = header_values(scope, b"sec-fetch-mode") == ["navigate"]
    alone = header_values(scope, b"sec-fetch-dest") == ["document"]
    return scope["method"] in ("GET", "HEAD") and start and link and alone
