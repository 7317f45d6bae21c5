"""The suite `operate` sees what is lost, shown, or not written down."""

import json

import pytest

from benchmarks.results import read_results
from benchmarks.safety import operate
from benchmarks.safety.operate_events import EVENTS, Operator, plan
from benchmarks.safety.operate_index import in_step
from benchmarks.safety.operate_people import Client, Request
from benchmarks.safety.operate_record import (
    Asked,
    Book,
    Timeline,
    audit_faults,
    audit_lines,
    by_quarter,
)
from benchmarks.safety.operate_scene import (
    Person,
    Rule,
    Scene,
    may_see,
    rules_of,
    shown_although_hidden,
    written,
)
from benchmarks.safety.versions import write_version
from sat_retriever import SheetIndex, SheetRecord, index_paths

IDS = ("a/One.xlsx#Q1", "a/One.xlsx#About", "b/Two.xlsx#Q1", "b/Two.xlsx#Q10")
RULES = (Rule("*", "About", ("board",)), Rule("a/*", "*", ("g0",)), Rule("b/*", "Q1", ("g1",)))


def asked(trace, status=200, person="ada", outcome="expected", shown=()):
    return Asked(trace, person, "search", 0.0, 1.0, status, outcome, "", tuple(shown))


def line(trace, user="ada", status=200, found=()):
    return {"trace": trace, "user": user, "status": status, "found": [*found]}


# ---- the audit log


def test_an_audit_log_with_each_answer_once_has_no_fault():
    sent = [asked("1", shown=["x"]), asked("2", 404), asked("3", 0)]
    told = [line("1", found=["x", "y"]), line("2", status=404), line("3")]
    assert audit_faults(sent, told).total() == 0  # the third lost its connection on its way


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ([], "missing"),
        ([line("1", found="x"), line("1", found="x")], "twice"),
        ([line("1", found="x"), line("9")], "unknown"),
        ([line("1", user="bo", found="x")], "other_person"),
        ([line("1", status=404, found="x")], "other_status"),
        ([line("1", found="y")], "other_sheets"),
    ],
)
def test_each_fault_of_an_audit_log_is_counted(told, fault):
    assert dict(+audit_faults([asked("1", shown="x")], told)) == {fault: 1}


def test_lines_of_all_files_are_read_and_torn_ones_counted(tmp_path):
    one, other = tmp_path / "audit.1.jsonl", tmp_path / "audit.jsonl"
    one.write_text(f"{json.dumps(line('1'))}\n")
    other.write_text(f'{json.dumps(line("2"))}\n{{"trace\n{json.dumps(line("3"))}\n{{')
    entries, torn = audit_lines([one, other])
    assert [each["trace"] for each in entries] == ["1", "2", "3"]
    assert torn == 2


# ---- what is in force


def test_while_something_changes_both_states_count():
    clock = iter([1.0, 2.0, 5.0, 5.0])
    state = Timeline("one", lambda: next(clock))
    with state.changing("two"):
        assert state.during(0, 9) == {"one", "two"}
    state.switch("three")
    assert state.during(0.0, 0.5) == {"one"}
    assert state.during(1.5, 1.6) == {"one", "two"}
    assert state.during(2.5, 4.0) == {"two"}
    assert state.during(2.5, 6.0) == {"two", "three"}
    assert state.now == "three"


# ---- who may see what


def test_rules_mean_what_an_index_makes_of_them(tmp_path):
    rules = rules_of(["a", "b"], 1)
    file = tmp_path / "rules.toml"
    file.write_text(written(rules))
    records = [
        SheetRecord(each, each.partition("#")[2], workbook="x", path=each.partition("#")[0])
        for each in IDS
    ]
    with SheetIndex.create(tmp_path / "a.sat") as index:
        index.add_records(records)
        index.permit(file)
        for groups in ((), ("g0",), ("g1", "board"), ("g2",)):
            seen = index.seen_by(groups).sheet_ids()
            assert sorted(seen) == sorted(x for x in IDS if may_see(groups, x, rules)), groups


@pytest.mark.parametrize(
    ("text", "groups", "shown"),
    [
        ("a/One.xlsx#Q1", ("g0",), []),
        ('<a href="/sheet?id=a%2FOne.xlsx%23About">', ("g0",), ["a/One.xlsx#About"]),
        ('{"path": "b/Two.xlsx"}', ("g0",), ["b/Two.xlsx"]),
        ("b/Two.xlsx#Q1", ("g1",), []),
        ("b/Two.xlsx#Q10", ("g1",), ["b/Two.xlsx#Q10"]),
        ("edited/g0/Book 0001.xlsx", ("g1",), ["edited/g0/"]),
        ("b/Two.xlsx edited/board/", None, []),
    ],
)
def test_hidden_sheets_are_found_in_pages_and_json(text, groups, shown):
    assert shown_although_hidden(text, groups, [RULES], IDS) == shown


