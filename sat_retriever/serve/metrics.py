"""What a server counts, in OpenMetrics; of several processes, the sums of all.

No label has a text that a client or a workbook chose: routes, statuses, stages and codes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from sat_retriever._extras import require
from sat_retriever.serve.asgi import App, Message, Receive, Send, refuse
from sat_retriever.serve.indexstate import IndexState
from sat_retriever.stages import Cache, Stage

try:
    from anyio import CapacityLimiter, to_thread
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, values
    from prometheus_client.multiprocess import MultiProcessCollector
    from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest
except ModuleNotFoundError:
    require("prometheus_client", "serve")  # names the extra to install
    raise

METRICS = "/metrics"
_REQUEST_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
_STAGE_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)


_Kind = TypeVar("_Kind", Counter, Histogram)


@dataclass(frozen=True, slots=True)
class Place:
    """Where one of several processes counts: a folder that all share, and a number of its own.

    A process that starts in the place of a dead one goes on with its counts.
    """

    folder: Path
    number: int


class Metrics:
    """Counts of one process, shown with those of the others.

    Args:
        state: What the index holds; None leaves it out.
        place: Where it counts; None for the one process of a server. The environment variable
            PROMETHEUS_MULTIPROC_DIR must name its folder.
    """

    def __init__(self, state: IndexState | None = None, place: Place | None = None) -> None:
        self._shown = CollectorRegistry()
        own: CollectorRegistry | None = self._shown
        values.ValueClass = values.MutexValue  # an environment for other servers changes nothing
        if place is not None:
            number = place.number
            values.ValueClass = values.MultiProcessValue(process_identifier=lambda: number)
            self._shown.register(_OfAll(place.folder))
            own = None
        count = partial(_labelled, Counter, registry=own)
        times = partial(_labelled, Histogram, registry=own)
        gauge = partial(Gauge, registry=own, multiprocess_mode="livesum")
        self.requests = count("sat_requests", "Requests answered", ["route", "status"])
        self.request_s = times(
            "sat_request_seconds", "Time to the end of an answer", ["route"], buckets=_REQUEST_S
        )
        self.running = gauge("sat_requests_running", "Requests that are being answered")
        self.stage_s = times(
            "sat_stage_seconds", "Time of a stage, those within it included", ["stage"],
            buckets=_STAGE_S,
        )  # fmt: skip
        self.caches = count("sat_cache_lookups", "Looks into a cache", ["cache", "result"])
        self.sign_ins = count("sat_sign_ins", "Sign-ins and tokens, by their result", ["result"])
        self.unlogged = count("sat_log_failures", "Lines that a log file did not take", ["log"])
        self.workers = gauge("sat_workers", "Processes that serve")
        self.starts = Counter(
            "sat_worker_starts", "Processes that have begun to serve", registry=own
        )
        if state is not None:
            self._shown.register(state)
        self._begin()

    def _begin(self) -> None:
        """Show every count from zero on, where the labels are known: a rate needs the zero."""
        for stage in Stage:
            self.stage_s(stage)
        for each in Cache:
            for result in ("hit", "miss"):
                self.caches(each, result)
        for result in ("accepted", "denied"):
            self.sign_ins(result)
        for log in ("access", "audit"):
            self.unlogged(log)
        self.running.set(0)
        self.workers.set(1)
        self.starts.inc()

    def close(self) -> None:
        """Count this process no more among those that serve."""
        self.workers.set(0)
        self.running.set(0)

    def text(self) -> bytes:
        """Return all counts in OpenMetrics."""
        shown: bytes = generate_latest(self._shown)
        return shown


@dataclass(frozen=True, slots=True)
class _OfAll:
    """Sums of the counts of all processes that share a folder.

    A process makes its file empty and gives it its size thereafter; the library's own collector
    fails on a file between the two.
    """

    folder: Path

    def collect(self) -> Iterable[Any]:
        begun: list[str] = []
        for file in self.folder.glob("*.db"):
            with suppress(FileNotFoundError):  # of a process that has ended
                begun += [str(file)] if file.stat().st_size else []
        merged: Iterable[Any] = MultiProcessCollector.merge(begun)
        return merged


def _labelled(kind: type[_Kind], *named: Any, **more: Any) -> Callable[..., _Kind]:
    """Return the counts of a metric by its labels; found again without its lock and its checks."""
    counts: Callable[..., _Kind] = cache(kind(*named, **more).labels)
    return counts


@dataclass(frozen=True, slots=True)
class WithMetrics:
    """An ASGI application that also shows counts, to those who may see them."""

    app: App
    metrics: Metrics
    may_see: Callable[[Message], bool]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer with the counts, or pass the request on."""
        if scope["type"] != "http" or scope["path"] != METRICS or not self.may_see(scope):
            await self.app(scope, receive, send)
        elif scope["method"] not in ("GET", "HEAD"):
            await refuse(scope, send, 405, "Metrics are read by GET.", [(b"allow", b"GET, HEAD")])
        else:
            # It waits for no search, and reads the index after a change.
            body = await to_thread.run_sync(self.metrics.text, limiter=CapacityLimiter(1))
            headers = [
                (b"content-type", CONTENT_TYPE_LATEST.encode()),
                (b"content-length", str(len(body)).encode()),
            ]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": body})


class Routes:
    """Names of addresses: as many as there are routes, and one for all others.

    >>> names = Routes(["/sheet", "/static/{name}", "/api/sheets/{sheet:path}"])
    >>> names.of("/sheet"), names.of("/api/sheets/a/b.xlsx#Q1"), names.of("/etc/passwd")
    ('/sheet', '/api/sheets/{sheet}', 'other')
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._whole = {path for path in paths if "{" not in path}
        self._below = dict(self._named(paths))

    @staticmethod
    def _named(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
        for path in paths:
            start, brace, _ = path.partition("{")
            if brace:
                yield start, path.replace(":path}", "}")

    def of(self, path: str) -> str:
        """Return the name of an address."""
        if path in self._whole:
            return path
        return next(
            (name for start, name in self._below.items() if path.startswith(start)), "other"
        )
