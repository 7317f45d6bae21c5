"""`sat bench`: the main table for a user's own workbooks, and the report behind it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from sat_retriever.encoder.folder import read_model_folder, write_model_folder
from sat_retriever.evaluation.run import read_run
from sat_retriever.index import SheetIndex
from tests.cli.conftest import command
from tests.evaluation.ollama_server import MODEL, Reaction, always, ollama
from tests.graphrank.small_model import save_small_model, small_spec

Q1, PLAN, STAFF = "sales/2024.xlsx#Q1", "sales/2024.xlsx#Plan #1", "staff.csv#staff"
TRIPLES = f"""query,sheet_id,relevance
revenue by region and month,{Q1},2
revenue by region and month,{PLAN},0
who earns which salary,{STAFF},1
rate of a currency,sales/2024.xlsx#Rates,1
"""
ROWS = ["BM25", "RAG (bag)", "fused", "+ link reranker"]
FILES = ["report.html", "results.json", "runs"]


@pytest.fixture
def labels(tmp_path):
    path = tmp_path / "triples.csv"
    path.write_text(TRIPLES, encoding="utf-8")
    return path


@pytest.fixture
def bench(sat, index_file, labels):
    def run(*options, index=index_file):
        return sat("bench", "--index", index, "--queries", labels, *options)

    return run


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OLLAMA_HOST"):
        monkeypatch.delenv(name, raising=False)


def table(out: str) -> dict[str, list[str]]:
    """Cells of the printed table by method."""
    lines = out.splitlines()
    names = (*ROWS, "Stage 2", "Stage 1", "RAG+LLM")
    found = {}
    for line in lines:
        if line.startswith(names):
            name, _, cells = line.partition("  ")
            found[name] = cells.split()
    return found


def test_the_table_has_a_row_a_method_and_a_column_a_measure(bench):
    run = bench()
    assert run.code == 0, run.err
    assert run.out.splitlines()[0] == "3 questions of triples.csv, 6 sheets in all.sat"
    head = "NDCG@5 R@5 Hit@5 MRR@5 HN-FPR@1 R@50 p50 ms p95 ms Δ NDCG@5"
    assert head.split() == run.out.splitlines()[2].split()[1:]
    shown = table(run.out)
    assert list(shown) == ROWS
    assert shown["BM25"][:6] == ["1.000", "1.000", "1.000", "1.000", ".000", "1.000"]
    assert shown["BM25"][8:] == ["–"]  # nothing is above it
    assert shown["fused"][8].startswith(("+", "-"))
    said = " ".join(run.out.split())
    assert "NDCG@5 minus that of the row above, with its 95 % interval" in said
    assert "over 3 calls" in said
    assert "Only 3 questions are labelled" in said
    assert "--out DIR" in said


def test_without_labels_that_rule_sheets_out_there_is_no_rate_of_them(bench, labels):
    labels.write_text(TRIPLES.replace(f"revenue by region and month,{PLAN},0\n", ""))
    assert table(bench().out)["BM25"][4] == "–"


def test_json_output_is_one_object_without_the_questions(bench):
    report = json.loads(bench("--json").out)
    assert (report["format"], report["questions"], report["out"]) == (1, 3, None)
    assert [method["name"] for method in report["methods"]] == ROWS
    assert report["methods"][0]["metrics"]["Hit@5"] == 1.0
    assert report["methods"][0]["ndcg_difference_to_row_above"] is None
    assert report["methods"][1]["latency_ms"]["joint"]["p95"] > 0
    assert "queries" not in report


def test_a_folder_gets_the_report_the_numbers_and_the_runs(bench, tmp_path):
    out = tmp_path / "new"
    run = bench("--out", out)
    assert run.code == 0, run.err
    assert str(out / "report.html") in run.out.replace("\n", "")
    assert sorted(each.name for each in out.iterdir()) == FILES
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "who earns which salary" in page
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert results["labels"] == "triples.csv"
    assert [query["text"] for query in results["queries"]][1] == "who earns which salary"
    for method in results["methods"]:
        about, rankings = read_run(out / method["run"])
        assert about["method"] == method["name"]
        assert [row["query"] for row in method["per_query"]] == list(rankings)
        for row in method["per_query"]:
            assert row["sheets"] == [each.sheet_id for each in rankings[row["query"]][:5]]
    assert not list(out.rglob("*.partial"))


def test_a_report_is_replaced_only_when_told_so(bench, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "report.html").write_text("mine")
    (out / "notes.txt").write_text("mine too")
    run = bench("--out", out)
    assert (run.code, (out / "report.html").read_text()) == (2, "mine")
    assert "--force" in run.err
    assert bench("--out", out, "--force").code == 0
    assert (out / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (out / "notes.txt").read_text() == "mine too"


WRONG = [
    (("--out", "triples.csv"), "is a file; name a folder"),
    (("--out", "no/such"), "does not exist"),
    (("--reranker", "no-folder"), "there is no folder no-folder"),
    (("--reranker", "."), "holds no trained reranker"),
    (("--llm", MODEL), "--llm needs a folder"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[" ".join(a) for a, _ in WRONG])
def test_wrong_usage_says_what_to_do(bench, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    run = bench(*options)
    assert (run.code, run.out) == (2, "")
    assert message in run.err


def test_sheets_that_the_index_does_not_have_are_named(bench, labels, tmp_path):
    labels.write_text(TRIPLES.replace(STAFF, "staff.csv#staf"))
    run = bench("--out", tmp_path / "out")
    said = " ".join(run.err.split())
    assert run.code == 2
    assert "'staff.csv#staf'" in said
    assert "sat queries --queries" in said
    assert not (tmp_path / "out").exists()


def test_an_index_without_sheets_is_refused(bench, sat, encoder, tmp_path):
    (tmp_path / "blank.csv").write_bytes(b"")
    empty = tmp_path / "empty.sat"
    sat("index", tmp_path / "blank.csv", "--index", empty, "--model", encoder)
    run = bench(index=empty)
    assert run.code == 2
    assert "holds no sheets" in run.err


def test_a_trained_reranker_is_a_row_of_its_own_and_two_of_one_name_are_two(
    bench, index_file, tmp_path
):
    for run_folder in (tmp_path / "a" / "mine", tmp_path / "b" / "mine"):
        run_folder.mkdir(parents=True)
        with SheetIndex.open(index_file) as index:
            save_small_model(run_folder / "reranker", small_spec(index))
    run = bench("--reranker", tmp_path / "a" / "mine", "--reranker", tmp_path / "b" / "mine")
    assert run.code == 0, run.err
    shown = table(run.out)
    assert list(shown) == [*ROWS, "Stage 2 (mine)", "Stage 2 (mine) 2"]
    assert shown["Stage 2 (mine)"][:6] == shown["Stage 2 (mine) 2"][:6]
    assert shown["Stage 2 (mine) 2"][8:] == ["+.000", "[+.000,", "+.000]"]


def test_tokens_of_a_trained_encoder_are_called_stage_1(bench, sat, encoder, workbooks, tmp_path):
    source = read_model_folder(encoder)
    trained = tmp_path / "learned" / "encoder"
    trained.parent.mkdir()
    write_model_folder(
        trained,
        source.spec,
        source.tokenizer,
        lambda target: target.write_bytes(source.model.read_bytes()),
        dense_weight=0.5,
    )
    index = tmp_path / "own.sat"
    sat("index", workbooks, "--index", index, "--model", trained)
    assert list(table(bench(index=index).out))[1] == "Stage 1 (learned)"


# ---- a language model


def first_five(request, number):
    names = request["format"]["items"]["enum"]
    return Reaction(content=json.dumps(names[:5]))


def test_a_language_model_is_one_more_row_and_is_asked_once(bench, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with ollama(first_five) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        run = bench("--llm", MODEL, "--out", out)
        assert run.code == 0, run.err
        assert len(server.chats) == 3
        assert bench("--llm", MODEL, "--out", out, "--force").code == 0
        assert len(server.chats) == 3
    shown = table(run.out)
    row = shown[f"RAG+LLM ({MODEL})"]
    assert row[:6] == shown["RAG (bag)"][:6]  # it took the first five as they were
    assert "3 answers" in run.out
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert (results["llm"]["questions"], results["llm"]["failed"]) == (3, 0)
    assert results["methods"][-1]["latency_ms"]["calls"] == 3


def test_without_a_server_the_model_is_not_waited_for(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    run = bench("--llm", MODEL, "--out", tmp_path / "out")
    assert run.code == 1
    assert "ollama serve" in run.err
    assert not (tmp_path / "out").exists()


def test_an_interrupt_leaves_no_half_report_and_the_answers_are_kept(
    bench, labels, index_file, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    words = ("bench", "-i", index_file, "--queries", labels, "--llm", MODEL, "--out", out)

    def slow_from_the_second_on(request, number):
        reaction = first_five(request, number)
        return Reaction(content=reaction.content, wait_s=60 if number else 0)

    with ollama(slow_from_the_second_on) as server:
        process = subprocess.Popen(
            command(*words),
            env={**os.environ, "OLLAMA_HOST": server.host},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(600):
            if len(server.chats) == 2 or process.poll() is not None:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out_text, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in out_text + err
    assert [each.name for each in out.iterdir()] == ["answers.jsonl"]
    with ollama(first_five) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        assert bench("--llm", MODEL, "--out", out).code == 0
        assert len(server.chats) == 2  # the first answer was kept
    assert sorted(each.name for each in out.iterdir()) == ["answers.jsonl", *FILES]


def test_an_answer_that_never_comes_is_told(bench, tmp_path, monkeypatch):
    with ollama(always(Reaction(content="no list"))) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        run = bench("--llm", MODEL, "--out", tmp_path / "out")
    assert run.code == 0
    assert "3 failed" in " ".join(run.out.split())


def test_a_pipe_gets_no_progress_bar_and_no_colours(bench):
    run = bench()
    assert "\x1b" not in run.out + run.err
    assert run.err == ""


def test_the_report_names_no_folder_of_this_machine(bench, tmp_path, index_file, encoder):
    bench("--out", tmp_path / "out")
    for name in ("report.html", "results.json"):
        text = Path(tmp_path / "out" / name).read_text(encoding="utf-8")
        assert str(index_file.parent) not in text
        assert str(tmp_path) not in text
        assert str(encoder.parent) not in text
