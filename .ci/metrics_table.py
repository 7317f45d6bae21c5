"""Write the docs' table of the server's metrics from what `/metrics` shows.

python .ci/metrics_table.py            write it between its markers
python .ci/metrics_table.py --check    fail if it is stale
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from page_block import write_or_check
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sat_retriever.serve.indexstate import Held, families  # noqa: E402
from sat_retriever.serve.metrics import Metrics  # noqa: E402

_MOST = 6  # values of a label that are listed
_OPEN = {
    "route": "the address without what it names, or `other`",
    "status": "of HTTP; 499 if the client had gone",
    "code": "a [skip code](../reference/formats.md#what-is-skipped)",
}


class _Held(Collector):
    def collect(self) -> Iterator[Metric]:
        yield from families(Held(1, 1, 1, 1.0, Counter()))


def shown() -> list[Metric]:
    """Return every metric of a server that has answered one request."""
    metrics = Metrics(_Held())
    metrics.requests("/", "200").inc()
    metrics.request_s("/").observe(1)
    return list(text_string_to_metric_families(metrics.text().decode()))


def metrics_table() -> str:
    """Return a row for each metric, with its labels and their values."""
    rows = []
    for each in shown():
        name = f"{each.name}_total" if each.type == "counter" else each.name
        values: dict[str, dict[str, None]] = {}
        for sample in each.samples:
            for label, value in sample.labels.items():
                if label != "le":
                    values.setdefault(label, {})[value] = None
        labels = "; ".join(f"`{label}`: {_told(label, list(of))}" for label, of in values.items())
        rows.append(f"| `{name}` | {each.type} | {labels} | {each.documentation} |")
    return "\n".join(["| metric | kind | labels | meaning |", "|---|---|---|---|", *rows])


def _told(label: str, values: list[str]) -> str:
    return _OPEN.get(label) or ", ".join(values[:_MOST])


if __name__ == "__main__":
    write_or_check("guides/watching.md", "metrics", metrics_table())
