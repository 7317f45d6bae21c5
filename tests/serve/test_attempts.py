"""Attempts of an attacker on running servers, a table for each area; each is one request.

The threat model (docs/about/security.md) has their numbers, which the last test compares.
"""

from __future__ import annotations

import http.client
import itertools
import json
import re
import shutil
import socket
import uuid
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import psycopg
import pytest

from sat_retriever import Rule, Rules, SheetIndex
from sat_retriever.index.store.opening import migrate_store
from sat_retriever.index.store.place import place_of
from sat_retriever.serve.serving import CLIENTS_CONNECTIONS
from tests.backup.test_backup import HOSTILE as HOSTILE_BACKUPS
from tests.index.store.postgres.test_attempts import COUNTED as IN_POSTGRES
from tests.places import ROOT
from tests.serve.conftest import Answer, Server, serving
from tests.serve.test_browser_attempts import COUNTED as IN_A_BROWSER
from tests.tools.sql.test_query import ENDLESS, WRONG

SALES, OWN = "s" * 20, "o" * 20
TOKENS = f"""
[[token]]
token = "{SALES}"
groups = ["sales"]
[[token]]
token = "{OWN}"
owner = true
"""
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}


@pytest.fixture(scope="module")
def door(index_file, reports, tmp_path_factory) -> Iterator[Server]:
    """A server on which the sheet of `staff.csv` is for another group."""
    folder = tmp_path_factory.mktemp("attempts")
    shutil.copy(index_file, folder / "ruled.sat")
    with SheetIndex.open(folder / "ruled.sat") as index:
        index.permit(Rules((Rule("staff.csv", ("hr",)), Rule("*", ("sales",)))))
    (folder / "tokens.toml").write_text(TOKENS)
    (folder / "tokens.toml").chmod(0o600)
    tokens = ("--tokens", folder / "tokens.toml", "--open-files", "download")
    with serving(folder / "ruled.sat", *tokens, "--rate", 0) as started:
        yield started
        started.process.terminate()
        assert b"Traceback" not in started.process.stderr.read()


def sent(server: Server, path: str, body: object = None, **headers: str) -> Answer:
    """The answer to one of the group sales; a body is JSON."""
    known = {"Authorization": f"Bearer {SALES}", **headers}
    if body is None:
        return server.ask(path, **known)
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return server.ask(path, "POST", text, **JSON, **known)


def called(tool: str, **arguments: object) -> tuple[str, object]:
    asked = {"name": tool, "arguments": arguments}
    return "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}


# ---- permissions: what a hidden sheet holds

SEARCHES: list[tuple[str, object]] = [
    ("/", None),
    ("/api/status", None),
    ("/metrics", None),
    ("/api/openapi.json", None),
    *(
        (f"/?{urlencode({'q': text, 'k': 50})}", None)
        for text in ("Ada", "salary", "salarry", "41")
    ),
    *((f"/search.json?q={text}", None) for text in ("name+salary", "Adda", "csv")),
    *((f"/api/search?question={text}&top_k=50", None) for text in ("name+salary", "Ada+41")),
    *((f"/?q=name&{each}=csv", None) for each in ("format", "folder")),
    ("/?folder=*", None),
    ("/api/search?question=name&path=s*", None),
    ("/api/search?question=name&path=*.csv", None),
    ("/api/cells", {"text": "Ad"}),
    ("/api/cells", {"text": "Sal"}),
    called("find_sheets", question="salary of a name"),
    called("index_status"),
    called("search_cells", text="Ad"),
    called("related_sheets", sheet="2024/Sales 2024.xlsx#Summary"),
]


@pytest.mark.parametrize(("path", "body"), SEARCHES, ids=[str(x)[:60] for x in SEARCHES])
def test_a_search_tells_nothing_of_a_hidden_sheet(path, body, door):
    said = sent(door, path, body, X_Forwarded_For="10.0.0.7").text
    assert "staff.csv" not in said and "Salary" not in said and "Ada<" not in said, said


