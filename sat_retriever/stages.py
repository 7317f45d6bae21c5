"""The stages of an answer, as those see them who watch a server: spans, times, and what was told.

A stage is a span of OpenTelemetry if the program has loaded its API; without it, and without an
SDK behind it, there is none. Whoever answers for others sets a `Watcher` for the request; without
one nothing is counted or kept. Neither a span nor a count has a text of a question or a cell.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from enum import StrEnum
from functools import cache
from typing import Any, Protocol

_API, _CONTEXT = "opentelemetry.trace", "opentelemetry.context"


class Stage(StrEnum):
    """Steps that take time; one may hold others."""

    ASK = "ask"
    """A language model's answer in words, with its search, readings and queries."""
    SEARCH = "search"
    """The sheets for a question, found and ranked."""
    ENCODE = "encode"
    """Tokens of one question, or of several together."""
    READ = "read"
    """Cells of a workbook, with the wait for a process that reads."""
    PARSE = "parse"
    """A workbook's file, as the reading process takes it apart."""
    SQL = "sql"
    """One query, in a process of its own."""


class Cache(StrEnum):
    """What is kept for a while, so that it need not be made again."""

    CELLS = "cells"
    """Blocks of cells that pages have shown."""
    COPIES = "copies"
    """Copies of workbooks at URLs."""
    FOUND = "found"
    """Lists of the sheets that searches found, for the pages of these sheets."""
    TOKENS = "tokens"
    """Tokens of questions that were encoded together with others."""


class Told(StrEnum):
    """What somebody has asked, or was shown."""

    QUESTION = "questions"
    """A question, or a text to find in cells."""
    FOUND = "found"
    """Sheets in a list: hits, related sheets, sheets with a cell."""
    READ = "read"
    """Sheets that were described, or whose cells were read."""
    SQL = "sql"
    """Queries."""
    WORKBOOK = "workbooks"
    """Workbooks as whole files."""


class Watcher(Protocol):
    """Sees the work for one request; called from the threads that do it."""

    def took(self, stage: Stage, seconds: float) -> None:
        """Take the time of a stage, also of one that failed."""

    def looked_up(self, cache: Cache, *, found: bool) -> None:
        """Take one look into a cache."""

    def told(self, what: Told, names: tuple[str, ...]) -> None:
        """Take what was asked or shown."""


_WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Let somebody see the work of this context, in its threads too, until the block ends."""
    before = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(before)


@contextmanager
def stage(which: Stage) -> Iterator[None]:
    """Do the work of a stage in the block."""
    watcher = _WATCHER.get()
    start = time.perf_counter()
    try:
        with span(f"sat.{which}"):
            yield
    finally:
        if watcher:
            watcher.took(which, time.perf_counter() - start)


def looked_up(cache: Cache, *, found: bool) -> None:
    """Say if a cache held what was wanted."""
    if watcher := _WATCHER.get():
        watcher.looked_up(cache, found=found)


def tell(what: Told, *names: str) -> None:
    """Say what is asked or shown."""
    if watcher := _WATCHER.get():
        watcher.told(what, names)


def span(name: str, **more: Any) -> AbstractContextManager[Any]:
    """Return a block that is a span; its value is None without the API of OpenTelemetry.

    Args:
        name: Its name; nothing that a client or a workbook chose.
        more: `attributes` and `context` of the span, and `server`: True for that of a request.
    """
    api = sys.modules.get(_API)
    return nullcontext() if api is None else _Span(api, name, **more)


def parent_of(headers: Iterable[tuple[bytes, bytes]]) -> Any:
    """Return the context of the span that the headers of a request name, W3C's `traceparent`.

    A span that is running already, made by another instrument of the server, goes first.
    """
    api = sys.modules.get(_API)
    if api is None or api.get_current_span().get_span_context().is_valid:
        return None
    from opentelemetry.propagate import extract

    return extract({name.decode("latin-1"): value.decode("latin-1") for name, value in headers})


def answered(made: Any, status: int) -> None:
    """Note on a request's span the status of its answer."""
    if made is not None:
        made.set_attribute("http.response.status_code", status)
        if status >= 500:
            made.set_attribute("error.type", str(status))
            made.set_status(sys.modules[_API].StatusCode.ERROR)


def trace_of(made: Any) -> str:
    """Return the id of a span's trace, as logs name it; "" without one."""
    if made is None:
        return ""
    context = made.get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else ""


class _Span:
    """A block that is a span, made by the API's parts: its own blocks cost as much as the span."""

    __slots__ = ("_api", "_made", "_more", "_name", "_token")

    def __init__(self, api: Any, name: str, *, server: bool = False, **more: Any) -> None:
        self._api = api
        self._name = name
        self._more = {"kind": api.SpanKind.SERVER, **more} if server else more

    def __enter__(self) -> Any:
        api = self._api
        self._made = _start(api.get_tracer)(self._name, **self._more)
        self._token = sys.modules[_CONTEXT].attach(api.set_span_in_context(self._made))
        return self._made

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # The text of an error may hold a question or a file's name, so a span has its type alone.
        if kind is not None:
            self._made.set_attribute("error.type", kind.__qualname__)
            self._made.set_status(self._api.StatusCode.ERROR)
        sys.modules[_CONTEXT].detach(self._token)
        self._made.end()


@cache
def _start(get_tracer: Callable[..., Any]) -> Callable[..., Any]:
    """How spans start; before an SDK is set, the API's own tracer waits for it."""
    from sat_retriever._version import __version__  # reads metadata

    start: Callable[..., Any] = get_tracer("sat_retriever", __version__).start_span
    return start
