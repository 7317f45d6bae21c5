"""`run answers` with a server that says fixed lines: what is asked, kept, judged and written."""

import json

import pytest

from benchmarks.answers import llm
from benchmarks.answers.judged import FAILURES, Expected, failure_of, judged
from benchmarks.answers.systems import Told
from benchmarks.results import read_summaries
from tests.modelserver import Reaction, ollama, one_by_one

ADA = Expected("salary of Ada", (41,), ("staff.csv#staff",), ("staff.csv#staff!B2",))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "files"
    place.mkdir()
    (place / "staff.csv").write_text("Name,Salary\nAda,41\nBo,39\n", encoding="utf-8")
    return place


def test_each_way_is_asked_judged_and_written_and_a_second_run_asks_nothing(
    folder, tmp_path, monkeypatch
):
    monkeypatch.setattr(llm, "corpora", lambda *_: {"eps": (folder, [ADA])})
    monkeypatch.setattr(llm, "commit_now", lambda: "a")
    lines = (
        "SELECT salary FROM staff WHERE name = 'Ada'",
        "Ada earns 41.",
        "It is 39 [staff.csv#staff!B3].",
        "Ada earns 41 [staff.csv#staff!A1:B2].",
    )
    with ollama(one_by_one(*map(Reaction, lines)), models=("small",)) as server:
        told = ["--llm", "small", "--llm-url", server.host, "--work", str(tmp_path)]
        told += ["--out", str(tmp_path / "out"), "--sets", "eps"]
        runs = []
        for _ in range(2):
            llm.main(told)
            assert len(server.chats) == 4
            runs.append(read_summaries("answers", tmp_path / "out"))
    found, again = (
        {each["method"].split("_small")[0]: each["metrics"] for each in run.values()}
        for run in runs
    )
    shares = {way: (m["right"], m["sheets"], m["cells"]) for way, m in found.items()}
    assert shares == {
        "engine": (1.0, 1.0, 1.0), "whole_workbook": (0.0, 1.0, 0.0), "rag_sheets": (1.0, 1.0, 1.0),
    }  # fmt: skip
    assert found["engine"]["median_prompt_tokens"] > found["rag_sheets"]["median_prompt_tokens"]
    assert again == found
    failures = {way: [n for n in FAILURES if m[n]] for way, m in found.items()}
    assert failures == {"engine": [], "whole_workbook": ["read_wrong"], "rag_sheets": []}
    queried = {way: (m["sql_first"], m["sql"]) for way, m in found.items()}
    assert queried == {
        "engine": (1.0, 1.0), "whole_workbook": (None, None), "rag_sheets": (None, None),
    }  # fmt: skip
    cells = [chat["messages"][1]["content"] for chat in server.chats[2:]]
    assert all("staff.csv#staff\n|  | A | B |" in each for each in cells)


def engine(folder, tmp_path, monkeypatch, *lines, commit="a", context=8192):
    """What `run answers` writes of the engine's answers, and the number of its prompts."""
    monkeypatch.setattr(llm, "corpora", lambda *_: {"eps": (folder, [ADA])})
    monkeypatch.setattr(llm, "commit_now", lambda: commit)
    served = {"models": ("small",), "context_length": context}
    with ollama(one_by_one(*lines), **served) as server:
        told = ["--llm", "small", "--llm-url", server.host, "--work", str(tmp_path)]
        llm.main([*told, "--out", str(tmp_path / "out"), "--sets", "eps", "--ways", "engine"])
    (found,) = read_summaries("answers", tmp_path / "out").values()
    return found["metrics"], len(server.chats)


GIVEN = Reaction("SELECT salary FROM staff WHERE name = 'Ada'"), Reaction("Ada earns 41.")


