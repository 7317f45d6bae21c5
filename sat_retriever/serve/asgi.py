"""Types of an ASGI application, and the plain answer that refuses a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]


async def refuse(send: Send, status: int, reason: str, headers: Iterable[Header] = ()) -> None:
    """Answer a request with a status and one sentence as plain text."""
    kind = (b"content-type", b"text/plain; charset=utf-8")
    body = f"{reason}\n".encode()
    size = (b"content-length", str(len(body)).encode())
    head = {"type": "http.response.start", "status": status, "headers": [kind, size, *headers]}
    await send(head)
    await send({"type": "http.response.body", "body": body})


def header_values(scope: Message, name: bytes) -> list[str]:
    """Return the values of a header, in their order.

    >>> header_values({"headers": [(b"Host", b"a"), (b"x", b"y")]}, b"host")
    ['a']
    """
    given: list[Header] = scope["headers"]
    return [value.decode("latin-1") for key, value in given if key.lower() == name]
