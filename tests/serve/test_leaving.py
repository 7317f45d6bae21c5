"""A client that leaves before its answer: the work for it ends, over the API and over MCP."""

from __future__ import annotations

import json
import socket
import time

import psutil
import pytest

from tests.modelserver import Reaction, always, openai
from tests.serve.conftest import serving

Q1 = "2024/Sales 2024.xlsx#Q1"
# Runs for its ten seconds if nobody ends it.
ENDLESS = (
    "SELECT count(*) FROM range(1000000) a, range(1000000) b, q1 WHERE a.range % 7 = b.range % 9"
)
WITHIN_S = 5.0
MCP = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "query_tables", "arguments": {"sheets": [Q1], "sql": ENDLESS}},
}  # fmt: skip


def queries(server):
    """The processes of queries that a server runs."""
    children = psutil.Process(server.process.pid).children(recursive=True)
    found = []
    for child in children:
        try:
            if "sat_retriever.tools.sql.process" in child.cmdline():
                found.append(child.pid)
        except psutil.Error:
            pass
    return found


def waited(server, wanted, seconds):
    """True as soon as a server runs a query, or none, as wanted; False after some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if bool(queries(server)) == wanted:
            return True
        time.sleep(0.05)
    return False


def leave(server, path, body):
    """Send a request, wait until its query runs, and close the connection; True if it then ends."""
    data = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        f"Content-Length: {len(data)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(head.encode() + data)
        assert waited(server, True, 60)
    return waited(server, False, WITHIN_S)


@pytest.mark.parametrize(
    ("path", "body"), [("/api/sql", {"sheets": [Q1], "sql": ENDLESS}), ("/mcp", MCP)]
)
def test_a_query_ends_when_its_client_leaves(server, path, body):
    assert leave(server, path, body)
    assert server.ask("/api/status").status == 200


def test_an_answer_in_words_ends_when_its_client_leaves(index_file):
    with openai(always(Reaction(f"```sql\n{ENDLESS}\n```"))) as model:
        options = ("--llm", "openai:small", "--llm-url", model.v1)
        with serving(index_file, *options) as server:
            body = {"question": "revenue by region in Q1", "tables": 1, "top_k": 1}
            assert leave(server, "/api/ask", body)
            asked = len(model.chats)
            time.sleep(1)
            assert len(model.chats) == asked
