"""Time of a search request over HTTP: the page and MCP, one, twenty and fifty at once.

    python -m benchmarks run serve [--sizes 1000 100000] [--workers 1 2] [--requests 1000]
        [--work runs]

The server is `sat serve` with some workers, without its limit on the rate of a client. Another
process asks, on the same machine, different questions over connections that stay open. The
sheets are those of the table `latency`: template-like names, no cells, so a page shows no preview.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.results import Result
from benchmarks.runner import Options, suite
from benchmarks.speed.asking import Request
from benchmarks.speed.latency import MADE, index_of, queries
from benchmarks.speed.turns import percentiles

AT_ONCE = (1, 20, 50)
WARM_UP = 50
_PORT = re.compile(rb"http://127\.0\.0\.1:(\d+)/")


def pages(asked: Sequence[str]) -> list[Request]:
    """Return requests for the page of a search."""
    return [{"path": f"/?{urlencode({'q': question})}"} for question in asked]


def calls(asked: Sequence[str]) -> list[Request]:
    """Return calls of the tool `find_sheets` over MCP."""
    return [
        {
            "path": "/mcp",
            "body": json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": number,
                    "method": "tools/call",
                    "params": {"name": "find_sheets", "arguments": {"question": question}},
                }
            ),
        }
        for number, question in enumerate(asked)
    ]


@contextmanager
def served(index: Path, workers: int) -> Iterator[int]:
    """Start a server of an index; give its port, and stop it at the end."""
    command = [sys.executable, "-m", "sat_retriever", "serve", "--index", str(index)]
    options = ["--port", "0", "--rate", "0", "--workers", str(workers)]
    process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE)
    try:
        said = process.stderr.readline() if process.stderr else b""
        found = _PORT.search(said)
        if found is None:
            raise RuntimeError(f"the server did not start: {said.decode()}")
        yield int(found[1])
    finally:
        process.terminate()
        process.wait()


def asked_at_once(port: int, requests: Sequence[Request], at_once: int) -> dict[str, Any]:
    """Return the times of requests that another process sends."""
    plan = json.dumps({"port": port, "at_once": at_once, "requests": requests})
    command = [sys.executable, "-m", "benchmarks.speed.asking"]
    done = subprocess.run(command, input=plan, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    if found["failed"]:
        raise RuntimeError(f"{len(found['failed'])} requests failed: {set(found['failed'])}")
    return found


def measure(size: int, asked: Sequence[str], work: Path, workers: int) -> dict[str, float | int]:
    """Return all figures of one size and number of workers."""
    index = index_of(size, work)
    path = Path(str(index.path))
    index.close()
    metrics: dict[str, float | int] = {
        "sheets": size,
        "requests": len(asked),
        "workers": workers,
    }
    with served(path, workers) as port:
        for kind, requests in (("page", pages(asked)), ("mcp", calls(asked))):
            asked_at_once(port, requests[:WARM_UP], workers)
            for at_once in AT_ONCE:
                found = asked_at_once(port, requests, at_once)
                name = f"{kind}_{at_once}_at_once"
                metrics |= percentiles(name, found["ms"])
                metrics[f"{name}_per_s"] = round(len(asked) / found["seconds"], 1)
    return metrics


@suite("serve", work=MADE, sizes=[1000, 100_000], workers=[1, 2], requests=1000)
def main(options: Options) -> Iterator[Result]:
    """Measure."""
    asked = queries(options.requests)
    for size in options.sizes:
        for workers in options.workers:
            metrics = measure(size, asked, options.work, workers)
            method = "sat-retriever" if workers == 1 else f"sat-retriever_{workers}_workers"
            yield Result(method, f"template_{size}", metrics)