def test_what_one_of_the_rules_in_force_shows_may_be_shown():
    both = [RULES, (Rule("*", "*", ("*",)),)]
    assert shown_although_hidden("b/Two.xlsx", ("g0",), both, IDS) == []


# ---- judging a request


@pytest.fixture
def client(tmp_path):
    """A client whose requests are answered by the test."""
    scene = Scene(IDS, (), ("?",), (RULES, RULES), Timeline(RULES))
    book = Book(tmp_path / "requests.jsonl")
    made = Client(0, scene, book)
    made.scene = scene
    yield made
    book.close()


def outcome(client, status, text="", kind="search", sheet="", person=None):
    person = person or Person("ada", ("g0",), "10.0.0.1")
    request = Request(kind, "/x", sheet=sheet)
    return client._judged(person, request, (1e12, 1e12 + 1), status, text)[0]


def test_errors_are_excused_by_what_goes_on_alone(client):
    hits = json.dumps({"sheets": [{"sheet": IDS[0]}]})
    hidden = json.dumps({"sheets": [{"sheet": IDS[2]}]})
    assert outcome(client, 200, hits) == "expected"
    assert outcome(client, 200, hidden) == "shown"
    assert outcome(client, 0) == outcome(client, 503) == outcome(client, 500) == "unexpected"
    assert outcome(client, 404, sheet=IDS[2], kind="sheet") == "hidden"
    assert outcome(client, 404, sheet=IDS[0], kind="sheet") == "unexpected"
    assert outcome(client, 404, f"mean {IDS[1]}?", sheet=IDS[2], kind="sheet") == "shown"
    assert outcome(client, 504, kind="ask") == "unexpected"
    client.scene.model.switch("hangs")
    client.scene.trouble.switch("restart")
    assert outcome(client, 504, kind="ask") == "model"
    assert outcome(client, 0) == outcome(client, 503) == "restart"
    assert outcome(client, 500) == "unexpected"


def test_a_revoked_token_must_be_refused(client):
    gone = Person("bo", ("g1",), "10.0.0.2", lets_in=Timeline(False))
    assert outcome(client, 401, person=gone) == "token_refused"
    assert outcome(client, 200, '{"sheets": []}', person=gone) == "unexpected"
    assert outcome(client, 401) == "unexpected"


# ---- the plan, and the whole


def test_each_kind_of_event_happens_once_in_a_short_run_and_in_each_quarter_of_a_long_one():
    assert sorted(kind for _, kind in plan(3, EVENTS, 1)) == sorted(EVENTS)
    long = plan(30, EVENTS, 1)
    for quarter in range(4):
        kinds = {kind for at, kind in long if quarter * 450 <= at < (quarter + 1) * 450}
        assert kinds == {*EVENTS}
    assert [at for at, _ in long] == sorted(at for at, _ in long)
    assert all(hasattr(Operator, f"_{kind}") for kind in EVENTS)


def test_times_and_memory_belong_to_their_quarters():
    took = [asked(str(n)) for n in range(8)]
    took = [
        Asked(each.trace, "ada", "page", n, n + (0.1 if n < 2 else 0.3), 200, "expected")
        for n, each in enumerate(took)
    ]
    samples = [{"at": float(n), "mib": 10.0 * n} for n in range(8)]
    found = by_quarter(took, samples, start=0, seconds=8)
    assert [each["asked"] for each in found] == [2] * 4
    assert [each["search_p50_ms"] for each in found] == pytest.approx([100, 300, 300, 300])
    assert [each["mib_median"] for each in found] == [5, 25, 45, 65]


def test_an_index_in_step_knows_each_workbook_as_it_is(tmp_path):
    books, file = tmp_path / "books", tmp_path / "a.sat"
    books.mkdir()
    write_version(books / "a.xlsx", "one")
    index_paths(books, file).close()
    assert in_step(file, books)
    write_version(books / "b.xlsx", "one")
    assert not in_step(file, books)


@pytest.mark.slow
def test_a_short_run_ends_with_nothing_lost_shown_or_left(tmp_path):
    results, kinds = tmp_path / "results", ("worker_killed", "token_changed", "edits", "hangup")
    given = ["--corpus", "made", "--minutes", "0.3", "--pause", "0.3", "--events", *kinds]
    operate.main([*given, "--work", str(tmp_path / "work"), "--out", str(results)])
    found = {each["split"]: each["metrics"] for each in read_results("operate", results)}
    assert {*found} == {"all", *(f"quarter_{number}" for number in range(1, 5))}
    whole = found["all"]
    assert whole["events"] == len(kinds)
    assert whole["answered"] > 30
    assert whole["audit_lines"] >= whole["answered"]
    assert whole["same_as_a_fresh_index"]
