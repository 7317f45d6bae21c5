"""Types of an ASGI application, and the plain answer that refuses a request."""

from __future__ import annotations

import asyncio
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


async def lifespan_of_all(
    apps: Iterable[App], scope: Message, receive: Receive, send: Send
) -> None:
    """Start and stop several applications as one."""
    running: list[tuple[asyncio.Queue[Message], asyncio.Queue[Message], asyncio.Task[None]]] = []
    for app in apps:
        told, said = asyncio.Queue[Message](), asyncio.Queue[Message]()
        task = asyncio.ensure_future(app(dict(scope), told.get, said.put))
        running.append((told, said, task))
    for _ in ("startup", "shutdown"):
        message = await receive()
        answers = []
        for told, said, _task in running:
            await told.put(message)
            answers.append(await said.get())
        failed = [each for each in answers if each["type"].endswith(".failed")]
        await send(failed[0] if failed else answers[0])
        if failed:
            return
    await asyncio.gather(*(task for *_, task in running))


def header_values(scope: Message, name: bytes) -> list[str]:
    """Return the values of a header, in their order.

    >>> header_values({"headers": [(b"Host", b"a"), (b"x", b"y")]}, b"host")
    ['a']
    """
    given: list[Header] = scope["headers"]
    return [value.decode("latin-1") for key, value in given if key.lower() == name]
