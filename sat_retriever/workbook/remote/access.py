"""Tokens of a service: asked for when needed, kept in memory, sent to safe addresses alone."""

from __future__ import annotations

import ipaddress
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from sat_retriever.workbook.remote.systems import ReasonError

_TOKEN = re.compile(r"[\x21-\x7e]{1,20000}")
_EARLY_S = 60.0  # before its end a token is no longer used


@dataclass(frozen=True, slots=True)
class Login:
    """A request to an identity service, which answers with a token.

    Attributes:
        url: Its address.
        form: What it is sent. It holds secrets, so it is left out where a login is shown.
    """

    url: str
    form: Mapping[str, str] = field(repr=False)


class Tokens:
    """The present token of a service, shared by threads.

    Args:
        login: Called for each new token: a ready one, or a request for one.
        send: Sends such a request and returns the answer.
    """

    def __init__(
        self, login: Callable[[], str | Login], send: Callable[[Login], Mapping[str, Any]]
    ) -> None:
        self._login, self._send = login, send
        self._lock = threading.Lock()
        self._token, self._until = "", 0.0

    def current(self) -> str:
        """The token; a new one if there is none, or if it is about to expire.

        Raises:
            ReasonError: If there are no credentials, or they are refused.
        """
        with self._lock:
            if not self._token or time.monotonic() > self._until:
                self._token, self._until = self._fresh()
            return self._token

    def forget(self, token: str) -> None:
        """Ask for another token than this one, which was refused."""
        with self._lock:
            if self._token == token:
                self._token = ""

    def _fresh(self) -> tuple[str, float]:
        login = self._login()
        token: object = login
        lasting_s = float("inf")
        if isinstance(login, Login):
            answer = self._send(login)
            token, told = answer.get("access_token"), answer.get("expires_in")
            lasting_s = float(told) - _EARLY_S if isinstance(told, int) else 0.0
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise ReasonError("the token has a character that no token has, or there is none")
        return token, time.monotonic() + lasting_s


class SecretUrl(httpx.URL):
    """A URL that opens a file by itself. httpx logs the address of each request: here, no more."""

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}/…"

    @property
    def whole(self) -> str:
        """The URL as it is."""
        return super().__str__()


def safe_url(address: str) -> httpx.URL:
    """The URL of a service that may be sent secrets: over https, or on this machine.

    Raises:
        ReasonError: If it is another one.
    """
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        url = httpx.URL()
    if not url.host or url.userinfo or not (url.scheme == "https" or is_local(url)):
        raise ReasonError(
            f"the address of a service is not one of https without a password: {url.host!r:.80}"
        )
    return url


def is_local(url: httpx.URL) -> bool:
    """True for an address of this machine.

    >>> is_local(httpx.URL("http://127.0.0.1:8080/x")), is_local(httpx.URL("http://a.example"))
    (True, False)
    """
    try:
        local = ipaddress.ip_address(url.host).is_loopback
    except ValueError:
        local = url.host == "localhost"
    return local and url.scheme in ("http", "https")
