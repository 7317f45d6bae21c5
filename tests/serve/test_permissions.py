"""A server of an index with permissions: each token sees what its groups may see."""

from __future__ import annotations

import json
import re
import shutil
from urllib.parse import quote

import pytest

from sat_retriever import SheetIndex, index_paths
from tests.serve.conftest import Server, serving

SALES, HR, ALL = "s" * 20, "h" * 20, "o" * 20
STAFF, Q1, NONE = "staff.csv#staff", "2024/Sales 2024.xlsx#Q1", "stabb.csv#stabb"
TOKENS = f"""
[[token]]
token = "{SALES}"
groups = ["sales"]
[[token]]
token = "{HR}"
groups = ["hr"]
[[token]]
token = "{ALL}"
owner = true
"""


@pytest.fixture(scope="module")
def ruled(index_file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ruled")
    file = folder / "ruled.sat"
    shutil.copy(index_file, file)
    with SheetIndex.open(file) as index:
        index.permit(lambda record: ["hr"] if record.path == "staff.csv" else ["sales"])
    (folder / "tokens.toml").write_text(TOKENS)
    (folder / "tokens.toml").chmod(0o600)
    return file


@pytest.fixture(scope="module", params=[1, 2], ids=["one process", "two processes"])
def server(ruled, request):
    tokens = ruled.with_name("tokens.toml")
    with serving(ruled, "--tokens", tokens, "--rate", 0, "--workers", request.param) as started:
        yield started


def page(server: Server, token: str, path: str, **parameters: str) -> str:
    server.headers = {"Authorization": f"Bearer {token}"}
    try:
        answer = server.get(path, **parameters)
    finally:
        server.headers = {}
    return f"{answer.status} {answer.text}"


def test_each_token_searches_what_its_groups_may_see(server):
    for _ in range(3):  # whatever was kept for one token is asked for by the others
        for token, staff, sales in ((SALES, False, True), (HR, True, False), (ALL, True, True)):
            found = page(server, token, "/", q="name salary revenue region staff")
            assert (STAFF in found or "staff.csv" in found, "Sales 2024" in found) == (staff, sales)
            start = page(server, token, "/")
            assert ("pumps" in start) == sales and (staff or "Salary" not in start)
            for path in ("/sheet", "/rows", "/preview", "/table.csv"):
                assert page(server, token, path, id=STAFF).startswith("200") == staff, path
                assert page(server, token, path, id=Q1).startswith("200") == sales, path


def test_a_hidden_sheet_has_the_page_of_one_that_does_not_exist(server):
    for path in ("/sheet", "/rows", "/preview", "/table.csv", "/workbook", "/graph"):
        hidden = page(server, SALES, path, id=STAFF)
        missing = page(server, SALES, path, id=NONE)
        assert hidden.startswith("404")
        assert hidden.replace("staff", "X") == missing.replace("stabb", "X")


def asked(server: Server, token: str, path: str, body: dict | None = None) -> str:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    answer = server.ask(path, "POST" if body else "GET", json.dumps(body).encode(), **headers)
    return f"{answer.status} {answer.text}"


def test_programs_get_the_sheets_of_their_token(server):
    for _ in range(2):
        for token, staff, sales in ((SALES, False, True), (HR, True, False), (ALL, True, True)):
            words = "name+salary+revenue+region+staff"
            for path in (f"/api/search?question={words}", f"/search.json?q={words}"):
                found = asked(server, token, path)
                assert ("staff.csv" in found, "Sales 2024" in found) == (staff, sales)
            for sheet, seen in ((STAFF, staff), (Q1, sales)):
                for path, body in of_sheet(sheet):
                    assert asked(server, token, path, body).startswith("200") == seen, path


def test_programs_are_told_of_a_hidden_sheet_what_they_are_of_none(server):
    for (path, body), (other, other_body) in zip(of_sheet(STAFF), of_sheet(NONE), strict=True):
        hidden = asked(server, SALES, path, body)
        missing = asked(server, SALES, other, other_body)
        assert hidden.startswith("404"), path
        assert hidden.replace("staff", "X") == missing.replace("stabb", "X")


def of_sheet(sheet: str) -> list[tuple[str, dict | None]]:
    """Requests of everything that names a sheet, with a body or without."""
    name = quote(sheet, safe="")
    return [
        (f"/api/sheets/{name}", None),
        (f"/api/related?sheet={name}", None),
        *((f"/{page}.json?id={name}", None) for page in ("sheet", "rows", "preview", "table")),
        ("/api/table", {"sheet": sheet}),
        ("/api/cells", {"text": "a", "sheets": [sheet]}),
        ("/api/sql", {"sheets": [sheet]}),
    ]


def test_agents_get_the_tools_of_their_token(server):
    head = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    asked = {"name": "find_sheets", "arguments": {"question": "salary revenue"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    for token, staff in ((SALES, False), (HR, True)):
        known = {**head, "Authorization": f"Bearer {token}"}
        said = server.ask("/mcp", "POST", json.dumps(call).encode(), **known)
        assert said.status == 200 and (STAFF in said.text) == staff


def test_a_session_is_of_the_token_that_it_began_with(server):
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": server.url}
    for token, staff in ((SALES, False), (HR, True)):
        right = server.ask("/sign-in", "POST", f"token={token}".encode(), **form)
        assert right.status == 303
        cookie = right.headers["set-cookie"].partition(";")[0]
        assert (server.ask("/?q=salary", Cookie=cookie).text.count("staff.csv") > 0) == staff
    assert server.ask("/?q=salary").status == 401
    assert server.ask("/?q=salary", Authorization=f"Bearer {SALES}x").status == 401
    assert server.ask("/?q=salary", X_Groups="hr", Authorization=f"Bearer {SALES}").text.count(
        "staff.csv"
    ) == 0  # fmt: skip


def test_one_audience_for_all_who_reach_the_server(ruled):
    with serving(ruled, "--as", "sales", "--rate", 0) as server:
        found = server.get("/", q="salary revenue").text
        assert "Sales 2024" in found and "staff.csv" not in found


def test_counts_folders_and_filters_are_those_of_a_token(server):
    start = page(server, HR, "/")
    assert "1 sheet of 1 workbook" in start
    assert "pumps" not in start and "2024" not in re.sub(r"Q1 2024|Workbooks were.*", "", start)
    assert "csv (1)" in start and "xlsx" not in start
    assert "1 sheet<" in page(server, HR, "/", q="salary", k="50")
    assert "pumps/Readings" not in page(server, HR, "/", folder="pumps")
    assert "pumps/Readings" in page(server, SALES, "/", folder="pumps")
    assert "staff.csv" not in page(server, SALES, "/")


def test_what_was_skipped_is_told_to_the_owner_alone(ruled, reports, tmp_path):
    moved = shutil.copytree(reports, tmp_path / "folder")
    (moved / "broken.xlsx").write_bytes(b"PK\3\4 no workbook")
    file = tmp_path / "own.sat"
    with index_paths([moved], file, encoder=reports.parent / "encoder") as index:
        index.permit(lambda record: ["hr"] if record.path == "staff.csv" else ["sales"])
    with serving(file, "--tokens", ruled.with_name("tokens.toml"), "--rate", 0) as server:
        for token, owner in ((SALES, False), (HR, False), (ALL, True)):
            start = page(server, token, "/")
            assert ("could not be read" in start, "broken" in start) == (owner, owner)


def test_more_audiences_than_are_kept_are_answered_one_after_another(index_file, tmp_path):
    groups = [f"g{number}" for number in range(20)]
    file, tokens = tmp_path / "many.sat", tmp_path / "tokens.toml"
    shutil.copy(index_file, file)
    with SheetIndex.open(file) as index:
        index.permit(lambda record: groups[10:] if record.path == "staff.csv" else groups)
    tokens.write_text(
        "".join(f'[[token]]\ntoken = "{each:t>20}"\ngroups = ["{each}", "x"]\n' for each in groups)
    )
    tokens.chmod(0o600)
    with serving(file, "--tokens", tokens, "--rate", 0) as server:
        for _ in range(2):
            for number, each in enumerate(groups):
                found = asked(server, f"{each:t>20}", "/api/search?question=salary+revenue")
                assert found.startswith("200") and ("staff.csv" in found) == (number >= 10)
                head = {"Accept": "application/json", "Authorization": f"Bearer {each:t>20}"}
                call = {"name": "find_sheets", "arguments": {"question": "salary"}}
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
                said = server.ask(
                    "/mcp", "POST", json.dumps(body).encode(), **head,
                    Content_Type="application/json", MCP_Protocol_Version="2025-06-18",
                )  # fmt: skip
                assert said.status == 200 and ("staff.csv" in said.text) == (number >= 10)
        server.process.terminate()
        assert server.process.wait(60) == 0
        assert server.process.stderr.read() == b""
