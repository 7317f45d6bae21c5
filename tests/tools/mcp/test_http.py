"""`sat mcp --transport http`: a real process on a free port, the official client."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
from contextlib import contextmanager

import pytest
from mcp import Client

from tests.tools.mcp.conftest import CALLS, TOOLS, interrupted, started
from tests.tools.mcp.test_server import MODES

START = re.compile(r"serving 4 sheets at http://127\.0\.0\.1:(\d+)/mcp \(Ctrl-C to stop\)\n")


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


PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()


def status_of(port, *lines):
    """Status of a request whose header lines are sent as they are."""
    known = (
        b"Content-Type: application/json",
        b"Accept: application/json, text/event-stream",
        b"Connection: close",
        b"Content-Length: %d" % len(PING),
    )
    head = b"\r\n".join([b"POST /mcp HTTP/1.1", *lines, *known])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(head + b"\r\n\r\n" + PING)
        return int(connection.makefile("rb").readline().split()[1])


OWN = [
    "localhost", "LOCALHOST", "LocalHost:8765", "localhost.", "localhost.:80", "localhost:1",
    "localhost:65535", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.", "[::1]", "[::1]:80",
    "[0:0:0:0:0:0:0:1]:80", "[0000::0001]",
]  # fmt: skip
OTHERS = [
    "localhost:80@evil.com", "localhost@evil.com", "evil.com@localhost", "user:pw@localhost:80",
    "localhost:", "localhost:0", "localhost:65536", "localhost:000080", "localhost:80:80",
    "localhost:+80", "localhost:-1", "localhost:8o", "localhost:80 ", "localhost:٨٠",
    "localhost:80/", "localhost/", "localhost#", "localhost?x", "localhost\\", "local%68ost",
    "localhost%00", "localhost..", ".localhost", "localhost.evil.com", "localhost.evil.com:80",
    "evil.localhost", "localhost:80.evil.com", "localhost,evil.com", "localhost evil.com",
    "localhost;", "lócalhost", "\u212aocalhost", "evil.com", "evil.com:80", "", ":80", "*",
    "127.0.0.1:80@evil.com", "127.0.0.1.evil.com", "127.0.0.2", "127.1", "2130706433",
    "0x7f.0.0.1", "0.0.0.0", "::1", "[::1", "::1]", "[::1]evil.com", "[::1].evil.com:80",
    "[::1]@evil.com", "[::1]:x", "[::1%25lo]", "[::2]", "[::]", "[::ffff:127.0.0.1]", "[]",
    "[localhost]", "[127.0.0.1]", "http://localhost", "localhost:80\tx",
]  # fmt: skip


def test_a_host_counts_only_if_it_is_one_of_the_known_spelled_as_a_host(port):
    found = {host: status_of(port, b"Host: " + host.encode()) for host in (*OWN, *OTHERS)}
    refused = dict.fromkeys(OTHERS, (421,))
    refused["localhost:80 "] = (200,)  # HTTP itself takes blanks off
    for host in ("localhost:80\tx", ""):
        refused[host] = (400, 421)
    assert {
        host: status for host, status in found.items() if status not in refused.get(host, (200,))
    } == {}


def test_an_origin_counts_only_if_it_is_a_page_of_a_known_host(port):
    def status(*origins):
        return status_of(port, b"Host: localhost", *(b"Origin: " + o.encode() for o in origins))

    pages = [f"{scheme}://{host}" for scheme in ("http", "https", "HTTP") for host in OWN]
    others = [f"http://{host}" for host in OTHERS if not host.endswith((" ", "x"))]
    others += [
        "null",
        "",
        "localhost",
        "//localhost",
        "file://",
        "ftp://localhost",
        "http:localhost",
    ]
    others += ["http://localhost/", "http://localhost http://evil.com", "http:////localhost"]
    assert {origin: status(origin) for origin in pages} == dict.fromkeys(pages, 200)
    assert {origin: status(origin) for origin in others} == dict.fromkeys(others, 403)
    assert status("http://localhost", "http://localhost") == 403
    assert status("http://localhost", "http://evil.com") == 403


def test_a_request_names_its_host_once(port):
    assert status_of(port) == 400
    assert status_of(port, b"Host: localhost", b"Host: localhost") == 400
    assert status_of(port, b"Host: evil.com", b"host: localhost") == 400


def test_a_body_beyond_4_mib_is_refused_and_the_server_lives_on(port):
    assert answered(port, b"[" + b" " * (4 << 20)) == 413
    assert answered(port) == 200


def test_a_host_name_can_be_allowed_and_ctrl_c_ends_it_quietly(index_file):
    names = ("--allow-host", "Reports.example", "--allow-host", "fe80::7")
    with served(index_file, *names) as (process, port):
        assert answered(port, Host="reports.example") == 200
        assert answered(port, Host="[FE80:0::7]:80") == 200
        assert answered(port, Host="evil.example") == 421
        assert interrupted(process) == 130
        assert b"Traceback" not in process.stderr.read()
        assert process.stdout.read() == b""
