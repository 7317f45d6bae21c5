"""`sat mcp --transport http`: a real process on a free port, the official client."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
from contextlib import contextmanager

import pytest
from mcp import Client

from tests.mcp_server.conftest import CALLS, TOOLS, interrupted, started
from tests.mcp_server.test_server import MODES

START = re.compile(r"serving 4 sheets at http://127\.0\.0\.1:(\d+)/mcp \(Ctrl-C ends it\)\n")


@contextmanager
def served(index_file, *more):
    """A server process and the port it says it serves on."""
    with started(index_file, "--transport", "http", "--port", 0, *more) as process:
        said = process.stderr.readline().decode()
        assert START.fullmatch(said), said
        yield process, int(START.fullmatch(said)[1])


@pytest.fixture(scope="module")
def port(index_file):
    with served(index_file) as (_process, port):
        yield port


def answered(port, body=b"", **headers):
    """Status of a request that is made by hand."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    known = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        body = body or json.dumps(message).encode()
        connection.request("POST", "/mcp", body, {**known, **headers})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_lists_calls_and_calls_in_parallel(port, mode):
    async def use():
        async with Client(f"http://127.0.0.1:{port}/mcp", mode=mode) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            serial = [await client.call_tool(*call) for call in CALLS]
            parallel = await asyncio.gather(*(client.call_tool(*call) for call in CALLS * 4))
            wrong = await client.call_tool("read_range", {"sheet": "../secret.csv"})
            return listed, serial, parallel, wrong

    listed, serial, parallel, wrong = asyncio.run(use())
    assert listed == TOOLS
    assert not any(result.is_error for result in serial)
    said = [result.structured_content for result in serial]
    assert [result.structured_content for result in parallel] == said * 4
    assert wrong.is_error
    assert "hush" not in wrong.content[0].text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Origin": "http://localhost:6274"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
    ids=str,
)
def test_requests_of_other_hosts_and_origins_are_refused(port, headers, status):
    assert answered(port, **headers) == status


def test_a_body_beyond_4_mib_is_refused_and_the_server_lives_on(port):
    assert answered(port, b"[" + b" " * (4 << 20)) == 413
    assert answered(port) == 200


def test_a_host_name_can_be_allowed_and_ctrl_c_ends_it_quietly(index_file):
    with served(index_file, "--allow-host", "reports.example") as (process, port):
        assert answered(port, Host="reports.example") == 200
        assert answered(port, Host="evil.example") == 421
        assert interrupted(process) == 130
        assert b"Traceback" not in process.stderr.read()
        assert process.stdout.read() == b""
