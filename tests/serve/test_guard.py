"""What is refused: other hosts, other sites, too much, too often, without the token."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import subprocess
import sys

import httpx2
import pytest
from mcp import Client

from sat_retriever import InputError, PathNotFoundError
from sat_retriever.serve import tokens
from sat_retriever.serve.access import Access, SignInWays
from sat_retriever.serve.limits import Counts
from sat_retriever.serve.sessions import Sessions
from sat_retriever.serve.signinpages import HtmlPages
from sat_retriever.serve.tokens import OneToken, Token, hash_of, read_token
from tests.serve.conftest import TOKEN, serving

PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
JSON = {"Content_Type": "application/json", "Accept": "application/json, text/event-stream"}
FORM = {"Content_Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def test_every_answer_has_the_headers_that_keep_a_browser_safe(server, private):
    answers = {
        200: [server.ask("/"), server.ask("/static/page.js"), server.ask("/?q=rent")],
        400: [server.get("/", q="x", role="odd")],
        401: [private.ask("/"), private.ask("/mcp", "POST", PING, **JSON)],
        403: [server.ask("/", Origin="http://evil.example")],
        404: [server.ask("/none")],
        405: [server.ask("/", "POST"), server.ask("/mcp", "GET", Accept="text/event-stream")],
        413: [server.ask("/sign-in", "POST", b"x" * 200_000)],
        414: [server.get("/", q="x" * 17_000)],
        421: [server.ask("/", Host="evil.example")],
    }
    for status, several in answers.items():
        for answer in several:
            assert answer.status == status
            assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
            assert "server" not in answer.headers
    page = private.ask("/", Accept="text/html")
    # A form's request names its own origin only if the policy lets it.
    assert page.headers["referrer-policy"] == "same-origin"


def test_requests_of_another_site_do_not_use_up_those_of_the_user(index_file):
    with serving(index_file, "--rate", 1) as slow:
        for _ in range(20):
            assert slow.ask("/", Sec_Fetch_Site="cross-site").status == 403
        assert slow.ask("/").status == 200


NAVIGATED = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
SITES = [
    ("/?q=rent", {"Sec_Fetch_Site": "same-origin"}, 200),
    ("/?q=rent", {"Sec_Fetch_Site": "none", **NAVIGATED}, 200),
    ("/", {"Sec_Fetch_Site": "cross-site", **NAVIGATED}, 200),
    ("/", {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate",
           "Sec_Fetch_Dest": "iframe"}, 403),
    ("/?q=rent", {"Sec_Fetch_Site": "cross-site", **NAVIGATED}, 403),
    ("/?", {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "no-cors"}, 403),
    ("/", {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "cors"}, 403),
    ("/sheet", {"Sec_Fetch_Site": "same-site", **NAVIGATED}, 403),
    ("/static/page.js", {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"}, 403),
    ("/", {"Sec_Fetch_Site": "odd"}, 403),
    ("/", {"Origin": "null"}, 403),
    ("/", {"Host": "127.0.0.1.evil.example"}, 421),
]  # fmt: skip


@pytest.mark.parametrize(("address", "headers", "status"), SITES, ids=str)
def test_another_site_may_lead_to_the_start_page_and_nowhere_else(server, address, headers, status):
    assert server.ask(address, **headers).status == status


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_reaches_no_tool(server, site):
    assert server.ask("/mcp", "POST", PING, **JSON).status == 200
    assert server.ask("/mcp", "POST", PING, **JSON, Sec_Fetch_Site=site).status == 403


def test_too_many_requests_are_told_when_to_come_again(index_file):
    with serving(index_file, "--rate", 1) as slow:
        answers = [slow.ask("/static/icon.svg") for _ in range(12)]
        assert [answer.status for answer in answers[:4]] == [200] * 4
        late = [answer for answer in answers if answer.status == 429]
        assert late
        assert all(int(answer.headers["retry-after"]) == 1 for answer in late)
        assert slow.ask("/mcp", "POST", PING, **JSON).status in (200, 429)


# ---- the token


def test_a_program_needs_the_whole_token(private):
    for given in ("", "Bearer", "Bearer x", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", TOKEN,
                  f"Basic {TOKEN}", "Bearer \xff"):  # fmt: skip
        headers = {"Authorization": given} if given else {}
        answer = private.ask("/?q=rent", **headers)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert "rent" not in answer.text
    for headers in ({}, {"Authorization": f"Bearer {TOKEN}x"}):
        assert private.ask("/mcp", "POST", PING, **JSON, **headers).status == 401
    for given in (f"Bearer {TOKEN}", f"bearer  {TOKEN} "):
        assert private.ask("/?q=rent", Authorization=given).status == 200
        assert private.ask("/mcp", "POST", PING, **JSON, Authorization=given).status == 200


def test_the_official_client_sends_the_token(private):
    from mcp.client.streamable_http import streamable_http_client

    async def use(headers):
        async with httpx2.AsyncClient(headers=headers) as http:
            transport = streamable_http_client(f"{private.url}/mcp", http_client=http)
            async with Client(transport) as client:
                return await client.call_tool("index_status", {})

    found = asyncio.run(use({"Authorization": f"Bearer {TOKEN}"}))
    assert found.structured_content["sheets"] > 3
    with pytest.raises(BaseException):  # noqa: B017 (a group of the SDK's own errors)
        asyncio.run(use({}))


def test_a_browser_signs_in_once_and_keeps_no_token(private):
    page = private.ask("/?q=rent", Accept="text/html")
    assert page.status == 401
    assert 'name="next" value="/?q=rent"' in page.text
    wrong = private.ask("/sign-in", "POST", b"token=x&next=%2F%3Fq%3Drent", **FORM)
    assert (wrong.status, "That is not the token" in wrong.text) == (401, True)
    assert "set-cookie" not in wrong.headers
    right = private.ask("/sign-in", "POST", f"token={TOKEN}&next=%2F%3Fq%3Drent".encode(), **FORM)
    assert (right.status, right.headers["location"]) == (303, "/?q=rent")
    cookie = right.headers["set-cookie"]
    name = f"sat_session_{private.port}"  # browsers send a host's cookies to all its ports
    value = r"\d{10}\.[\w-]{22}\.[\w-]+\.[0-9a-f]{64}"
    signed = rf"{name}={value}; Path=/; HttpOnly; SameSite=Strict"
    assert re.fullmatch(signed, cookie)
    assert TOKEN not in cookie
    value = cookie.partition(";")[0]
    assert private.ask("/?q=rent", Cookie=value).status == 200
    assert private.ask("/?q=rent", Cookie=f"a=b; {value}").status == 200
    assert private.ask("/mcp", "POST", PING, **JSON, Cookie=value).status == 200
    later = value.replace("=1", "=2", 1)  # a later end
    other_port = value.replace(name, f"sat_session_{private.port + 1}")
    for other in (f"{name}=x", f"{value}x", f"{name}={TOKEN}", name, later, other_port):
        assert private.ask("/?q=rent", Cookie=other).status == 401
    again = private.ask("/sign-in", "POST", f"token={TOKEN}".encode(), **FORM).headers
    assert again["set-cookie"] != cookie


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nX: y", "", "x"]
)
def test_signing_in_leads_to_no_other_server(private, target):
    body = httpx2.QueryParams({"token": TOKEN, "next": target})
    answer = private.ask("/sign-in", "POST", str(body).encode(), **FORM)
    if answer.status == 429:
        pytest.fail("the limit of tries counts this whole module; see its number")
    assert (answer.status, answer.headers["location"]) == (303, "/")


def test_signing_out_clears_the_cookie_and_leads_to_the_page_to_sign_in(private, server):
    right = private.ask("/sign-in", "POST", f"token={TOKEN}".encode(), **FORM)
    value = right.headers["set-cookie"].partition(";")[0]
    page = private.ask("/", Cookie=value)
    assert 'action="/sign-out" method="post"' in page.text
    assert page.headers["referrer-policy"] == "same-origin"  # else the form's origin is null
    assert (
        private.ask("/sign-out", "POST", Cookie=value, Origin="http://evil.example").status == 403
    )
    left = private.ask("/sign-out", "POST", Cookie=value, Origin=private.url)
    assert (left.status, left.headers["location"]) == (303, "/")
    name = value.partition("=")[0]
    cleared = f"{name}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
    assert left.headers["set-cookie"] == cleared
    assert private.ask("/", Cookie=f"{name}=").status == 401
    assert private.ask("/sign-out", Accept="text/html").status == 401  # a link signs nobody out
    assert "/sign-out" not in server.ask("/").text
    assert server.ask("/sign-out", "POST").status == 404


def test_a_session_ends_and_holds_for_all_servers_with_the_same_secret():
    now = [1e9]
    sessions = Sessions(TOKEN, clock=lambda: now[0])
    value = sessions.start({"name": "Zoë"})
    assert sessions.known(value) == {"name": "Zoë"}
    assert Sessions(TOKEN, clock=lambda: now[0]).known(value) == {"name": "Zoë"}
    assert Sessions(f"{TOKEN}x", clock=lambda: now[0]).known(value) is None
    end, chosen, _, signature = value.split(".")
    other = sessions.start({"name": "Ada"}).split(".")[2]
    swapped = ".".join((end, chosen, other, signature))
    for wrong in ("", ".", "..", "x", value[:-1], f"9{value}", "é.é.é", swapped):
        assert sessions.known(wrong) is None
    now[0] += 12 * 3600.0
    assert sessions.known(value) is None


def asked(app: Access, *, path="/", method="GET", body=b"", **headers) -> int:
    """Status of a request to an application."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": body}

    lines = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "path": path, "raw_path": path.encode(), "query_string": b"",
             "method": method, "headers": lines, "client": ("10.0.0.1", 1), "scheme": "http",
             "server": ("10.0.0.9", 8765)}  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"]


