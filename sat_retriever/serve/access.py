"""A token that opens the server: for programs in a header, for browsers by signing in once."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import stat
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import parse_qs

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.serve.asgi import App, Message, Receive, Send, header_values, refuse
from sat_retriever.serve.limits import RateLimit, client_of, too_often

MIN_TOKEN = 16  # characters
SIGN_IN = "/sign-in"
OPEN_PATHS = ("/static/",)  # style of the sign-in page; nothing of the index
MAKE_ONE = "(umask 077; head -c 32 /dev/urandom | base64 > sat.token)"
_COOKIE = "sat_session"
_SESSION_S = 12 * 3600
_SESSIONS = 1_000
_TRIES_PER_S, _TRIES = 0.1, 10  # sign-ins of one client

SignInPage = Callable[[str, bool], bytes]
"""Makes the page to sign in: where to go on to, and True after a wrong token."""


def read_token(path: Path) -> str:
    """Return the token in a file.

    Raises:
        PathNotFoundError: If there is no such file.
        InputError: If the file can be read by every user of the machine, or the token is not at
            least 16 printable ASCII characters without blanks.
    """
    try:
        if path.stat().st_mode & stat.S_IROTH:
            raise InputError(
                f"every user of this machine can read {path}; run: chmod 600 {path.name}"
            )
        token = path.read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError as error:
        raise PathNotFoundError(f"there is no file {path}; make one: {MAKE_ONE}") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; check its permissions") from error
    if len(token) < MIN_TOKEN or not all("!" <= sign <= "~" for sign in token):
        raise InputError(
            f"the token in {path} is too short, or has blanks or letters other than ASCII; give "
            f"{MIN_TOKEN} characters or more: {MAKE_ONE}"
        )
    return token


@dataclass(slots=True)
class Sessions:
    """Browsers that have signed in, each known by a random value that only it has."""

    clock: Callable[[], float] = time.monotonic
    _ends: OrderedDict[bytes, float] = field(default_factory=OrderedDict)

    def start(self) -> str:
        """Return the value of a new session; the oldest one ends if there are too many."""
        value = secrets.token_urlsafe(32)
        self._ends[_digest(value)] = self.clock() + _SESSION_S
        if len(self._ends) > _SESSIONS:
            self._ends.popitem(last=False)
        return value

    def holds(self, value: str) -> bool:
        """True if a session has this value and has not ended."""
        # Looked up by a digest, whose bytes a guesser cannot choose: timing tells nothing.
        return self._ends.get(_digest(value), 0.0) > self.clock()


class Access:
    """An ASGI application that passes on requests with the token or with a session's cookie."""

    def __init__(self, app: App, token: str, sign_in: SignInPage | None = None) -> None:
        """Wrap an application.

        Args:
            app: Application that answers the requests.
            token: The token.
            sign_in: Page for browsers; None for a server of programs alone.
        """
        self._app = app
        self._token = token.encode()
        self._sign_in = sign_in
        self._sessions = Sessions()
        self._tries = RateLimit(_TRIES_PER_S, _TRIES)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Reply 401 to a request without token or session; pass other requests on."""
        if scope["type"] != "http" or self._is_open(scope) or self._is_known(scope):
            await self._app(scope, receive, send)
        elif self._sign_in and scope["path"] == SIGN_IN and scope["method"] == "POST":
            await self._signed_in(scope, receive, send, self._sign_in)
        elif self._sign_in and any("text/html" in x for x in header_values(scope, b"accept")):
            await _page(send, self._sign_in(_target(scope), False))
        else:
            headers = [(b"www-authenticate", b"Bearer")]
            await refuse(send, 401, "Send the server's token: Authorization: Bearer …", headers)

    def _is_open(self, scope: Message) -> bool:
        return self._sign_in is not None and scope["path"].startswith(OPEN_PATHS)

    def _is_known(self, scope: Message) -> bool:
        for given in header_values(scope, b"authorization"):
            kind, _, token = given.partition(" ")
            if kind.lower() == "bearer" and self._is_token(token.strip()):
                return True
        return any(map(self._sessions.holds, _cookies(scope)))

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token)

    async def _signed_in(
        self, scope: Message, receive: Receive, send: Send, page: SignInPage
    ) -> None:
        """Start a session for the right token, and go on to the page that was asked for."""
        sent = (await receive()).get("body", b"").decode("utf-8", "replace")
        form = parse_qs(sent, keep_blank_values=True, max_num_fields=8)
        target = _safe(form.get("next", ["/"])[0])
        if not self._is_token(form.get("token", [""])[0].strip()):
            wait = self._tries.wait_s(client_of(scope))  # wrong tokens alone are counted
            if wait:
                await too_often(send, wait)
                return
            await _page(send, page(target, True))
            return
        secure = any(each.startswith("https:") for each in header_values(scope, b"origin"))
        cookie = f"{_COOKIE}={self._sessions.start()}; Path=/; HttpOnly; SameSite=Strict"
        headers = [
            (b"set-cookie", (cookie + "; Secure" * secure).encode()),
            (b"location", target.encode()),
        ]
        await refuse(send, 303, "Signed in.", headers)


async def _page(send: Send, body: bytes) -> None:
    """Send the page to sign in; its form must be able to name its own origin."""
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"www-authenticate", b"Bearer"),
        (b"referrer-policy", b"same-origin"),
    ]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _cookies(scope: Message) -> list[str]:
    """Return the session values that a request sends."""
    values = []
    for line in header_values(scope, b"cookie"):
        try:
            found = SimpleCookie(line).get(_COOKIE)
        except CookieError:
            continue
        values += [found.value] if found else []
    return values


def _target(scope: Message) -> str:
    """Return path and query of a request, to come back to."""
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


def _digest(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "replace")).digest()
