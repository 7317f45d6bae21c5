"""Who may in: programs by a token in a header, browsers by signing in once, a proxy by its word."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol
from urllib.parse import urlencode

from sat_retriever.serve.asgi import (
    App,
    Header,
    Message,
    Receive,
    Send,
    fields_of,
    header_values,
    refuse,
)
from sat_retriever.serve.identity import (
    Identity,
    SignInError,
    Way,
    WrongTokenError,
    known_as,
    plain_groups,
)
from sat_retriever.serve.limits import Counts, RateLimit, client_of, too_often
from sat_retriever.serve.oidc import Attempt, Provider
from sat_retriever.serve.sessions import Sessions, cookie, cookies, facts_of
from sat_retriever.serve.tokens import Token, token_among
from sat_retriever.serve.trusted import HeaderWay

SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
PROVIDER, CALLBACK = "/sign-in/provider", "/sign-in/callback"
OPEN_PATHS = ("/static/",)  # style of the sign-in page; nothing of the index
_SESSION, _ATTEMPT = "sat_session", "sat_attempt"
_ATTEMPT_S = 600
_TRIES_PER_S, _TRIES = 0.1, 10  # wrong tokens of one client

_logger = logging.getLogger(__name__)


class Tokens(Protocol):
    """Tokens that are accepted, as they are now."""

    def tokens(self) -> Sequence[Token]:
        """Return them."""


class SignInPages(Protocol):
    """Pages of signing in."""

    def sign_in(self, target: str, problem: str) -> bytes:
        """Return the page to sign in: where to go on to, and what went wrong; "" for nothing."""

    def go_on(self, target: str) -> bytes:
        """Return the page that goes on by itself to another page of this server."""

    async def static(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer with the style of these pages."""


@dataclass(frozen=True, slots=True)
class SignInWays:
    """How people and programs sign in; None where they do not."""

    tokens: Tokens | None = None
    provider: Provider | None = None
    header: HeaderWay | None = None