NAMES = (
    "{}.csv#{}", "{}.csv", "{}", "{}.csv#{}!A1:B2", "{}.csv#{} ", " {}.csv#{}", "./{}.csv#{}",
    "2024/../{}.csv#{}", "/{}.csv#{}", "\\{}.csv#{}", "{}%2Ecsv#{}", "{}.CSV#{}", "{}.csv#{}.",
    "{}.csv#{}' OR 1=1 --", "file:///{}.csv", "*{}*",
)  # fmt: skip
WAYS = ("/sheet", "/table.json", "/workbook", "/graph", "/api/related", "describe", "sql", "mcp")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_a_hidden_sheet_is_named_like_one_that_does_not_exist(name, way, door):
    def told(word: str) -> str:
        sheet = name.format(word, word)
        match way:
            case "describe":
                answer = sent(door, f"/api/sheets/{quote(sheet, safe='')}")
            case "sql":
                answer = sent(door, "/api/sql", {"sheets": [sheet]})
            case "mcp":
                answer = sent(door, *called("read_range", sheet=sheet))
            case _:
                key = "sheet" if way == "/api/related" else "id"
                answer = sent(door, f"{way}?{urlencode({key: sheet})}")
        assert answer.status == (200 if way == "mcp" else 404), answer.text
        return answer.text.replace(word, "X")

    assert told("staff") == told("stabb")


def test_a_place_on_the_server_is_no_name(door, reports):
    """Else whoever guesses would learn where files lie."""
    own = f"{reports}/2024/Sales 2024.xlsx#Q1"
    for place in (own, f"/proc/self/root{own}", f"/proc/self/cwd/../{own}"):
        for token in (SALES, OWN):
            known = {"Authorization": f"Bearer {token}"}
            assert sent(door, f"/api/sheets/{quote(place, safe='')}", **known).status == 404
            assert sent(door, "/api/sql", {"sheets": [place]}, **known).status == 404


# ---- the same, of an index in PostgreSQL, and by hostile workbooks in a browser


def test_an_index_in_postgresql_tells_as_little(index_file, postgres, tmp_path):
    copy, reader = tmp_path / "ruled.sat", f"reader_{uuid.uuid4().hex}"
    shutil.copy(index_file, copy)
    with SheetIndex.open(copy) as index:
        index.permit(Rules((Rule("staff.csv", ("hr",)), Rule("*", ("sales",)))))
    url = postgres.url(reader)
    migrate_store(copy, place_of(url))
    with psycopg.connect(postgres.conninfo, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {reader} LOGIN")
        admin.execute(f"GRANT USAGE ON SCHEMA {reader} TO {reader}")
        admin.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {reader} TO {reader}")
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(TOKENS.rpartition("[[token]]")[0])  # this role sees not all
    tokens.chmod(0o600)
    with serving(postgres.url(reader, user=reader), "--tokens", tokens, "--rate", 0) as server:
        for path, body in SEARCHES:
            test_a_search_tells_nothing_of_a_hidden_sheet(path, body, server)
        for name, way in itertools.product(NAMES, WAYS):
            test_a_hidden_sheet_is_named_like_one_that_does_not_exist(name, way, server)


# ---- signing in

NEXT = ("//evil", "/\\evil", "https://evil", "\\\\evil", " //evil", "///evil", "/\t/evil",
        "/\r\nX: y", "javascript:alert(1)", "/\0", "", "evil")  # fmt: skip
OTHERS = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1.evil.example"},
)
COOKIES = ("{0}x", "x{0}", "", "a.b.c.d", "9999999999..e30." + "0" * 64, '"{0}', "{0}." + "0" * 64)
FIELDS = ("&".join(f"f{n}=1" for n in range(9)), "&".join(f"token=t{n}" for n in range(30)),
          "token=%ff&next=%", f"token={'x' * 16_000}", "&" * 9_000)  # fmt: skip


@pytest.mark.parametrize("target", NEXT)
def test_signing_in_leads_to_no_other_site(target, door):
    form = urlencode({"token": SALES, "next": target}).encode()
    assert door.ask("/sign-in", "POST", form, **FORM).headers["location"] == "/"


