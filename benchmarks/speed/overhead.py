"""Processor time that counts, spans and logs add to a search over HTTP's application.

    python -m benchmarks run overhead [--sizes 1000] [--requests 150] [--repeats 10]

One process calls the application of `sat serve` without a network: the same question takes turns
with nothing watched, with counts, with spans beside, with both logs beside. Counts are kept in a
file, as workers do; spans are made by the SDK of OpenTelemetry and handed to an exporter that
drops them. The order of each turn is drawn. A busy machine moves single times by more than all of
this costs, so the figure is the median of the differences within a turn, with an interval of it.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

import numpy as np
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from benchmarks.results import Result
from benchmarks.runner import Options, suite
from benchmarks.speed.latency import MADE, index_of, queries
from sat_retriever import SheetIndex, SheetRetriever, SheetTools
from sat_retriever.serve.app import web_app
from sat_retriever.serve.asgi import App, Message
from sat_retriever.serve.journal import Journal
from sat_retriever.serve.metrics import Metrics, Place, Routes
from sat_retriever.serve.recorder import Logs, Recorder

PLAIN, SPANS = "nothing", "counts_and_spans"
WARM_UP = 20
DRAWS = 2_000  # of a bootstrap
_API = "opentelemetry.trace"  # without this module in memory the library makes no spans


class Dropped(SpanExporter):
    """Takes spans and does nothing with them: what an exporter costs is its own."""

    def export(self, spans: Sequence[Any]) -> SpanExportResult:
        """Drop them."""
        return SpanExportResult.SUCCESS


def applications(index: SheetIndex, folder: Path) -> dict[str, App]:
    """Return the application as it is, and watched in each way."""
    app = web_app(SheetTools(index), SheetRetriever(index))
    routes = Routes([str(getattr(route, "path", "")) for route in app.routes])
    metrics = Metrics(place=Place(folder, 0))
    logs = Logs(Journal(folder / "audit.jsonl"), Journal(folder / "access.jsonl"))
    return {
        PLAIN: app,
        "counts": Recorder(app, routes, metrics, Logs()),
        SPANS: Recorder(app, routes, metrics, Logs()),
        f"{SPANS}_and_logs": Recorder(app, routes, metrics, logs),
    }


@contextmanager
def spans(*, made: bool) -> Iterator[None]:
    """Let the library make spans in the block, or find no API for them."""
    api = sys.modules.pop(_API)
    try:
        if made:
            sys.modules[_API] = api
        yield
    finally:
        sys.modules[_API] = api


async def asked(app: App, question: str) -> float:
    """Return the milliseconds of processor time of all threads for one answered request."""
    scope: Message = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/api/search",
        "raw_path": b"/api/search",
        "query_string": urlencode({"question": question}).encode(),
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    said: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        said.append(message)

    start = time.process_time()
    await app(scope, receive, send)
    spent = (time.process_time() - start) * 1000
    if said[0]["status"] != 200:
        raise RuntimeError(f"a search was answered {said[0]['status']}")
    return spent


async def turns(apps: Mapping[str, App], questions: Sequence[str]) -> dict[str, list[float]]:
    """Return the times of each application, turn by turn; the order in a turn is drawn."""
    spent: dict[str, list[float]] = {name: [] for name in apps}
    order, rng = list(apps), random.Random(0)
    for number, question in enumerate([*questions[:WARM_UP], *questions]):
        rng.shuffle(order)
        for name in order:
            with spans(made=name.startswith(SPANS)):
                found = await asked(apps[name], question)
            if number >= WARM_UP:
                spent[name].append(found)
    return spent


def figures(spent: Mapping[str, Sequence[float]], name: str) -> dict[str, float]:
    """Return the medians of one application, and of what it adds within a turn."""
    plain = statistics.median(spent[PLAIN])
    added = np.subtract(spent[name], spent[PLAIN]) * 1000
    drawn = np.random.default_rng(0).choice(added, (DRAWS, len(added)))
    low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
    middle = float(np.median(added))
    return {
        "plain_cpu_p50_ms": round(plain, 3),
        "cpu_p50_ms": round(statistics.median(spent[name]), 3),
        "added_p50_us": round(middle, 1),
        "added_low_us": round(float(low), 1),
        "added_high_us": round(float(high), 1),
        "times_plain": round(1 + middle / 1000 / plain, 4),
    }


@suite("overhead", work=MADE, sizes=[1000], requests=150, repeats=10)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Dropped()))
    trace.set_tracer_provider(provider)
    questions = queries(options.requests) * options.repeats
    for size in options.sizes:
        index = index_of(size, options.work)
        with TemporaryDirectory() as folder, index:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
            spent = asyncio.run(turns(applications(index, Path(folder)), questions))
        for name in spent:
            if name != PLAIN:
                metrics = {"sheets": size, "turns": len(questions), **figures(spent, name)}
                yield Result(name, f"template_{size}", metrics)
    provider.shutdown()
