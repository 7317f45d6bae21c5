"""Types of an ASGI application, and the answer that refuses a request in one sentence."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]


PROBLEM = "application/problem+json"


async def refuse(
    scope: Message, send: Send, status: int, reason: str, headers: Iterable[Header] = ()
) -> None:
    """Answer a request with a status and one sentence: plain text, or JSON for a program."""
    kind, body = "text/plain; charset=utf-8", f"{reason}\n".encode()
    if wants_json(scope["path"]):
        kind, body = PROBLEM, problem(status, reason)
    own = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": body})


def wants_json(path: str) -> bool:
    """True for the addresses of the API, and of pages as JSON.

    >>> wants_json("/api/search"), wants_json("/sheet.json"), wants_json("/sheet")
    (True, True, False)
    """
    return path.startswith("/api/") or path.endswith(".json")


def problem(status: int, detail: str, **more: object) -> bytes:
    """Return the JSON form of an error, as RFC 9457 describes it.

    >>> problem(404, "No such sheet.")
    b'{"type": "about:blank", "title": "Not Found", "status": 404, "detail": "No such sheet."}'
    """
    told = {"title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    text = json.dumps({"type": "about:blank", **told, **more}, ensure_ascii=False)
    return text.encode("utf-8", "replace")


def fields_of(text: str, most: int) -> dict[str, list[str]]:
    """Return the fields of a form or a query string, each with its values; none if more are given.

    >>> fields_of("a=1&b=&a=2", 3), fields_of("a=1&a=1&a=1&a=1", 3)
    ({'a': ['1', '2'], 'b': ['']}, {})
    """
    try:
        return parse_qs(text, keep_blank_values=True, max_num_fields=most)
    except ValueError:  # parsed by nobody: a form of this server has few
        return {}


def header_values(scope: Message, name: bytes) -> list[str]:
    """Return the values of a header, in their order.

    >>> header_values({"headers": [(b"Host", b"a"), (b"x", b"y")]}, b"host")
    ['a']
    """
    given: list[Header] = scope["headers"]
    return [value.decode("latin-1") for key, value in given if key.lower() == name]
