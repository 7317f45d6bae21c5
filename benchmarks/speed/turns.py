"""Time calls in turns, so that a busy machine slows all of them; what counts is their ratio."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

from sat_retriever import SheetIndex, SheetRetriever
from sat_retriever.text.period.spans import UNDATED

WARM_UP = 20
REPEATS = 3


def median_seconds(
    call: Callable[[], object], repeats: int, before: Callable[[], object] | None = None
) -> float:
    """Return the median wall time; `before` runs untimed ahead of each repeat."""
    times = []
    for _ in range(repeats):
        if before:
            before()
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def timings_ms(call: Callable[[str], object], asked: Sequence[str]) -> list[float]:
    """Return the milliseconds of each call after a warm-up, all queries, repeated."""
    return turns({"": call}, asked)[""]


def turns(
    calls: Mapping[str, Callable[[str], object]], asked: Sequence[str]
) -> dict[str, list[float]]:
    """Return the milliseconds of calls that take turns, after a warm-up, all queries, repeated."""
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for query in asked[:WARM_UP]:
        for call in calls.values():
            call(query)
    for query in [*asked] * REPEATS:
        for name, call in calls.items():
            start = time.perf_counter()
            call(query)
            spent[name].append((time.perf_counter() - start) * 1000)
    return spent


def multiples(
    calls: Mapping[str, Callable[[str], object]], asked: Sequence[str]
) -> dict[str, float | int]:
    """Return percentiles of calls that take turns, and their medians as multiples of `encode`."""
    spent = turns(calls, asked)
    one = statistics.median(spent["encode"])
    figures: dict[str, float | int] = {}
    for name, values in spent.items():
        figures |= percentiles(name, values)
        figures[f"{name}_times_encoding"] = round(statistics.median(values) / one, 2)
        p95 = figures[f"{name}_p95_ms"]
        figures[f"{name}_p95_times_p50"] = round(p95 / figures[f"{name}_p50_ms"], 2)
    return figures


def calls_of(index: SheetIndex) -> dict[str, Callable[[str], object]]:
    """Return what is timed of an index: encoding, the default path, and without Stage 2."""
    ranked, found = SheetRetriever(index), SheetRetriever(index, None)
    return {
        "encode": lambda query: index.encoder.encode_queries([query]),
        "five": lambda query: ranked.retrieve(query, 5, today=UNDATED),
        "fifty": lambda query: ranked.retrieve(query, 50, today=UNDATED),
        "fifty_read": lambda query: ranked.retrieve(query, 50, today=UNDATED).to_dict(),
        "no_reranking": lambda query: found.retrieve(query, 5, today=UNDATED),
    }


def percentiles(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return p50 and p95 under a name; none of fewer than two values."""
    if len(values) < 2:
        return {}
    cuts = statistics.quantiles(values, n=100)
    return {f"{name}_p50_ms": round(cuts[49], 3), f"{name}_p95_ms": round(cuts[94], 3)}