@pytest.mark.parametrize("other", OTHERS, ids=str)
@pytest.mark.parametrize("path", ["/sign-in", "/sign-out", "/open", "/api/sql", "/mcp", "/answer"])
def test_another_site_posts_nothing(path, other, door):
    assert sent(door, path, b"{}", **other).status == 403


@pytest.mark.parametrize("value", COOKIES)
def test_a_session_that_was_not_made_here_is_none(value, door):
    right = door.ask("/sign-in", "POST", f"token={SALES}".encode(), **FORM)
    name, own = right.headers["set-cookie"].partition(";")[0].split("=", 1)
    assert door.ask("/api/status", Cookie=f"{name}={own}").status == 200
    assert door.ask("/api/status", Cookie=f"{name}={value.format(own)}").status == 401


@pytest.mark.parametrize("form", FIELDS, ids=[x[:20] for x in FIELDS])
def test_an_odd_form_is_a_wrong_token(form, door):
    assert door.ask("/sign-in", "POST", form.encode(), **FORM).status in (401, 429)


# ---- requests by hand

HOST = b"Host: 127.0.0.1\r\n"
RAW = (
    (b"GET / HTTP/1.0\r\n\r\n", b"421"),
    (b"GET / HTTP/1.1\r\n" + HOST + b"Host: evil\r\n\r\n", b"400"),
    *(
        (b"GET / HTTP/1.1\r\nHost: " + host + b"\r\n\r\n", b"421")
        for host in (b"evil", b"127.0.0.1.evil", b"127.0.0.1@evil", b"127.1", b"0x7f.1", b"0",
                     b"127.0.0.1:99999", b"[::ffff:127.0.0.1]", b"127.0.0.1%00", b"")
    ),
    (b"GET http://evil/api/status HTTP/1.1\r\nHost: evil\r\n\r\n", b"421"),
    (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", b"400"),
    (b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: xchunked\r\n\r\n", b"501"),
    (b"GET / HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n", b"400"),
    (b"GET / HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n", b"400"),
    (b"GET /mcp HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
     b"401"),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"421"),
    *(
        (each + b" /api/status HTTP/1.1\r\n" + HOST + b"\r\n", b"401")
        for each in (b"PUT", b"DELETE", b"TRACE", b"OPTIONS", b"PROPFIND", b"get")
    ),
)  # fmt: skip


@pytest.mark.parametrize(("data", "status"), RAW, ids=[str(x[0][:50]) for x in RAW])
def test_a_request_by_hand_gets_past_no_check(data, status, door):
    with socket.create_connection(("127.0.0.1", door.port), timeout=30) as client:
        client.sendall(data)
        found = client.recv(100).split()[1]
    assert found == status or (status == b"501" and found == b"400")


def test_one_client_cannot_take_all_connections(door):
    own = [socket.create_connection(("127.0.0.1", door.port)) for _ in range(CLIENTS_CONNECTIONS)]
    try:
        with socket.create_connection(("127.0.0.1", door.port), timeout=30) as further:
            assert further.recv(1) == b""  # closed at once
        other = http.client.HTTPConnection("127.0.0.1", door.port, 30, ("127.0.0.2", 0))
        other.request("GET", "/health/live")
        assert other.getresponse().status == 200
        other.close()
    finally:
        for each in own:
            each.close()


# ---- JSON and MCP

BODIES = (
    b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000, b'{"text":"a","text":"b"}',
    b'{"text":NaN}', b'{"limit":1e999}', b'{"limit":' + b"9" * 5_000 + b"}",
    b'{"text":"\\ud800"}', b'{"text":"a\\u0000"}', b"[]", b"null", b'"x"', b"", b"{} {}",
    b"\xef\xbb\xbf{}", b'{"text":"\xff"}', b'{"text":5}', b'{"text":[]}', b'{"text":" "}',
    b'{"text":"a","limit":-1}', b'{"text":"a","limit":0}', b'{"text":"a","limit":201}',
    b'{"text":"a","limit":1.5}', b'{"text":"a","__class__":1}', b'{"text":"a","self":1}',
    b'{"text":"a","sheets":[["x"]]}', b'{"text":"a","sheets":{"x":1}}',
    b'{"text":"' + b"x" * 5_000 + b'"}', b'{"text":"a","sheets":["#' + b"#" * 3_000 + b'"]}',
)  # fmt: skip
CALLS = (
    {"method": "resources/read", "params": {"uri": "file:///etc/passwd"}},
    {"method": "resources/list"}, {"method": "prompts/list"}, {"method": "admin/shell"},
    {"method": "logging/setLevel", "params": {"level": "debug"}},
    {"method": "sampling/createMessage", "params": {}}, {"method": "completion/complete"},
    {"method": "tools/call", "params": {"name": "write_file", "arguments": {}}},
    {"method": "tools/call", "params": {"name": "find_sheets", "arguments": []}},
    *(
        {"method": "tools/call", "params": {"name": "read_range", "arguments": {"sheet": name}}}
        for name in ("../x", "/etc/passwd")
    ),
)  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=[str(x[:30]) for x in BODIES])
def test_a_body_that_is_no_request_is_told_so(body, door):
    answer = sent(door, "/api/cells", body)
    assert answer.status in (400, 404, 413, 422), answer.text
    assert len(answer.text) < 6_000 and "sat_retriever" not in answer.text


