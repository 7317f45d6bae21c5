"""Sees every request: its span, its counts, and its lines in the audit log and the access log.

The audit line is written when an answer begins, before a byte of it is sent; the counts and the
access line when it has ended.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from sat_retriever.errors import InputError
from sat_retriever.serve.asgi import App, Message, Receive, Send, refuse
from sat_retriever.serve.audit import Record, audit_entry, came_as, now, sign_in_of
from sat_retriever.serve.identity import begin
from sat_retriever.serve.journal import Log
from sat_retriever.serve.metrics import METRICS, Metrics, Routes
from sat_retriever.serve.plan import AuditFailure
from sat_retriever.stages import answered, parent_of, span, trace_of, watched_by

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_GONE = 499  # nobody waited for the answer
_SILENT = (METRICS, "/static/{name}")  # not in the audit log: they show nothing of a workbook
_SAID_AGAIN_S = 60.0
_RETRY = (b"retry-after", b"10")

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Logs:
    """Where requests are written down.

    Attributes:
        questions: True if the audit log has the words of questions and SQL.
        failing: What happens to a request that the audit log does not take.
    """

    audit: Log | None = None
    access: Log | None = None
    questions: bool = True
    failing: AuditFailure = AuditFailure.REFUSE


class Recorder:
    """An ASGI application that sees the requests of another one, and their answers."""

    def __init__(self, app: App, routes: Routes, metrics: Metrics, logs: Logs) -> None:
        self._app = app
        self._routes = routes
        self.metrics = metrics
        self.logs = logs
        self._said: dict[str, float] = {}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, and write down what came of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin(scope)
        seen = _Seen(self, scope, self._routes.of(scope["path"]), send)
        with seen.span() as made, watched_by(seen.record), self.metrics.running.track_inprogress():
            seen.trace = trace_of(made)
            try:
                await self._app(scope, receive, seen.send)
                seen.end(_GONE)
            except asyncio.CancelledError:
                seen.end(_GONE)
                raise
            except BaseException:
                seen.end(500)
                raise
            finally:
                answered(made, seen.status)

    def write(self, name: str, log: Log, entry: Mapping[str, object]) -> bool:
        """Write a line; True if the log took it. A failure is told in the server's own log."""
        try:
            log.write(entry)
        except (OSError, InputError) as error:
            self.metrics.unlogged(name).inc()
            if time.monotonic() - self._said.get(name, -_SAID_AGAIN_S) >= _SAID_AGAIN_S:
                self._said[name] = time.monotonic()
                _logger.warning("the %s log does not take lines: %s", name, error)
            return False
        if self._said.pop(name, None) is not None:
            _logger.warning("the %s log takes lines again", name)
        return True


class _Seen:
    """One request, as far as it has come."""

    def __init__(self, recorder: Recorder, scope: Message, route: str, send: Send) -> None:
        self.record = Record(recorder.metrics, keeps=recorder.logs.audit is not None)
        self.status = 0
        self.trace = ""
        self._recorder = recorder
        self._scope = scope
        self._route = route
        self._send = send
        self._start = time.perf_counter()
        self._bytes = 0
        self._refused = False

    def span(self) -> AbstractContextManager[Any]:
        """Return the block that is the request's span, below the span that its headers name."""
        method = self._scope["method"]
        method = method if method in _METHODS else "_OTHER"  # a client may send any word
        attributes = {"http.request.method": method, "http.route": self._route}
        name = f"{method} {self._route}"
        context = parent_of(self._scope["headers"])
        return span(name, server=True, context=context, attributes=attributes)

    async def send(self, message: Message) -> None:
        """Send a part of the answer, once its audit line is written."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            if not self._audited():
                self._refused, self.status = True, 503
                reason = "The audit log cannot be written, so nothing is shown; try again later."
                await refuse(self._scope, self._send, 503, reason, [_RETRY])
        elif not self._refused:
            self._bytes += len(message.get("body", b""))
        if not self._refused:
            await self._send(message)

    def end(self, status: int) -> None:
        """Count the request; the status is that of one without an answer."""
        if not self.status:
            self.status = status
            self._audited()
        metrics, logs = self._recorder.metrics, self._recorder.logs
        seconds = time.perf_counter() - self._start
        metrics.requests(self._route, self.status).inc()
        metrics.request_s(self._route).observe(seconds)
        if result := sign_in_of(self._scope, self.status):
            metrics.sign_ins(result).inc()
        if logs.access:
            entry = {
                "time": now(),
                **came_as(self._scope, self._route, self.status),
                "bytes": self._bytes,
                "ms": round(seconds * 1000, 1),
                **({"trace": self.trace} if self.trace else {}),
            }
            self._recorder.write("access", logs.access, entry)

    def _audited(self) -> bool:
        """Write the audit line; False if the answer must not be sent without it."""
        logs = self._recorder.logs
        if logs.audit is None or self._route in _SILENT:
            return True
        told = self.record.told_of(questions=logs.questions)
        entry = audit_entry(self._scope, self._route, self.status, told, self.trace)
        written = self._recorder.write("audit", logs.audit, entry)
        return written or logs.failing is AuditFailure.CONTINUE