def test_a_failed_answer_counts_as_wrong_and_is_asked_again(folder, tmp_path, monkeypatch):
    # A query that is cut short is one that fails; only an answer in words has to be whole.
    cut = (
        Reaction("SELECT ada", reason="length"),
        Reaction("NO SQL"),
        Reaction("4", reason="length"),
    )
    found, _ = engine(folder, tmp_path, monkeypatch, *cut)
    assert (found["right"], found["failed"]) == (0, 1)
    found, asked = engine(folder, tmp_path, monkeypatch, Reaction("NO SQL"), Reaction("41 [1]"))
    assert (found["right"], found["failed"], asked) == (1, 0, 2)


@pytest.mark.parametrize("changed", ["commit", "nothing committed", "model", "data", "tokens"])
def test_an_answer_is_used_again_only_with_what_gave_it(folder, tmp_path, monkeypatch, changed):
    commit = None if changed == "nothing committed" else "a"
    assert engine(folder, tmp_path, monkeypatch, *GIVEN, commit=commit)[1] == 2
    if changed == "data":
        (folder / "more.csv").write_text("Town\nRome\n", encoding="utf-8")
    if changed == "tokens":
        monkeypatch.setattr(llm, "DATA_TOKENS", 3_000)
    other = {"commit": "b" if changed == "commit" else commit}
    other |= {"context": 4096} if changed == "model" else {}
    assert engine(folder, tmp_path, monkeypatch, *GIVEN, **other)[1] == 2


def test_a_run_goes_on_after_one_that_was_killed_while_it_wrote(folder, tmp_path, monkeypatch):
    assert engine(folder, tmp_path, monkeypatch, *GIVEN)[1] == 2
    assert engine(folder, tmp_path, monkeypatch)[1] == 0
    (kept,) = tmp_path.glob("small*/eps/answers.jsonl")
    kept.write_bytes(kept.read_bytes()[:-9] + b"}")
    assert engine(folder, tmp_path, monkeypatch, *GIVEN)[1] == 2
    assert engine(folder, tmp_path, monkeypatch)[1] == 0


@pytest.mark.parametrize("more", [[], ["--llm", "small", "--llm-url", "http://127.0.0.1:1"]])
def test_without_a_server_it_says_not_run(more, tmp_path):
    with pytest.raises(SystemExit, match="not run: "):
        llm.main([*more, "--work", str(tmp_path)])


@pytest.mark.parametrize(
    ("text", "citations", "found"),
    [
        ("41 and 39", ("staff.csv#staff!A2:B3",), (1, 1, 1)),
        ("41", ("staff.csv#staff!A3:B3,A2",), (0, 1, 0)),
        ("41, 39", ("other.csv#staff!A1:B9",), (1, 0, 0)),
        ("thirty-nine", (), (0, 0, 0)),
    ],
)
def test_values_sheets_and_cells_are_judged_apart(text, citations, found):
    both = Expected("?", (41, 39), ("staff.csv#staff",), ("staff.csv#staff!B2",))
    row = judged(both, Told(text, citations))
    assert (row["right"], row["sheets"], row["cells"]) == found


@pytest.mark.parametrize(
    ("told", "queries", "failure"),
    [
        (Told("39", failed="gone", rows="41"), True, "failed"),
        (Told("39", found=("other.csv#x",)), True, "not_found"),
        (Told("39", found=ADA.sheets), False, "read_wrong"),
        (Told("39", found=ADA.sheets), True, "no_query"),
        (Told("39", found=ADA.sheets, errors=("no row",)), True, "no_rows"),
        (Told("39", found=ADA.sheets, errors=("",), rows="| 40 |"), True, "wrong_rows"),
        (Told("39", found=ADA.sheets, errors=("",), rows="| 41 |"), True, "told_wrong"),
    ],
)
def test_a_wrong_answer_is_in_one_class(told, queries, failure):
    assert failure_of(ADA, told, queries=queries) == failure
    assert judged(ADA, told, queries=queries)["failure"] == failure


def test_the_questions_of_eps_have_places_unless_they_are_about_many_cells():
    asked = llm.eps()
    assert len(asked) == 40
    assert sum(not each.places for each in asked) == 10
    assert json.dumps([each.values for each in asked])
