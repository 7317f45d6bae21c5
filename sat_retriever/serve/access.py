"""Tokens that open the server: for programs in a header, for browsers by signing in once."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import stat
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.records.permissions import checked_groups
from sat_retriever.serve.asgi import (
    App,
    Header,
    Message,
    Receive,
    Send,
    header_values,
    lifespan_of_all,
    refuse,
)
from sat_retriever.serve.asker import Asker, noted, token_id
from sat_retriever.serve.limits import Counts, RateLimit, client_of, too_often

MIN_TOKEN = 16  # characters
SIGN_IN, SIGN_OUT = "/sign-in", "/sign-out"
OPEN_PATHS = ("/static/",)  # style of the sign-in page; nothing of the index
MAKE_ONE = "(umask 077; head -c 32 /dev/urandom | base64 > sat.token)"
_SESSION_S = 12 * 3600
_TRIES_PER_S, _TRIES = 0.1, 10  # sign-ins of one client

Audience = tuple[str | None, Sequence[str] | None, bool]
"""A token, the groups of those who have it, and True if they see all sheets instead."""
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
    check_token(token, f"the token in {path}")
    return token


def check_token(token: str, name: str) -> None:
    """Refuse a token that is easy to guess, or that a header cannot carry."""
    if len(token) < MIN_TOKEN or not all("!" <= sign <= "~" for sign in token):
        raise InputError(
            f"{name} is too short, or has blanks or letters other than ASCII; give "
            f"{MIN_TOKEN} characters or more: {MAKE_ONE}"
        )


class Sessions:
    """Browsers that have signed in, each known by a signed value with the time of its end.

    Nothing is kept of them, so every process with the same token knows them, also after a restart.
    """

    def __init__(self, token: str, clock: Callable[[], float] = time.time) -> None:
        # Slow on purpose: whoever has a value can try tokens at home.
        self._key = hashlib.scrypt(token.encode(), salt=b"sat session", n=1 << 14, r=8, p=1)
        self._clock = clock

    def start(self) -> str:
        """Return the value of a new session."""
        said = f"{int(self._clock()) + _SESSION_S}.{secrets.token_urlsafe(16)}"
        return f"{said}.{self._signature(said)}"

    def holds(self, value: str) -> bool:
        """True if this is the value of a session that has not ended."""
        said, _, signature = value.rpartition(".")
        right = hmac.compare_digest(self._signature(said).encode(), signature.encode())
        return right and int(said.partition(".")[0]) > self._clock()

    def _signature(self, said: str) -> str:
        return hmac.new(self._key, said.encode(), "sha256").hexdigest()


class Access:
    """An ASGI application that passes a request on to the application of its token or session."""

    def __init__(
        self, apps: Mapping[str, App], counts: Counts, sign_in: SignInPage | None = None
    ) -> None:
        """Wrap applications; `sign_in` is the page for browsers, None for programs alone."""
        self._apps = apps
        self._sign_in = sign_in
        self._sessions = {token: Sessions(token) for token in apps}
        self._tries = RateLimit(_TRIES_PER_S, _TRIES, counts.tries, counts.place)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Reply 401 to a request without token or session; pass other requests on."""
        if scope["type"] != "http":
            await lifespan_of_all(self._apps.values(), scope, receive, send)
            return
        token = self._token_of(scope)
        if token is None and self._is_open(scope):
            token = next(iter(self._apps))
        if self._sign_in and scope.get("path") == SIGN_OUT and scope["method"] == "POST":
            await _signed_out(scope, send)
        elif token is not None:
            await self._apps[token](scope, receive, send)
        elif self._sign_in and scope["path"] == SIGN_IN and scope["method"] == "POST":
            await self._signed_in(scope, receive, send, self._sign_in)
        elif self._sign_in and any("text/html" in x for x in header_values(scope, b"accept")):
            await _page(send, self._sign_in(_target(scope), False))
        else:
            headers = [(b"www-authenticate", b"Bearer")]
            await refuse(
                scope, send, 401, "Send the server's token: Authorization: Bearer …", headers
            )

    def _is_open(self, scope: Message) -> bool:
        return self._sign_in is not None and scope["path"].startswith(OPEN_PATHS)

    def _token_of(self, scope: Message) -> str | None:
        """Return the token that a request has, or that its session began with."""
        for given in header_values(scope, b"authorization"):
            kind, _, token = given.partition(" ")
            known = self._known(token.strip()) if kind.lower() == "bearer" else None
            if known is not None:
                return known
        values = _cookies(scope)
        for token, sessions in self._sessions.items():
            if any(map(sessions.holds, values)):
                return token
        return None

    def _known(self, given: str) -> str | None:
        """Return the token that a text is; all are compared, so that time tells nothing."""
        data = given.encode("utf-8", "replace")
        found = [token for token in self._apps if hmac.compare_digest(data, token.encode())]
        return found[0] if found else None

    async def _signed_in(
        self, scope: Message, receive: Receive, send: Send, page: SignInPage
    ) -> None:
        """Start a session for the right token, and go on to the page that was asked for."""
        sent = (await receive()).get("body", b"").decode("utf-8", "replace")
        form = parse_qs(sent, keep_blank_values=True, max_num_fields=8)
        target = _safe(form.get("next", ["/"])[0])
        token = self._known(form.get("token", [""])[0].strip())
        if token is None:
            wait = self._tries.wait_s(client_of(scope))  # wrong tokens alone are counted
            if wait:
                await too_often(scope, send, wait)
                return
            await _page(send, page(target, True))
            return
        noted(scope, Asker(token_id(token)))
        cookie = _cookie(scope, self._sessions[token].start(), "")
        await refuse(scope, send, 303, "Signed in.", [cookie, (b"location", target.encode())])


