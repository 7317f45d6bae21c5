"""What an operator sees of a server: counts of all workers, logs, spans; over real HTTP."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from sat_retriever.records.sheets import SkipReason
from tests.modelserver import Reaction, one_by_one, openai
from tests.serve.conftest import TOKEN, Server, serving
from tests.serve.test_permissions import ALL, SALES, ruled
from tests.serve.test_team import CALL, FORM, JSON, eventually, stopped, workers

__all__ = ["ruled"]  # a fixture

Q1, BOOK = "2024/Sales 2024.xlsx#Q1", "2024/Sales 2024.xlsx"
KNOWN = {"Authorization": f"Bearer {TOKEN}"}
PROXIED = {"X_Forwarded_For": "203.0.113.9"}
POSTED = {"Content_Type": "application/json"}
UPSTREAM = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{UPSTREAM}-b7ad6b7169203331-01"
SQL = "select sum(revenue) from q1"
STAGES = {"parse", "encode", "search", "read", "sql", "ask"}


def samples(server: Server, **headers: str) -> list[Sample]:
    """All counts, read by a parser of the standard that refuses what is not in it."""
    answer = server.ask("/metrics", **headers)
    assert (answer.status, answer.text[-6:]) == (200, "# EOF\n")
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    return [each for one in text_string_to_metric_families(answer.text) for each in one.samples]


def value(found: list[Sample], name: str, **labels: str) -> float:
    (one,) = [x.value for x in found if x.name == name and labels.items() <= x.labels.items()]
    return one


def lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def asked(server: Server) -> None:
    """Ask in every way in which sheets are shown."""
    assert server.get("/api/search", question="rent").status == 200
    assert server.get("/sheet", id=Q1, q="revenue").status == 200
    assert server.get("/rows", id=Q1).status == 200
    assert server.get("/workbook", id=Q1).status == 200
    body = json.dumps({"sheets": [Q1], "sql": SQL}).encode()
    assert "200.5" in server.ask("/api/sql", "POST", body, **POSTED).text
    body = json.dumps({"text": "North"}).encode()
    assert server.ask("/api/cells", "POST", body, **POSTED).status == 200
    assert server.ask("/mcp", "POST", json.dumps(CALL).encode(), **JSON).status == 200
    assert server.get("/api/related", sheet=Q1).status == 200
    assert server.get(f"/no/{BOOK.replace(' ', '%20')}").status == 404


# ---- counts


def test_counts_name_routes_stages_and_codes_and_nothing_that_a_client_or_a_workbook_chose(
    index_file,
):
    with serving(index_file, "--rate", 0, "--open-files", "download") as server:
        asked(server)
        found = samples(server)
        assert value(found, "sat_requests_total", route="/api/search", status="200") == 1
        assert value(found, "sat_requests_total", route="other", status="404") == 1
        assert value(found, "sat_request_seconds_count", route="/api/sql") == 1
        counted = {s: value(found, "sat_stage_seconds_count", stage=s) for s in STAGES}
        # Searches: of the API, before the sheet's page, of MCP.
        assert counted == {"parse": 2, "encode": 3, "search": 3, "read": 2, "sql": 1, "ask": 0}
        assert value(found, "sat_cache_lookups_total", cache="cells", result="hit") == 1
        assert value(found, "sat_cache_lookups_total", cache="cells", result="miss") == 1
        assert value(found, "sat_requests_running") == 1  # the one that reads the counts
        assert value(found, "sat_workers") == value(found, "sat_worker_starts_total") == 1
        status = json.loads(server.ask("/api/status").text)
        assert value(found, "sat_index_sheets") == status["sheets"] == 7
        assert value(found, "sat_index_workbooks") == status["workbooks"]
        codes = {x.labels["code"] for x in found if x.name == "sat_index_skipped"}
        assert codes == set(SkipReason)
        age = index_file.stat().st_mtime - value(found, "sat_index_read_timestamp_seconds")
        assert 0 <= age < 600
        texts = {text for each in found for text in each.labels.values()}
        assert not any("Sales" in text or "rent" in text or "Q1" in text for text in texts), texts


def test_programs_of_this_machine_and_holders_of_a_token_for_all_sheets_read_the_counts(
    private, ruled
):
    assert private.ask("/metrics").status == 200
    assert private.ask("/metrics", "POST", b"").status == 405
    assert private.ask("/metrics", **PROXIED).status == 401
    assert private.ask("/metrics", Authorization="Bearer of-bad-news", **PROXIED).status == 401
    assert samples(private, **KNOWN, **PROXIED)
    with serving(ruled, "--tokens", ruled.with_name("tokens.toml")) as server:
        assert server.ask("/metrics", Authorization=f"Bearer {SALES}", **PROXIED).status == 404
        assert value(samples(server, Authorization=f"Bearer {ALL}", **PROXIED), "sat_index_sheets")


@pytest.mark.slow
def test_no_count_is_lost_with_a_worker_that_is_killed_or_replaced(index_file):
    with serving(index_file, "--workers", 2, "--rate", 0) as server:
        counts = []

        def settled(starts: int) -> list[Sample]:
            def true() -> bool:
                counts[:] = samples(server)
                now = [value(counts, f"sat_worker{x}") for x in ("s", "_starts_total")]
                return now == [2, starts]

            eventually(true)
            return counts

        settled(2)
        for _ in range(20):  # over new connections, which both workers take
            assert server.get("/api/search", question="rent").status == 200
        # A request is counted after its answer was sent; a worker killed before that loses it.
        eventually(lambda: value(samples(server), "sat_stage_seconds_count", stage="search") == 20)
        route = {"route": "/api/search", "status": "200"}
        eventually(lambda: value(samples(server), "sat_requests_total", **route) == 20)
        for again in (signal.SIGKILL, signal.SIGHUP):
            before = workers(server)
            os.kill(before[0] if again == signal.SIGKILL else server.process.pid, again)
            new = 1 if again == signal.SIGKILL else 2
            eventually(
                lambda before=before, new=new: len(set(workers(server)) - set(before)) == new
            )
            found = settled(3 if again == signal.SIGKILL else 5)
            assert value(found, "sat_requests_total", **route) == 20
            assert value(found, "sat_stage_seconds_count", stage="search") == 20
        assert server.get("/api/search", question="rent").status == 200

        def counted() -> bool:  # after the answer was sent, perhaps by the other worker
            found = samples(server)
            searches = value(found, "sat_requests_total", **route)
            return (searches, value(found, "sat_requests_running")) == (21, 1)

        eventually(counted)
        assert stopped(server) == 0


@pytest.mark.slow
def test_a_worker_that_has_only_begun_its_counts_hides_none_of_the_others(index_file):
    with serving(index_file, "--workers", 2) as server:
        folder = psutil.Process(workers(server)[0]).environ()["PROMETHEUS_MULTIPROC_DIR"]
        for kind in ("counter", "histogram", "gauge_livesum"):
            Path(folder, f"{kind}_7.db").touch()
        assert value(samples(server), "sat_workers") == 2


# ---- logs


@pytest.fixture
def logged(index_file, token_file, tmp_path) -> Iterator[tuple[Server, Path, Path]]:
    """A server with both logs, whose requests have the token."""
    audit, access = tmp_path / "audit.jsonl", tmp_path / "access.jsonl"
    options = ("--token-file", token_file, "--rate", 0, "--open-files", "download")
    with serving(index_file, *options, "--audit", audit, "--access-log", access) as server:
        server.headers = KNOWN
        yield server, audit, access


def test_the_audit_log_tells_who_asked_what_and_what_was_shown(logged):
    server, audit, access = logged
    asked(server)
    server.headers = {}
    server.ask("/api/search?question=rent", Authorization="Bearer of-bad-news")
    server.ask("/sign-in", "POST", b"token=not-this-one-at-all", **FORM)
    server.ask("/sign-in", "POST", f"token={TOKEN}".encode(), **FORM)
    server.ask("/static/page.css")
    found = lines(audit)
    assert {audit.stat().st_mode & 0o777, access.stat().st_mode & 0o777} == {0o600}
    by_route = {each["route"]: each for each in found}
    assert [each["route"] for each in found].count("/static/{name}") == 0
    search, sheet = by_route["/mcp"], by_route["/sheet"]
    assert (search["questions"], "evil" in search["found"][0]) == (["rent"], True)
    assert (sheet["questions"], sheet["read"]) == (["revenue"], [Q1])
    assert by_route["/rows"]["read"] == [Q1]
    assert by_route["/workbook"]["workbooks"] == [BOOK]
    sql = by_route["/api/sql"]
    assert (sql["sql"], sql["queries"], sql["read"]) == ([SQL], 1, [Q1])
    assert "2024/Sales 2024.xlsx#Q2" in by_route["/api/cells"]["found"]
    assert "2024/Sales 2024.xlsx#Summary" in by_route["/api/related"]["found"]
    let_in = {(each.get("user"), each.get("id")) for each in found if each["status"] == 200}
    assert len(let_in) == 1
    assert TOKEN not in audit.read_text() + access.read_text()
    ends = [(each["event"], each["route"], each["status"]) for each in found[-3:]]
    assert ends == [
        ("denied", "/api/search", 401),
        ("sign_in_denied", "/sign-in", 401),
        ("sign_in", "/sign-in", 303),
    ]
    assert ["user" in each for each in found[-3:]] == [False, False, True]
    counts = samples(server)
    assert value(counts, "sat_sign_ins_total", result="denied") == 2
    assert value(counts, "sat_sign_ins_total", result="accepted") == 1
    # A line is written after its answer. Two more: the style and the counts.
    eventually(lambda: len(lines(access)) >= len(found) + 2)
    assert len(lines(access)) == len(found) + 2
    for word in ("rent", "Sales", "revenue", "Q1", "North"):
        assert word not in access.read_text(), word


def test_the_audit_log_leaves_out_questions_if_so_wished_and_keeps_the_sheets(index_file, tmp_path):
    audit = tmp_path / "audit.jsonl"
    options = ("--no-audit-questions", "--access-log", "-", "--rate", 0)
    with serving(index_file, "--audit", audit, *options) as server:
        server.get("/api/search", question="rent of the region")
        body = json.dumps({"sheets": [Q1], "sql": SQL}).encode()
        server.ask("/api/sql", "POST", body, **POSTED)
        assert stopped(server) == 0
        said = [json.loads(line) for line in server.process.stderr.read().splitlines()]
    assert [each["route"] for each in said] == ["/api/search", "/api/sql"]
    search, sql = lines(audit)
    assert (len(search["found"]), "questions" in search) == (5, False)
    assert (sql["queries"], sql["read"], "sql" in sql) == (1, [Q1], False)
    assert "region" not in audit.read_text()


def test_an_answer_in_words_is_a_stage_and_its_query_is_in_the_audit_log(index_file, tmp_path):
    audit = tmp_path / "audit.jsonl"
    said = (Reaction(f"```sql\n{SQL}\n```"), Reaction("It is 200.5."))
    with openai(one_by_one(*said)) as model:
        options = ("--llm", "openai:small", "--llm-url", model.v1, "--audit", audit)
        with serving(index_file, *options) as server:
            body = json.dumps({"question": "revenue in Q1", "path": "2024/*"}).encode()
            assert "200.5" in server.ask("/api/ask", "POST", body, **POSTED).text
            found = samples(server)
    (line,) = lines(audit)
    assert (line["questions"], line["sql"]) == (["revenue in Q1"], [SQL])
    assert Q1 in line["found"] and Q1 in line["read"]
    assert value(found, "sat_stage_seconds_count", stage="ask") == 1
    assert value(found, "sat_stage_seconds_count", stage="sql") == 1


def test_groups_are_in_the_audit_log(ruled, tmp_path):
    audit = tmp_path / "audit.jsonl"
    with serving(ruled, "--tokens", ruled.with_name("tokens.toml"), "--audit", audit) as server:
        for token in (SALES, ALL):
            server.ask("/api/search?question=salary", Authorization=f"Bearer {token}")
    sales, owner = lines(audit)
    assert (sales["groups"], owner["groups"]) == (["sales"], None)
    assert (sales["way"], sales["user"]) != (owner["way"], owner["user"])
    assert ("staff.csv#staff" in sales["found"], "staff.csv#staff" in owner["found"]) == (
        False,
        True,
    )


def test_a_log_that_is_renamed_begins_anew_and_sighup_ends_no_server_that_writes_one(logged):
    server, audit, access = logged
    assert server.ask("/api/status").status == 200
    eventually(lambda: lines(access))  # a line is written after its answer
    for each in (audit, access):
        each.rename(each.with_suffix(".1"))
    server.process.send_signal(signal.SIGHUP)
    assert server.ask("/api/status").status == 200
    eventually(lambda: access.exists() and lines(access))
    assert (len(lines(audit)), len(lines(audit.with_suffix(".1")))) == (1, 1)
    assert (len(lines(access)), len(lines(access.with_suffix(".1")))) == (1, 1)
    assert audit.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds another process")
@pytest.mark.parametrize("failing", ["refuse", "continue"])
def test_what_a_full_disk_means_is_the_operators_choice_and_no_line_is_torn(
    index_file, tmp_path, failing
):
    audit = tmp_path / "audit.jsonl"
    options = ("--audit", audit, "--audit-failure", failing, "--rate", 0)
    with serving(index_file, *options) as server:
        assert server.get("/api/search", question="rent").status == 200
        whole = audit.read_bytes()
        free = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        room = (len(whole) + 10, free[1])  # so that a line would fit in part
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, room)
        answer = server.get("/api/search", question="salary")
        assert answer.status == (503 if failing == "refuse" else 200)
        assert ("staff" in answer.text) == (failing == "continue")
        assert audit.read_bytes() == whole
        assert value(samples(server), "sat_log_failures_total", log="audit") == 1
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, free)
        assert server.get("/api/search", question="region").status == 200
        assert [each["questions"] for each in lines(audit)] == [["rent"], ["region"]]
        assert stopped(server) == 0
        said = server.process.stderr.read().decode()
        assert "the audit log does not take lines" in said
        assert "the audit log takes lines again" in said
        assert "salary" not in said


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_log_that_everyone_can_read_or_that_cannot_be_written_stops_the_start(
    index_file, tmp_path, workers
):
    audit = tmp_path / "audit.jsonl"
    audit.touch(mode=0o644)
    audit.chmod(0o644)
    os.mkfifo(tmp_path / "pipe")
    wrong = {
        audit: "chmod 600 audit.jsonl",
        tmp_path / "no" / "a.jsonl": "name a file in a folder",
        tmp_path / "pipe": "pipe",
    }
    for file, message in wrong.items():
        refused = pytest.raises(AssertionError, match=message)
        with refused, serving(index_file, "--audit", file, "--workers", workers):
            pass


# ---- spans

# What an operator's own instruments do at the start of a program, with the real SDK.
SITE = """
import os
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
made = TracerProvider()
out = open(os.environ["SPANS"], "a", buffering=1)
one_line = lambda span: span.to_json(indent=None) + "\\n"
made.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out, formatter=one_line)))
trace.set_tracer_provider(made)
"""


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_spans_are_below_the_span_of_the_client_and_have_no_text_of_it(
    index_file, tmp_path, workers
):
    (tmp_path / "sitecustomize.py").write_text(SITE)
    spans = tmp_path / "spans.jsonl"
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    access = tmp_path / "access.jsonl"
    options = ("--rate", 0, "--workers", workers, "--access-log", access)
    with serving(index_file, *options, PYTHONPATH=path, SPANS=str(spans)) as server:
        server.headers = {"traceparent": PARENT}
        server.get("/api/search", question="rent")
        server.get("/sheet", id=Q1, q="revenue")
        body = json.dumps({"sheets": [Q1], "sql": SQL}).encode()
        server.ask("/api/sql", "POST", body, **POSTED)
        body = json.dumps({"sheets": [Q1], "sql": "select no_such from q1"}).encode()
        server.ask("/api/sql", "POST", body, **POSTED)
        server.ask("/mcp", "POST", json.dumps(CALL).encode(), **JSON)
        server.headers = {}
        server.ask("/api/status")
        stopped(server)  # a span ends after its answer
    found = lines(spans)
    upstream = [each for each in found if each["context"]["trace_id"] == f"0x{UPSTREAM}"]
    assert len(upstream) < len(found)  # a request without the header begins a trace of its own
    ids = {each["context"]["span_id"]: each for each in upstream}
    below = {"/api/search": set(), "/sheet": set(), "/api/sql": set(), "/mcp": set()}
    for each in upstream:
        top = each
        while top["parent_id"] in ids:
            top = ids[top["parent_id"]]
        assert top["parent_id"] == f"0x{PARENT.split('-')[2]}"
        assert top["kind"] == "SpanKind.SERVER"
        below[top["attributes"]["http.route"]].add(each["name"])
    assert below["/api/search"] == {"GET /api/search", "sat.search", "sat.encode"}
    assert below["/sheet"] >= {"sat.search", "sat.encode", "sat.read", "sat.parse"}
    assert below["/api/sql"] >= {"sat.read", "sat.parse", "sat.sql"}
    assert below["/mcp"] >= {"sat.search", "sat.encode"}
    statuses = {each["attributes"].get("http.response.status_code") for each in upstream}
    assert statuses == {200, 422, None}
    told = [[each[x] for x in ("name", "attributes", "status", "events")] for each in found]
    assert not any(word in str(told) for word in ("rent", "Sales", "revenue", "no_such", "Q1"))
    # A line is written after its answer, so one worker's may come after the other's next one.
    assert [each.get("trace") for each in lines(access)].count(UPSTREAM) == 5
