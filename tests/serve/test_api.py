"""The tools as JSON over HTTP, asked as programs ask: answers, errors, permissions, limits."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from urllib.parse import quote

import pytest
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import validate
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from sat_retriever import SheetTools, index_paths
from tests.modelserver import Reaction, always, one_by_one, openai
from tests.serve.conftest import LONG_ROWS, TOKEN, Server, serving

Q1 = "2024/Sales 2024.xlsx#Q1"
LONG = "pumps/Readings.xlsx#Long"
HOSTILE = "evil/<img src=x onerror=hacked=1> rent.xlsx#<b>rent"
SQL = "SELECT region, revenue FROM q1 ORDER BY revenue"
JSON = {"Content_Type": "application/json"}
PROBLEM = "application/problem+json"
# Each address with a request that it answers.
CALLS = {
    "find_sheets": ("GET", "/api/search?question=revenue+by+region&top_k=2", None),
    "describe_sheet": ("GET", f"/api/sheets/{quote(Q1, safe='')}", None),
    "related_sheets": ("GET", f"/api/related?sheet={quote(Q1)}", None),
    "index_status": ("GET", "/api/status", None),
    "read_range": ("POST", "/api/table", {"sheet": Q1, "range": "A1:C2"}),
    "search_cells": ("POST", "/api/cells", {"text": "North", "sheets": [Q1]}),
    "query_tables": ("POST", "/api/sql", {"sheets": [Q1], "sql": SQL}),
}


def call(server: Server, method: str, path: str, body: object = None, **headers: str):
    """Status and JSON of a request; bytes are sent as they are."""
    if body is not None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = server.ask(path, method, data, **{**JSON, **headers})
    else:
        answer = server.ask(path, method, **headers)
    kind = answer.headers["content-type"]
    assert kind == ("application/json" if answer.status == 200 else PROBLEM), answer
    return answer.status, json.loads(answer.text)


@pytest.mark.parametrize("tool", CALLS)
def test_an_address_gives_the_answer_of_its_tool(server, index_file, tool):
    status, found = call(server, *CALLS[tool])
    assert status == 200
    asked = {
        "find_sheets": {"question": "revenue by region", "top_k": 2},
        "describe_sheet": {"sheet": Q1},
        "related_sheets": {"sheet": Q1},
    }.get(tool, CALLS[tool][2] or {})
    tools = {each.name: each for each in SheetTools(index_file).tools()}
    assert found == json.loads(json.dumps(tools[tool].run(**asked).to_dict()))


def test_a_program_reads_more_at_once_than_a_language_model(server):
    _, found = call(server, "POST", "/api/table", {"sheet": LONG, "range": "A1:B730"})
    assert (len(found["rows"]), found["complete"]) == (LONG_ROWS, True)


# ---- the document


@pytest.fixture(scope="module")
def document(server) -> dict:
    status, found = call(server, "GET", "/api/openapi.json")
    assert status == 200
    return found


def test_the_document_is_openapi(document, private):
    validate(document)
    assert "security" not in document
    _, signed = call(private, "GET", "/api/openapi.json", Authorization=f"Bearer {TOKEN}")
    validate(signed)
    assert signed["security"] == [{"token": []}]


def test_arguments_are_described_once_for_agents_and_programs(document, index_file):
    operations = {
        told["operationId"]: told for path in document["paths"].values() for told in path.values()
    }
    tools = {each.name: each for each in SheetTools(index_file).tools()}
    assert {*operations} == {*tools}  # and no `ask` without a model
    for name, tool in tools.items():
        assert operations[name]["description"] == tool.description
        described = {each["name"]: each["description"] for each in _arguments(document, name)}
        assert described == tool.meanings


def _arguments(document: dict, tool: str) -> list[dict]:
    schema = document["components"]["schemas"].get(f"{tool}_arguments")
    if schema:
        return [{"name": name, **each} for name, each in schema["properties"].items()]
    told = [each for path in document["paths"].values() for each in path.values()]
    return next(each["parameters"] for each in told if each["operationId"] == tool)


@pytest.mark.parametrize("tool", CALLS)
def test_answers_and_requests_have_the_forms_that_the_document_tells(server, document, tool):
    method, path, body = CALLS[tool]
    told = next(
        each
        for paths in document["paths"].values()
        for each in paths.values()
        if each["operationId"] == tool
    )
    _, found = call(server, method, path, body)
    _check(document, told["responses"]["200"]["content"]["application/json"]["schema"], found)
    if body:
        _check(document, told["requestBody"]["content"]["application/json"]["schema"], body)


def test_errors_have_the_form_that_the_document_tells(server, document):
    status, found = call(server, "GET", "/api/search")
    assert status == 422
    _check(document, {"$ref": "#/components/schemas/Problem"}, found)


def _check(document: dict, schema: dict, value: object) -> None:
    registry = Registry().with_resource("urn:api", Resource(document, DRAFT202012))
    OAS31Validator({"$ref": f"urn:api{schema['$ref']}"}, registry=registry).validate(value)


# ---- requests that cannot be answered

TABLE = "/api/table"
REFUSED = [
    # method, path, body, headers, status, a part of its words
    ("GET", "/api/search", None, {}, 422, "question: Field required"),
    ("GET", "/api/search?question=", None, {}, 422, "question is empty"),
    ("GET", "/api/search?question=x&top_k=0", None, {}, 422, "give a number from 1 to 50"),
    ("GET", "/api/search?question=x&top_k=1e9", None, {}, 422, "top_k: Input should be"),
    ("GET", f"/api/search?question=x&top_k={'9' * 5_000}", None, {}, 422, "top_k: "),
    ("GET", "/api/search?question=x&top_k=NaN", None, {}, 422, "top_k: "),
    ("GET", "/api/search?question=x&folder=a", None, {}, 422, "folder: Extra inputs"),
    ("GET", "/api/search?question=x&question=y", None, {}, 400, "'question' is given twice"),
    ("GET", "/api/search?question=%ff", None, {}, 400, "not UTF-8"),
    ("GET", "/api/search?question=%00", None, {}, 422, "characters that are not text"),
    ("GET", f"/api/search?question={'x' * 4_001}", None, {}, 422, "give at most 4,000"),
    ("GET", f"/api/search?question={'x' * 17_000}", None, {}, 414, "longer than 16,384 bytes"),
    ("GET", "/api/search?question=x", None, {"Host": "evil.example"}, 421, "--allow-host"),
    ("GET", "/api/search?question=x", None, {"Origin": "http://evil.example"}, 403, "Origin"),
    ("GET", "/api/search?question=x", None, {"Origin": "null"}, 403, "Origin"),
    ("GET", "/api/search?question=x", None, {"Sec_Fetch_Site": "cross-site"}, 403, "Another site"),
    ("POST", "/api/sql", b"{}", {"Sec_Fetch_Site": "same-site"}, 403, "Another site"),
    ("OPTIONS", "/api/sql", None, {"Origin": "http://evil.example"}, 403, "Origin"),
    ("OPTIONS", "/api/sql", None, {}, 405, "takes POST only"),
    ("GET", "/api/sql", None, {}, 405, "takes POST only"),
    ("POST", "/api/search", b"{}", {}, 405, "takes GET and HEAD only"),
    ("DELETE", "/api/sheets/x", None, {}, 405, "takes GET and HEAD only"),
    ("GET", "/api/none", None, {}, 404, "no page at this address"),
    ("GET", "/api/sheets/", None, {}, 422, "sheet is empty"),
    ("GET", "/api/sheets/Q1%23Q", None, {}, 404, "there is no workbook or sheet 'Q1#Q'"),
    ("GET", "/api/sheets/..%2F..%2Fsecret.csv", None, {}, 404, "there is no workbook or sheet"),
    ("GET", "/api/sheets/%ff%fe", None, {}, 404, "there is no workbook or sheet"),
    ("GET", f"/api/sheets/{quote(Q1, safe='')}?sheet=x", None, {}, 400, "'sheet' is given twice"),
    ("GET", f"/api/sheets/{quote('2024/Sales 2024.xlsx')}", None, {}, 422, "is 3 sheets"),
    ("POST", TABLE, b"", {}, 400, "not JSON: Expecting value"),
    ("POST", TABLE, b"{", {}, 400, "not JSON"),
    ("POST", TABLE, b"[]", {}, 400, "no JSON object"),
    ("POST", TABLE, b'"x"', {}, 400, "no JSON object"),
    ("POST", TABLE, b'{"sheet": "\xff"}', {}, 400, "not UTF-8"),
    ("POST", TABLE, "{}".encode("utf-16"), {}, 400, "not UTF-8"),
    ("POST", TABLE, b"\xef\xbb\xbf{}", {}, 400, "not JSON"),
    ("POST", TABLE, b'{"sheet": "\\ud800"}', {}, 400, "surrogate"),
    ("POST", TABLE, b'{"sheet": "a", "sheet": "b"}', {}, 400, "'sheet' is given twice"),
    ("POST", TABLE, b'{"sheet": NaN}', {}, 400, "NaN is no number"),
    ("POST", TABLE, b'{"sheet": -Infinity}', {}, 400, "-Infinity is no number"),
    ("POST", TABLE, b'{"sheet": 1e999}', {}, 400, "too large"),
    ("POST", TABLE, b'{"sheet": ' + b"9" * 9_000 + b"}", {}, 400, "too large"),
    ("POST", TABLE, b"[" * 500_000, {}, 400, "nested too deeply"),
    ("POST", TABLE, b'{"a":' * 100_000, {}, 400, "nested too deeply"),
    ("POST", TABLE, b" " * ((1 << 20) + 1), {}, 413, "more than 1,048,576 bytes"),
    ("POST", TABLE, b"{}", {}, 422, "sheet: Field required"),
    ("POST", TABLE, {"sheet": None}, {}, 422, "sheet: Input should be a valid string"),
    ("POST", TABLE, {"sheet": [Q1]}, {}, 422, "sheet: Input should be a valid string"),
    ("POST", TABLE, {"sheet": Q1, "formulas": "perhaps"}, {}, 422, "formulas: "),
    ("POST", TABLE, {"sheet": Q1, "range": "1:x"}, {}, 422, "range"),
    ("POST", TABLE, {"sheet": Q1, "self": 1}, {}, 422, "self: Extra inputs"),
    ("POST", TABLE, {"sheet": "../secret.csv"}, {}, 404, "there is no workbook or sheet"),
    ("POST", TABLE, b"{}", {"Content_Type": "text/plain"}, 415, "Content-Type"),
    ("POST", TABLE, b"sheet=x", {"Content_Type": "application/x-www-form-urlencoded"}, 415,
     "Content-Type"),
    ("POST", TABLE, b"{}", {"Content_Type": "application/json; charset=latin-1"}, 415, "UTF-8"),
    ("POST", TABLE, b"{}", {"Content_Type": "application/jsonx"}, 415, "Content-Type"),
    ("POST", TABLE, b"{}", {"Content_Encoding": "gzip"}, 415, "Content-Encoding"),
    ("POST", "/api/sql", {"sheets": []}, {}, 422, "table"),
    ("POST", "/api/sql", {"sheets": [Q1] * 21}, {}, 422, "give at most 20"),
    ("POST", "/api/sql", {"sheets": 5}, {}, 422, "sheets: "),
    ("POST", "/api/sql", {"sheets": [Q1], "sql": "DROP TABLE q1"}, {}, 422, "SELECT"),
    ("POST", "/api/sql", {"sheets": [Q1], "sql": "SELECT * FROM read_csv('/etc/passwd')"}, {}, 422,
     "read_csv"),
    ("POST", "/api/sql", {"sheets": [Q1], "sql": "x" * 20_001}, {}, 422, "20,000"),
    ("POST", "/api/cells", {"text": " "}, {}, 422, "text is empty"),
    ("POST", "/api/cells", {"text": "a", "limit": 1e3}, {}, 422, "from 1 to 200"),
    ("POST", "/api/ask", {"question": "how many?"}, {}, 501, "start it with --llm MODEL"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "headers", "status", "words"), REFUSED)
def test_what_cannot_be_answered_is_told_plainly(
    server, method, path, body, headers, status, words
):
    found = call(server, method, path, body, **headers)
    assert (found[0], found[1]["status"]) == (status, status), found
    assert words in found[1]["detail"], found
    assert len(found[1]["detail"]) < 2_500
    assert str(server.process.args[5]) not in json.dumps(found)  # no folder of this machine


def test_a_head_has_the_headers_alone_and_no_site_may_read_an_answer(server):
    path = "/api/search?question=revenue"
    got, head = server.ask(path), server.ask(path, "HEAD")
    assert (head.status, head.text) == (200, "")
    assert head.headers["content-length"] == str(len(got.text.encode()))
    for answer in (got, head, server.ask("/api/none"), server.ask("/api/sql", "OPTIONS")):
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert server.ask("/api/sql").headers["allow"] == "POST"


def test_texts_of_workbooks_come_as_they_are(server):
    _, found = call(server, "POST", TABLE, {"sheet": HOSTILE})
    assert ["+41 44", "@SUM(1)", "-x", -7] in found["rows"]
    assert found["sheet"] == HOSTILE


def test_numbers_that_json_does_not_have_are_texts(server):
    sql = f"SELECT 'nan'::DOUBLE AS n, '-inf'::DOUBLE AS i, {2**100}::HUGEINT AS h FROM q1 LIMIT 1"
    answer = server.ask("/api/sql", "POST", json.dumps({"sheets": [Q1], "sql": sql}).encode(),
                        Content_Type="application/json")  # fmt: skip
    [row] = json.loads(answer.text, parse_constant=pytest.fail)["rows"]
    assert row == ["nan", "-inf", 2**100]


def test_a_workbook_that_is_gone_is_told(tmp_path, reports):
    folder = tmp_path / "reports"
    folder.mkdir()
    shutil.copy(reports / "staff.csv", folder)
    index_paths([folder], tmp_path / "own.sat", encoder=reports.parent / "encoder").close()
    (folder / "staff.csv").unlink()
    with serving(tmp_path / "own.sat") as server:
        for path, body in ((TABLE, {"sheet": "staff.csv#staff"}),
                           ("/api/sql", {"sheets": ["staff.csv#staff"]})):  # fmt: skip
            status, found = call(server, "POST", path, body)
            assert (status, "is gone; index its folder again" in found["detail"]) == (410, True)
        assert call(server, "GET", "/sheet.json?id=staff.csv%23staff")[0] == 410
        assert str(tmp_path).encode() not in json.dumps(found).encode()


# ---- who asks, and how often


@pytest.mark.parametrize("tool", CALLS)
def test_a_program_needs_the_token(private, tool):
    method, path, body = CALLS[tool]
    for given in ({}, {"Authorization": "Bearer x"}, {"Authorization": f"Basic {TOKEN}"}):
        status, found = call(private, method, path, body, **given)
        assert (status, "Authorization: Bearer" in found["detail"]) == (401, True)
    assert call(private, method, path, body, Authorization=f"Bearer {TOKEN}")[0] == 200


def test_too_many_requests_are_told_when_to_come_again(index_file):
    with serving(index_file, "--rate", 1) as slow:
        answers = [slow.ask("/api/none") for _ in range(12)]
    late = [answer for answer in answers if answer.status == 429]
    assert late
    for answer in late:
        assert answer.headers["content-type"] == PROBLEM
        assert int(answer.headers["retry-after"]) == 1
        assert json.loads(answer.text)["title"] == "Too Many Requests"


# ---- answers in words


def test_a_question_is_answered_in_words_with_its_rows_and_citations(index_file):
    replies = one_by_one(Reaction(f"```sql\n{SQL}\n```"), Reaction("South has the least: 80.5."))
    with openai(replies) as model:
        options = ("--llm", "openai:small", "--llm-url", model.v1)
        with serving(index_file, *options) as server:
            body = {"question": "revenue by region in Q1", "tables": 1, "top_k": 1}
            status, found = call(server, "POST", "/api/ask", body)
            document = call(server, "GET", "/api/openapi.json")[1]
    assert status == 200, found
    assert (found["answer"], found["kind"], found["sql"]) == (
        "South has the least: 80.5.", "sql", SQL,
    )  # fmt: skip
    assert (found["columns"], found["rows"]) == (
        ["region", "revenue"], [["South", 80.5], ["North", 120]],
    )  # fmt: skip
    assert found["citations"] == [f"{Q1}!A2:C3"]
    validate(document)
    told = document["paths"]["/api/ask"]["post"]["responses"]["200"]["content"]
    _check(document, told["application/json"]["schema"], found)


@pytest.mark.parametrize(
    ("reaction", "seconds", "status", "words"),
    [
        (Reaction(status=401, error="wrong key"), 300, 502, "language model cannot be reached"),
        (Reaction(body="not JSON"), 300, 502, "language model cannot be reached"),
        (Reaction("```sql\nSELECT 1\n```", wait_s=2.5), 1, 504, "more than 1 seconds"),
    ],
    ids=["wrong key", "no JSON", "slow"],
)
def test_a_model_that_fails_is_told_without_its_words(index_file, reaction, seconds, status, words):
    with openai(always(reaction)) as model:
        options = ("--llm", "openai:small", "--llm-url", model.v1, "--answer-seconds", seconds)
        with serving(index_file, *options) as server:
            found = call(server, "POST", "/api/ask", {"question": "revenue in Q1"})
    assert (found[0], words in found[1]["detail"]) == (status, True), found
    assert "wrong key" not in found[1]["detail"]


def test_answers_that_wait_for_a_silent_model_hold_up_no_search(index_file):
    with openai(always(Reaction("x", wait_s=600))) as model:
        options = ("--llm", "openai:small", "--llm-url", model.v1, "--proxy", "127.0.0.1")
        with serving(index_file, *options, "--rate", 0) as server, ThreadPoolExecutor(40) as pool:
            body = json.dumps({"question": "revenue in Q1"}).encode()
            asked = [
                pool.submit(
                    server.ask, "/api/ask", "POST", body, X_Forwarded_For=f"10.0.0.{n}", **JSON
                )
                for n in range(40)
            ]
            for refused in islice(as_completed(asked), 24):  # two are asked, and fourteen wait
                assert (refused.result().status, "busy" in refused.result().text) == (503, True)
            for number in range(10):
                assert server.get("/", q=f"revenue {number}").status == 200
                assert server.get("/api/search", question=f"rent {number}").status == 200
            assert sum(each.done() for each in asked) == 24
            server.process.kill()  # which ends the requests that wait
            for each in asked:
                each.exception()


# ---- pages as JSON


def test_each_page_is_also_json(server):
    found = call(server, "GET", "/search.json?q=revenue+by+region&folder=2024")[1]
    assert found["form"]["folder"] == "2024"
    assert found["workbooks"][0]["hits"][0]["citation"].startswith("2024/Sales 2024.xlsx#")
    sheet = quote(Q1, safe="")
    assert call(server, "GET", f"/sheet.json?id={sheet}")[1]["record"]["sheet_id"] == Q1
    for path in ("/rows.json", "/preview.json", "/sheet.json"):
        text = json.dumps(call(server, "GET", f"{path}?id={sheet}")[1])
        assert "North" in text and "80.5" in text
    table = call(server, "GET", f"/table.json?id={sheet}")[1]
    assert table == [
        {"Region": "North", "Month": "January", "Revenue": 120},
        {"Region": "South", "Month": "January", "Revenue": 80.5},
    ]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/search.json?q=x&role=odd", 400, "role"),
        ("/search.json?q=x&k=0", 400, "whole number"),
        ("/sheet.json?id=Q1", 404, "There is no sheet"),
        ("/table.json?id=x", 404, "There is no sheet"),
        ("/none.json", 404, "no page"),
    ],
)
def test_a_page_as_json_tells_its_errors_as_json(server, path, status, words):
    found = call(server, "GET", path)
    assert (found[0], words in found[1]["detail"]) == (status, True)


def test_a_page_as_json_names_no_folder_of_this_machine(server, reports):
    for page in ("/search.json?q=revenue+rent+reading&k=50", f"/sheet.json?id={quote(HOSTILE)}"):
        assert str(reports.parent) not in server.ask(page).text
