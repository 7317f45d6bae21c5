"""Whoever a request comes from, as the audit log names them: never by a token itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from sat_retriever.serve.asgi import App, Message, Receive, Send

_KNOWN = "sat_retriever.askers"  # key of a request's scope


@dataclass(frozen=True, slots=True)
class Asker:
    """Someone who asks.

    Attributes:
        token: Id of their token; "" without one.
        user: Name of the person; "" if the token does not tell.
        groups: Groups whose sheets they see; None if they see all.
    """

    token: str = ""
    user: str = ""
    groups: Sequence[str] | None = None


def begin(scope: Message) -> None:
    """Let inner layers note on a request who it comes from, on copies of its scope too."""
    scope[_KNOWN] = []


def noted(scope: Message, asker: Asker) -> None:
    """Note on a request who it comes from."""
    scope.get(_KNOWN, []).append(asker)


def asker_of(scope: Message) -> Asker | None:
    """Return whoever a request comes from; None if nobody was let in."""
    known: list[Asker] = scope.get(_KNOWN, [])
    return known[-1] if known else None


def token_id(token: str) -> str:
    """Return what a token is called: too little of a slow hash to find it by trying.

    >>> token_id("a-token-of-twenty-four-signs")
    '13ad6d98'
    """
    made = hashlib.scrypt(token.encode(), salt=b"sat token id", n=1 << 14, r=8, p=1, dklen=4)
    return made.hex()


@dataclass(frozen=True, slots=True)
class Named:
    """An ASGI application whose requests all come from those who have one token."""

    app: App
    asker: Asker

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Note who asks, and pass the request on."""
        noted(scope, self.asker)
        await self.app(scope, receive, send)
