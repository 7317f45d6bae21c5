"""Limits on the requests of one client, without a server."""

from __future__ import annotations

import asyncio
import tempfile

import pytest

from sat_retriever.serve.limits import MAX_BODY, MAX_MCP_BODY, Counts, RateLimit, RequestLimits


async def echo(_scope, receive, send):
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "body": message["body"]})


def answer(path, *parts, endless=None):
    """Status of a request whose body comes in parts, and the body that was passed on."""
    left = [*parts]
    sent = []

    async def receive():
        if endless:
            return {"type": "http.request", "body": next(endless), "more_body": True}
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(),
             "query_string": b"", "headers": [], "client": ("10.0.0.1", 1)}  # fmt: skip
    asyncio.run(RequestLimits(echo, RateLimit(0, 1, [], int))(scope, receive, send))
    return sent[0]["status"], sent[0].get("body")


@pytest.mark.parametrize(("path", "most"), [("/sign-in", MAX_BODY), ("/mcp", MAX_MCP_BODY)])
def test_a_body_counts_as_a_whole_however_it_is_cut(path, most):
    part = b"x" * (most // 16)
    assert answer(path, *[part] * 16) == (200, part * 16)
    assert answer(path, *[part] * 16, b"x", b"")[0] == 413
    assert answer(path, part * 16 + b"x")[0] == 413
    assert answer(path, b"") == (200, b"")


def test_a_body_without_end_is_refused_before_its_end():
    read = []

    def parts():
        while True:
            read.append(1)
            yield b"x" * (1 << 20)

    assert answer("/sign-in", endless=parts())[0] == 413
    assert len(read) < 20


def test_a_bucket_fills_again():
    now = [0.0]
    limit = RateLimit(2, 3, [0.0] * 10, int, clock=lambda: now[0])
    assert [limit.wait_s("1") for _ in range(4)] == [0, 0, 0, 0.5]
    assert limit.wait_s("2") == 0
    now[0] = 0.5
    assert [limit.wait_s("1") for _ in range(2)] == [0, 0.5]
    now[0] = 1e6
    assert [limit.wait_s("1") for _ in range(4)] == [0, 0, 0, 0.5]
    assert not any(RateLimit(0, 1, [], int).wait_s("1") for _ in range(9))


def test_all_processes_count_in_the_same_tables():
    with tempfile.TemporaryFile() as file:
        file.truncate(Counts.SIZE)
        one, other = (Counts(file.fileno(), "salt") for _ in range(2))
        limits = [RateLimit(1, 3, each.requests, each.place, lambda: 0.0) for each in (one, other)]
        assert [limits[turn % 2].wait_s("a") for turn in range(4)] == [0, 0, 0, 1]
        tries = RateLimit(1, 1, other.tries, other.place, lambda: 0.0)
        assert [tries.wait_s("a") for _ in range(2)] == [0, 1]
    places = [one.place(f"10.0.0.{number}") for number in range(256)]
    assert places == [other.place(f"10.0.0.{number}") for number in range(256)]
    assert len(set(places)) > 250
    assert places != [Counts(-1, "another").place(f"10.0.0.{number}") for number in range(256)]
