"""`sat mcp` over standard input and output: a real process, the official client."""

from __future__ import annotations

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters, stdio_client

from tests.tools.mcp.conftest import CALLS, ENVIRONMENT, TOOLS, arguments, interrupted, started

VERSION = "2025-06-18"
HELLO = {
    "method": "initialize",
    "params": {
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def line(number, **message):
    return json.dumps({"jsonrpc": "2.0", "id": number, **message}).encode() + b"\n"


def greeted(process):
    """The server's first answer."""
    process.stdin.write(line(0, **HELLO))
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_the_official_client_lists_calls_and_calls_in_parallel(index_file):
    server = StdioServerParameters(
        command=sys.executable, args=arguments(index_file), env=ENVIRONMENT
    )

    async def use():
        async with Client(stdio_client(server)) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            serial = [await client.call_tool(*call) for call in CALLS]
            parallel = await asyncio.gather(*(client.call_tool(*call) for call in CALLS * 4))
            wrong = await client.call_tool("describe_sheet", {"sheet": "2024/Sales.xlsx#Q3"})
            return listed, serial, parallel, wrong

    listed, serial, parallel, wrong = asyncio.run(use())
    assert listed == TOOLS
    assert not any(result.is_error for result in serial)
    assert parallel == serial * 4
    assert wrong.is_error
    assert "2024/Sales.xlsx#Q1" in wrong.content[0].text  # the nearest one


def test_only_protocol_is_on_stdout_and_it_ends_with_its_client(index_file):
    call = {"method": "tools/call", "params": {"name": "index_status", "arguments": {}}}
    with started(index_file) as process:
        first = greeted(process)
        process.stdin.write(b"not json\n" + line(1, **call))
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert process.communicate(timeout=60) == (b"", b"")  # its client goes away
        assert process.returncode == 0
    assert first["result"]["serverInfo"]["name"] == "sat-retriever"
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 1)
    assert answer["result"]["structuredContent"]["sheets"] == 4


def test_a_client_that_is_gone_before_its_answer_ends_it_quietly(index_file):
    with started(index_file) as process:
        greeted(process)
        process.stdout.close()
        process.stdin.write(line(1, method="tools/list"))
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == b""


def test_ctrl_c_ends_it_at_once_and_quietly(index_file):
    with started(index_file) as process:
        greeted(process)
        assert interrupted(process) == 130
        assert process.stderr.read() == b""