class Access:
    """An ASGI application that passes a request on if it knows who sends it.

    Args:
        ways: How people and programs sign in.
        sessions: Known by a secret of the server.
        pages: Pages for browsers; None for a server of programs alone.
    """

    def __init__(
        self,
        app: App,
        ways: SignInWays,
        sessions: Sessions,
        counts: Counts,
        pages: SignInPages | None = None,
    ) -> None:
        self._app = app
        self._ways = ways
        self._sessions = sessions
        self._pages = pages
        self._tries = RateLimit(_TRIES_PER_S, _TRIES, counts.tries, counts.place)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Reply 401 to a request of nobody known; pass other requests on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._pages and scope["path"].startswith(OPEN_PATHS):
            await self._pages.static(scope, receive, send)
            return
        if self._pages and await self._is_about_signing_in(scope, receive, send, self._pages):
            return
        try:
            identity = await self._identity(scope)
        except WrongTokenError as error:
            if not await self._is_slowed(scope, send):
                await self._refused(scope, send, str(error))
        except SignInError as error:
            await refuse(scope, send, 503, str(error), [(b"retry-after", b"10")])
        else:
            if identity is None:
                await self._refused(scope, send, "")
            else:
                await self._app(known_as(scope, identity), receive, send)

    # ---- who sends a request

    async def _identity(self, scope: Message) -> Identity | None:
        """Return who sends a request.

        Raises:
            WrongTokenError: If its token is not accepted, and nothing else tells who it is.
            SignInError: If the provider is not there to say so.
        """
        found = self._ways.header.identity(scope) if self._ways.header else None
        wrong: Exception | None = None
        for given in header_values(scope, b"authorization"):
            kind, _, token = given.partition(" ")
            if found is None and kind.lower() == "bearer" and token.strip():
                try:
                    found = await self._of_token(token.strip())
                except (WrongTokenError, SignInError) as error:
                    wrong = error
        found = found or self._of_session(scope)
        if found is None and wrong is not None:
            raise wrong
        return found

    async def _of_token(self, given: str) -> Identity:
        if self._ways.tokens is not None:
            found = token_among(self._ways.tokens.tokens(), given)
            if found is not None and found.is_over():
                raise WrongTokenError("The token has expired; ask for a new one.")
            if found is not None:
                return found.identity()
        if self._ways.provider is not None and given.count(".") == 2:
            return await self._ways.provider.identity(given)
        raise WrongTokenError("That is not a token of this server.")

    def _of_session(self, scope: Message) -> Identity | None:
        """Return whose session a browser has; it ends with the token that it began with."""
        for value in cookies(scope, _SESSION):
            facts = self._sessions.known(value) or {}
            if facts.get("way") == Way.TOKEN and self._ways.tokens is not None:
                for token in self._ways.tokens.tokens():
                    if self._sessions.mark(token.hash) == facts["of"] and not token.is_over():
                        return token.identity()
            elif facts.get("way") == Way.OIDC and self._ways.provider is not None:
                groups = plain_groups(facts["groups"])
                return Identity(facts["name"], Way.OIDC, groups, token_id=facts["id"])
        return None

    async def _is_slowed(self, scope: Message, send: Send) -> bool:
        """True if a client has sent too many wrong tokens, which alone are counted; it is told."""
        wait = self._tries.wait_s(client_of(scope))
        if wait:
            await too_often(scope, send, wait)
        return bool(wait)

    async def _refused(self, scope: Message, send: Send, problem: str) -> None:
        if self._pages and any("text/html" in x for x in header_values(scope, b"accept")):
            await _page(send, 401, self._pages.sign_in(_target(scope), problem))
            return
        how = "Send a token of this server: Authorization: Bearer …"
        headers = [(b"www-authenticate", b"Bearer")]
        await refuse(scope, send, 401, f"{problem} {how}".strip(), headers)

    # ---- signing in

    async def _is_about_signing_in(
        self, scope: Message, receive: Receive, send: Send, pages: SignInPages
    ) -> bool:
        """Answer a request that signs in or out; False if it is about something else."""
        asked = (scope["method"], scope["path"])
        if asked == ("POST", SIGN_OUT):
            forget = cookie(scope, _SESSION, "", seconds=0)
            await refuse(scope, send, 303, "Signed out.", [forget, (b"location", b"/")])
        elif asked == ("POST", SIGN_IN) and self._ways.tokens is not None:
            await self._by_form(scope, receive, send, pages)
        elif self._ways.provider is None or asked not in (("GET", PROVIDER), ("GET", CALLBACK)):
            return False
        else:
            await self._by_provider(scope, send, self._ways.provider, pages)
        return True

    async def _by_provider(
        self, scope: Message, send: Send, provider: Provider, pages: SignInPages
    ) -> None:
        given = _query(scope)
        target = _safe(given.get("next", "/"))
        try:
            if scope["path"] == PROVIDER:
                await self._to_provider(scope, send, provider, target)
            else:
                await self._back(scope, send, provider, pages)
        except (WrongTokenError, SignInError) as error:
            _logger.warning("nobody was signed in: %.500s", error)
            forget = cookie(scope, _ATTEMPT, "", seconds=0, lax=True)
            await _page(send, 401, pages.sign_in(target, str(error)), forget)

    async def _by_form(
        self, scope: Message, receive: Receive, send: Send, pages: SignInPages
    ) -> None:
        """Start a session for the right token, and go on to the page that was asked for."""
        sent = (await receive()).get("body", b"").decode("utf-8", "replace")
        form = fields_of(sent, 8)
        target = _safe(form.get("next", ["/"])[0])
        tokens = self._ways.tokens.tokens() if self._ways.tokens else ()
        token = token_among(tokens, form.get("token", [""])[0].strip())
        if token is None or token.is_over():
            problem = "That token has expired." if token else "That is not the token."
            if not await self._is_slowed(scope, send):
                await _page(send, 401, pages.sign_in(target, problem))
            return
        known_as(scope, token.identity())
        value = self._sessions.start({"way": Way.TOKEN, "of": self._sessions.mark(token.hash)})
        headers = [cookie(scope, _SESSION, value), (b"location", target.encode())]
        await refuse(scope, send, 303, "Signed in.", headers)

    async def _to_provider(
        self, scope: Message, send: Send, provider: Provider, target: str
    ) -> None:
        """Lead a browser to the provider; what it needs to come back is in a cookie."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        attempt = Attempt(state, nonce, verifier, target)
        address = await provider.address(attempt, _here(scope))
        value = self._sessions.start({"attempt": asdict(attempt)}, _ATTEMPT_S)
        keep = cookie(scope, _ATTEMPT, value, seconds=_ATTEMPT_S, lax=True)
        to = (b"location", address.encode())
        await refuse(scope, send, 303, "Sign in at the provider.", [keep, to])

    async def _back(
        self, scope: Message, send: Send, provider: Provider, pages: SignInPages
    ) -> None:
        """Start a session for whom the provider sent back, if this browser began it."""
        given = _query(scope)
        known = [self._sessions.known(each) or {} for each in cookies(scope, _ATTEMPT)]
        attempts = [Attempt(**each["attempt"]) for each in known if "attempt" in each]
        attempt = next((x for x in attempts if x.state == given.get("state")), None)
        if attempt is None:
            raise SignInError("That sign-in was not begun here, or took too long; begin again.")
        if "code" not in given or given.get("iss", provider.issuer) != provider.issuer:
            said = given.get("error", "no code")[:80]
            raise SignInError(f"The provider did not sign you in: {said}.")
        identity = await provider.signed_in(given["code"], attempt, _here(scope))
        known_as(scope, identity)
        value = self._sessions.start({"way": Way.OIDC, **facts_of(identity)})
        # A redirect would still count as caused by the provider's page, and browsers send no
        # strict cookie with it; a page of this server goes on instead.
        forget = cookie(scope, _ATTEMPT, "", seconds=0, lax=True)
        keep = cookie(scope, _SESSION, value)
        await _page(send, 200, pages.go_on(attempt.target), keep, forget)


def _here(scope: Message) -> str:
    """Return the address that the provider sends browsers back to; its host was checked."""
    return f"{scope['scheme']}://{header_values(scope, b'host')[0]}{CALLBACK}"


def _query(scope: Message) -> dict[str, str]:
    """Return the parameters of a request that are given once."""
    text = scope["query_string"].decode("ascii", "replace")
    found = fields_of(text, 32)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


async def _page(send: Send, status: int, body: bytes, *more: Header) -> None:
    """Send a page of signing in; its form must be able to name its own origin."""
    headers: list[Any] = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"referrer-policy", b"same-origin"),
        *([(b"www-authenticate", b"Bearer")] if status == 401 else []),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def provider_url(target: str) -> str:
    """Return the address that leads to the provider, and then to a page of this server."""
    return f"{PROVIDER}?{urlencode({'next': target})}"


def _target(scope: Message) -> str:
    query = scope["query_string"].decode("ascii", "replace")
    path = scope["raw_path"].decode("ascii", "replace")
    return _safe(f"{path}?{query}" if query else path)


def _safe(target: str) -> str:
    r"""Return a path on this server, "/" for any other text.

    >>> _safe("/sheet?id=a"), _safe("//evil.example"), _safe("https://evil.example"), _safe("/\\e")
    ('/sheet?id=a', '/', '/', '/')
    """
    plain = target.isascii() and target.isprintable() and "\\" not in target
    return target if plain and target.startswith("/") and not target.startswith("//") else "/"
