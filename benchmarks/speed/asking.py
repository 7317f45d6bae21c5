"""Many HTTP requests from one process, a number of them at once, each timed.

    python -m benchmarks.speed.asking < plan.json > times.json

The plan has the server's port, how many requests run at once, and the requests. Connections are
kept open, as a browser's are.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

Request = dict[str, str]


async def asked(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the milliseconds of each request, the seconds of all, and how many failed."""
    waiting = iter(plan["requests"])
    times: list[float] = []
    failed: list[int] = []
    start = time.perf_counter()
    clients = (_client(plan["port"], waiting, times, failed) for _ in range(plan["at_once"]))
    await asyncio.gather(*clients)
    return {"ms": times, "seconds": time.perf_counter() - start, "failed": failed}


async def _client(
    port: int, waiting: Iterator[Request], times: list[float], failed: list[int]
) -> None:
    """Send requests over one connection, each after the answer to the one before."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for request in waiting:
        start = time.perf_counter()
        writer.write(_bytes(request, port))
        await writer.drain()
        status = await _status(reader)
        times.append((time.perf_counter() - start) * 1000)
        if status != 200:
            failed.append(status)
    writer.close()


def _bytes(request: Request, port: int) -> bytes:
    body = request.get("body", "").encode()
    head = [
        f"{'POST' if body else 'GET'} {request['path']} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Accept: application/json, text/event-stream, text/html",
    ]
    if body:
        head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, "", ""]).encode() + body


async def _status(reader: asyncio.StreamReader) -> int:
    """Read an answer to its end and return its status."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    size = next(x for x in head.split("\r\n") if x.startswith("content-length:"))
    await reader.readexactly(int(size.partition(":")[2]))
    return int(head.split()[1])


if __name__ == "__main__":
    json.dump(asyncio.run(asked(json.load(sys.stdin))), sys.stdout)