async def reached(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 204})


def test_guesses_are_few_and_compared_in_constant_time(monkeypatch):
    compared = []

    def noted(one, other):
        compared.append((one, other))
        return hmac_compare(one, other)

    hmac_compare = hmac.compare_digest
    monkeypatch.setattr(tokens.hmac, "compare_digest", noted)
    known = OneToken(Token.of(TOKEN, "the token", (), owner=False))
    pages = HtmlPages(tokens=True, provider="", proxy=False)
    app = Access(reached, SignInWays(known), Sessions(TOKEN), Counts(), pages)
    assert asked(app, authorization="Bearer wrong") == 401
    assert asked(app, authorization=f"Bearer {TOKEN}") == 204
    guesses = [asked(app, path="/sign-in", method="POST", body=b"token=guess") for _ in range(12)]
    assert guesses == [401] * 9 + [429] * 3  # with the one in a header
    right = f"token={TOKEN}".encode()
    assert asked(app, path="/sign-in", method="POST", body=right) == 303  # wrong ones are counted
    assert {one for one, _ in compared} == {hash_of(x).encode() for x in ("wrong", TOKEN, "guess")}
    assert {other for _, other in compared} == {hash_of(TOKEN).encode()}


def test_a_token_file_holds_a_long_token_that_only_its_owner_reads(tmp_path):
    file = tmp_path / "sat.token"
    with pytest.raises(PathNotFoundError, match="make one"):
        read_token(file)
    with pytest.raises(InputError, match="cannot read"):
        read_token(tmp_path)
    for text in ("", "\n", "short", "x" * 15, "sixteen signs but blanks", "ä" * 20):
        file.write_text(text, encoding="utf-8")
        file.chmod(0o600)
        with pytest.raises(InputError, match="16 characters or more"):
            read_token(file)
    file.write_text(f"  {TOKEN}\n")
    assert read_token(file) == TOKEN
    file.chmod(0o640)
    assert read_token(file) == TOKEN
    file.chmod(0o644)
    with pytest.raises(InputError, match=r"chmod 600 sat\.token"):
        read_token(file)


@pytest.mark.parametrize("command", [["serve"], ["mcp", "--transport", "http"]], ids=str)
def test_off_this_machine_a_token_is_needed(index_file, command):
    line = [sys.executable, "-m", "sat_retriever", *command, "--index", str(index_file)]
    done = subprocess.run(
        [*line, "--host", "0.0.0.0", "--port", "0"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "other machines can reach 0.0.0.0, so a token is needed" in done.stderr
    assert "--token-file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_burst_of_fifty_is_answered(server):
    async def use():
        limits = httpx2.Limits(max_connections=50)
        async with httpx2.AsyncClient(base_url=server.url, limits=limits, timeout=60) as client:
            return await asyncio.gather(
                *(client.get("/", params={"q": f"rent {n}"}) for n in range(50))
            )

    assert {answer.status_code for answer in asyncio.run(use())} == {200}