async def _signed_out(scope: Message, send: Send) -> None:
    """Have the browser forget its session, and lead it to the page to sign in."""
    forget = _cookie(scope, "", "; Max-Age=0")
    await refuse(scope, send, 303, "Signed out.", [forget, (b"location", b"/")])


def _cookie(scope: Message, value: str, more: str) -> Header:
    origins = header_values(scope, b"origin")
    secure = scope["scheme"] == "https" or any(each.startswith("https:") for each in origins)
    flags = f"; Path=/; HttpOnly; SameSite=Strict{more}{'; Secure' * secure}"
    return (b"set-cookie", f"{_name(scope)}={value}{flags}".encode())


def _name(scope: Message) -> str:
    """Return the name of the cookie: browsers send a host's cookies to all its ports."""
    return f"sat_session_{scope['server'][1]}"


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
    values = []
    for line in header_values(scope, b"cookie"):
        try:
            found = SimpleCookie(line).get(_name(scope))
        except CookieError:
            continue
        values += [found.value] if found else []
    return values


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


def read_audiences(path: Path) -> list[Audience]:
    """Return the tokens in a TOML file, each with its groups, or with `owner = true`.

    Raises:
        PathNotFoundError: If there is no such file.
        InputError: If every user of the machine can read it, or it holds anything but tokens.
    """
    try:
        if path.stat().st_mode & stat.S_IROTH:
            raise InputError(
                f"every user of this machine can read {path}; run: chmod 600 {path.name}"
            )
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PathNotFoundError(f"there is no file {path}; check the path") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the tokens in {path}: {error}") from error
    listed = found.get("token")
    if set(found) != {"token"} or not isinstance(listed, list) or not listed:
        raise InputError(
            f'{path} lists no tokens; write each under [[token]], with token = "…" and '
            'groups = ["sales"], or owner = true'
        )
    audiences = [_audience(each, f"token {n} in {path}") for n, each in enumerate(listed, 1)]
    if len({token for token, *_ in audiences}) < len(audiences):
        raise InputError(f"{path} lists a token twice; give each its groups once")
    return audiences


def _audience(entry: Mapping[str, Any], name: str) -> Audience:
    owner, groups = entry.get("owner", False), entry.get("groups")
    known = set(entry) <= {"token", "groups", "owner"} and isinstance(entry.get("token"), str)
    if not known or not isinstance(owner, bool) or owner == (groups is not None):
        raise InputError(f"{name} needs a text as token, and either groups or owner = true")
    check_token(entry["token"], name)
    if owner:
        return entry["token"], None, True
    if not isinstance(groups, list):
        raise InputError(f'the groups of {name} are not a list; write groups = ["sales"]')
    return entry["token"], checked_groups(groups), False