@pytest.mark.parametrize("call", CALLS, ids=lambda x: str(x)[:60])
def test_an_agent_gets_nothing_beside_the_tools(call, door):
    answer = sent(door, "/mcp", {"jsonrpc": "2.0", "id": 1, **call})
    found = json.loads(answer.text)
    assert "error" in found or found["result"]["isError"], answer.text
    assert "root:" not in answer.text


# ---- the page

HOSTILE = "\"'><script>h()</script><img src=x onerror=h()>javascript:h()\u2028{{7*7}}"
SHOWN = (
    *(("/", {"q": "a", key: HOSTILE}) for key in ("q", "folder", "format", "period", "role", "k")),
    *((path, {"id": HOSTILE}) for path in ("/sheet", "/rows", "/preview", "/graph", "/workbook")),
    *(
        ("/sheet", {"id": "2024/Sales 2024.xlsx#Q1", key: HOSTILE})
        for key in ("cell", "cells", "row", "column", "q")
    ),
    *(
        ("/preview", {"id": "2024/Sales 2024.xlsx#Q1", key: HOSTILE})
        for key in ("range", "cells", "q")
    ),
    ("/nothing-here", {"x": HOSTILE}),
    ("/table.csv", {"id": "2024/Sales 2024.xlsx#Q1", "table": HOSTILE}),
)


@pytest.mark.parametrize(("path", "given"), SHOWN, ids=[f"{x[0]} {[*x[1]]}" for x in SHOWN])
def test_a_page_shows_markup_as_text(path, given, door):
    answer = sent(door, f"{path}?{urlencode(given)}", Accept="text/html")
    assert answer.status in (200, 400, 404)
    assert "<script>h" not in answer.text and "<img src=x" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


# ---- their number

COUNTED = {
    "permissions": len(SEARCHES) + len(NAMES) * len(WAYS) + 12,
    "sign-in": len(NEXT) + len(OTHERS) * 6 + len(COOKIES) + len(FIELDS),
    "requests": len(RAW) + 1,
    "JSON and MCP": len(BODIES) + len(CALLS),
    "page": len(SHOWN),
    "SQL": len(WRONG) + len(ENDLESS) + 2,
    "backups": len(HOSTILE_BACKUPS) + 2,
    "logs": 2,
    "PostgreSQL": IN_POSTGRES + len(SEARCHES) + len(NAMES) * len(WAYS),
    "browser": IN_A_BROWSER,
}


def test_the_threat_model_counts_these_attempts():
    told = (ROOT / "docs" / "about" / "security.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\S[^|]*?) \| (\d+) \| \d+ \|", told, re.MULTILINE))
    assert {name: int(rows[name]) for name in COUNTED} == COUNTED
