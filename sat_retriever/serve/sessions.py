"""Browsers that have signed in: cookies that are signed, and kept nowhere else."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
import time
import zlib
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from sat_retriever.serve.asgi import Header, Message, header_values
from sat_retriever.serve.identity import Identity, SignInError

SESSION_S = 12 * 3600
_LONGEST = 3_800  # characters of a cookie's value; browsers take 4,096 with name and attributes


class Sessions:
    """Values that are signed, each with the time of its end and what is known of its holder.

    Nothing is kept of them, so every process with the same secret knows them, also after a restart.
    """

    def __init__(self, secret: str, clock: Callable[[], float] = time.time) -> None:
        # Slow on purpose: whoever has a value can try secrets at home.
        self._key = hashlib.scrypt(secret.encode(), salt=b"sat session", n=1 << 14, r=8, p=1)
        self._clock = clock

    def start(self, known: Mapping[str, Any], seconds: int = SESSION_S) -> str:
        """Return a new value that holds some facts.

        Raises:
            SignInError: If they are more than a cookie holds.
        """
        packed = zlib.compress(json.dumps(known, ensure_ascii=False).encode("utf-8", "replace"), 9)
        facts = base64.urlsafe_b64encode(packed).decode().rstrip("=")
        said = f"{int(self._clock()) + seconds}.{secrets.token_urlsafe(16)}.{facts}"
        if len(said) > _LONGEST:
            raise SignInError(
                "Your groups have more characters than a cookie holds. Have the provider send the "
                "groups of this application alone."
            )
        return f"{said}.{self._signature(said)}"

    def known(self, value: str) -> dict[str, Any] | None:
        """Return the facts in a value; None if it was not made here, or has ended."""
        said, _, signature = value.rpartition(".")
        if not hmac.compare_digest(self._signature(said).encode(), signature.encode()):
            return None
        end, _, rest = said.partition(".")
        if int(end) <= self._clock():
            return None
        facts = rest.partition(".")[2]
        try:
            packed = base64.urlsafe_b64decode(facts + "=" * (-len(facts) % 4))
            found: dict[str, Any] = json.loads(zlib.decompress(packed))
        except (binascii.Error, zlib.error, ValueError):  # signed by an earlier version
            return None
        return found

    def mark(self, name: str) -> str:
        """Return what stands for a name in facts, from which nobody learns it."""
        return self._signature(f"of {name}")[:32]

    def _signature(self, said: str) -> str:
        return hmac.new(self._key, said.encode(), "sha256").hexdigest()


def facts_of(identity: Identity) -> dict[str, Any]:
    """Return what a session holds of one who was signed in by another program."""
    return {"name": identity.name, "groups": identity.groups, "id": identity.token_id}


def cookie(
    scope: Message, kind: str, value: str, *, seconds: int | None = None, lax: bool = False
) -> Header:
    """Return the header that sets a cookie.

    Args:
        kind: First part of its name.
        seconds: After which the browser forgets it; None is when the browser is closed.
        lax: True if it is also sent when a page of another site leads here.
    """
    origins = header_values(scope, b"origin")
    secure = scope["scheme"] == "https" or any(each.startswith("https:") for each in origins)
    flags = f"; Path=/; HttpOnly; SameSite={'Lax' if lax else 'Strict'}"
    if seconds is not None:
        flags += f"; Max-Age={seconds}"
    return (b"set-cookie", f"{_name(scope, kind)}={value}{flags}{'; Secure' * secure}".encode())


def cookies(scope: Message, kind: str) -> list[str]:
    """Return the values of a cookie that a browser sent."""
    values = []
    for line in header_values(scope, b"cookie"):
        try:
            found = SimpleCookie(line).get(_name(scope, kind))
        except CookieError:
            continue
        values += [found.value] if found else []
    return values


def _name(scope: Message, kind: str) -> str:
    """Return the name of the cookie: browsers send a host's cookies to all its ports."""
    return f"{kind}_{scope['server'][1]}"
