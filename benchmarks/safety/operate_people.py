"""Requests of people to a server, each judged by what was in force while it ran."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from benchmarks.safety.operate_record import Asked, Book
from benchmarks.safety.operate_scene import Person, Scene, may_see, shown_although_hidden

_TIMEOUT_S = 120.0
# How often each kind is asked, of 40.
KINDS: Mapping[str, int] = {
    "page": 12, "search": 10, "sheet": 4, "table": 3, "sql": 3, "cells": 2, "related": 2,
    "mcp": 2, "status": 1, "ask": 1,
}  # fmt: skip
_GONE = 0  # the status of a request without an answer
_MODEL = {"answers": {200}, "hangs": {504}, "refuses": {502, 504}}
_EXCUSES = {
    "restart": (_GONE, 503),
    "worker_killed": (_GONE,),
    "audit_full": (503,),
}


@dataclass(frozen=True, slots=True)
class Request:
    """A request to send.

    Attributes:
        sheet: Id of the sheet that it names; "" for none.
        check: Takes the answer's text and returns what is wrong with it; "" if nothing is.
    """

    kind: str
    path: str
    body: Mapping[str, Any] | None = None
    sheet: str = ""
    check: Callable[[str], str] = lambda _text: ""


class Client:
    """Sends requests and keeps them in a book."""

    def __init__(self, port: int, scene: Scene, book: Book) -> None:
        self._port = port
        self._scene = scene
        self._book = book

    def ask(self, person: Person, request: Request) -> tuple[Asked, str]:
        """Send a request; return what became of it, and the answer's text."""
        trace, start = self._book.trace(), time.monotonic()
        try:
            status, text = self._answer(person, request, trace)
        except (OSError, http.client.HTTPException) as error:
            status, text = _GONE, f"{type(error).__name__}: {error}"
        end = time.monotonic()
        outcome, detail = self._judged(person, request, (start, end), status, text)
        asked = Asked(
            trace, person.name, request.kind, round(start, 3), round(end, 3), status, outcome,
            detail, _hits(request.kind, text) if status == 200 else (),
        )  # fmt: skip
        self._book.note(asked)
        return asked, text

    def _answer(self, person: Person, request: Request, trace: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_TIMEOUT_S)
        headers = {
            "Authorization": f"Bearer {person.token}",
            "X-Forwarded-For": person.address,
            "Accept": "application/json, text/event-stream, text/html",
            "traceparent": f"00-{trace}-{trace[:16].replace('0', '1')}-01",
        }
        body = None
        if request.body is not None:
            body = json.dumps(request.body).encode()
            headers["Content-Type"] = "application/json"
        try:
            connection.request("POST" if body else "GET", request.path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def _judged(
        self, person: Person, request: Request, span: tuple[float, float], status: int, text: str
    ) -> tuple[str, str]:
        """Return the outcome of a request, and what was wrong."""
        scene = self._scene
        in_force = [*scene.rules.during(*span)]
        hits = _hits(request.kind, text) if status == 200 else ()
        lets_in = person.lets_in.during(*span)
        wanted = self._wanted(person, request, span) if True in lets_in else set()
        shown = shown_although_hidden(
            text, person.groups, in_force, scene.sheets, asked=request.sheet
        ) + [each for each in hits if not any(may_see(person.groups, each, x) for x in in_force)]
        if status != _GONE and shown:
            return "shown", f"{request.path[:200]}: {status}, hidden, but shown: {shown[:5]}"
        if status == 200 and status in wanted:
            wrong = request.check(text)
            return ("wrong", wrong) if wrong else ("expected", "")
        if status in wanted:
            return ("model" if request.kind == "ask" else "hidden"), ""
        if False in lets_in and status in (401, 429):
            return "token_refused", ""
        for trouble in scene.trouble.during(*span):
            if status in _EXCUSES.get(trouble, ()):
                return trouble, ""
        return "unexpected", f"{request.path[:200]}: {status} {text[:300]}"

    def _wanted(self, person: Person, request: Request, span: tuple[float, float]) -> set[int]:
        """Return the statuses that a request of somebody who is let in may have."""
        if request.kind == "ask":
            return set().union(*(_MODEL[each] for each in self._scene.model.during(*span)))
        if not request.sheet:
            return {200}
        rules = self._scene.rules.during(*span)
        return {200 if may_see(person.groups, request.sheet, each) else 404 for each in rules}


def _hits(kind: str, text: str) -> tuple[str, ...]:
    """Return the ids in a list of hits."""
    if kind not in ("search", "find"):
        return ()
    return tuple(each["sheet"] for each in json.loads(text)["sheets"])


def request_of(kind: str, person: Person, scene: Scene, draw: random.Random) -> Request:
    """Return a request of some kind; one in five for a sheet names one that is hidden."""
    question = draw.choice(scene.questions)
    if kind == "page":
        return Request(kind, f"/?{urlencode({'q': question})}")
    if kind == "search":
        return Request(kind, f"/api/search?{urlencode({'question': question})}")
    if kind == "mcp":
        call = {"name": "find_sheets", "arguments": {"question": question}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        return Request(kind, "/mcp", body, check=_no_error)
    if kind == "ask":
        return Request(kind, "/api/ask", {"question": question})
    if kind == "cells":
        return Request(kind, "/api/cells", {"text": question.split()[0][:40]})
    if kind == "status":
        return Request(kind, "/api/status")
    return _of_a_sheet(kind, person, scene, draw, question)


def _of_a_sheet(
    kind: str, person: Person, scene: Scene, draw: random.Random, question: str
) -> Request:
    if kind == "sql":
        table = draw.choice(scene.tables)
        body = {"sheets": [table.sheet_id], "sql": table.sql}

        def check(text: str) -> str:
            rows = json.loads(text)["rows"]
            return "" if rows == table.rows else f"{table.sql}: {rows}, not {table.rows}"

        return Request(kind, "/api/sql", body, table.sheet_id, check)
    rules, hidden = scene.rules.now, draw.random() < 0.2
    sheet = draw.choice(scene.sheets)
    for _ in range(20):
        if may_see(person.groups, sheet, rules) != hidden:
            break
        sheet = draw.choice(scene.sheets)
    if kind == "sheet":
        return Request(kind, f"/sheet?{urlencode({'id': sheet, 'q': question})}", sheet=sheet)
    if kind == "related":
        return Request(kind, f"/api/related?{urlencode({'sheet': sheet})}", sheet=sheet)
    if draw.random() < 0.5:
        return Request("describe", f"/api/sheets/{quote(sheet, safe='')}", sheet=sheet)
    return Request(kind, "/api/table", {"sheet": sheet, "range": "A1:F20"}, sheet)


def _no_error(text: str) -> str:
    return "" if '"isError":false' in text.replace(" ", "") else text[:300]


def crowd(
    client: Client, everyone: list[Person], scene: Scene, pause_s: float, seed: int
) -> tuple[threading.Event, list[threading.Thread]]:
    """Let everyone ask, each after the answer to the question before and a pause.

    Returns:
        An event that ends them, and their threads.
    """
    stop = threading.Event()

    def asking(person: Person) -> None:
        draw = random.Random(f"{seed} {person.name}")
        kinds = [kind for kind, share in KINDS.items() for _ in range(share)]
        while not stop.wait(draw.expovariate(1 / pause_s)):
            client.ask(person, request_of(draw.choice(kinds), person, scene, draw))

    threads = [threading.Thread(target=asking, args=(each,), daemon=True) for each in everyone]
    for each in threads:
        each.start()
    return stop, threads
