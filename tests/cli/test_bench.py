"""`sat bench`: the main table for a user's own workbooks, and the report behind it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import time

import pytest

from sat_retriever import SheetIndex
from sat_retriever.datasets.metrics.rows import read_run
from sat_retriever.encoder.folder import read_model_folder, write_model_folder
from tests.cli.conftest import command
from tests.modelserver import MODEL, Reaction, always, ollama, openai
from tests.rank.graph.small_model import save_small_model, small_spec

Q1, PLAN, STAFF = "sales/2024.xlsx#Q1", "sales/2024.xlsx#Plan #1", "staff.csv#staff"
TRIPLES = f"""query,sheet_id,relevance
revenue by region and month,{Q1},2
revenue by region and month,{PLAN},0
who earns which salary,{STAFF},1
rate of a currency,sales/2024.xlsx#Rates,1
"""
ROWS = ["BM25", "RAG (bag)", "fused", "+ times", "+ link reranker"]
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


def table(out: str) -> dict[str, list[str]]:
    """Cells of the printed table by method."""
    _, rows, *_ = out.split("\n\n")  # what it is, the table, notes
    lines = rows.splitlines()
    names = (*ROWS, "Stage 2", "Stage 1", "RAG+LLM", "LLM-only")
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
    assert (run.err, "\x1b" in run.out) == ("", False)  # no progress bar and no colours in a pipe
    assert "Only 3 questions are labelled" in said
    assert "--out DIR" in said


def test_without_labels_that_rule_sheets_out_there_is_no_rate_of_them(bench, labels):
    labels.write_text(TRIPLES.replace(f"revenue by region and month,{PLAN},0\n", ""))
    assert table(bench().out)["BM25"][4] == "–"


def test_json_output_is_one_object_without_the_questions(bench):
    report = json.loads(bench("--json").out)
    assert (report["format"], report["questions"], report["out"]) == (2, 3, None)
    assert [method["name"] for method in report["methods"]] == ROWS
    assert report["methods"][0]["metrics"]["Hit@5"] == 1.0
    assert report["methods"][0]["ndcg_difference"] is None
    assert report["methods"][1]["ndcg_difference"]["to"] == "BM25"
    assert (report["against"], report["merged_questions"]) == (None, 0)
    assert report["methods"][1]["latency_ms"]["joint"]["p95"] > 0
    assert "queries" not in report
    assert (report["types"], report["hard_negatives"]) == ([], "ruled out by the labels")


def test_a_row_below_the_one_that_is_named_shows_it(bench, tmp_path):
    run = bench("--against", "BM25", "--out", tmp_path / "out")
    assert run.code == 0, run.err
    shown = table(run.out)
    assert shown["BM25"][8:] == ["–"]
    behind = shown["RAG (bag)"][8]
    assert behind.startswith(("+", "-"))
    assert "NDCG@5 minus that of BM25, with its 95 % interval" in " ".join(run.out.split())
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert '"against":"BM25"' in page.replace(": ", ":")
    report = json.loads(bench("--against", "fused", "--json").out)
    assert report["against"] == "fused"
    others = [method["ndcg_difference"] for method in report["methods"]]
    assert [each and each["to"] for each in others] == [
        None if name == "fused" else "fused" for name in ROWS
    ]


def test_questions_of_one_text_that_were_merged_are_told(sat, index_file, tmp_path):
    labels = tmp_path / "labels.jsonl"
    rows = [("who earns which salary", STAFF), ("revenue", Q1), (" revenue", PLAN)]
    lines = (json.dumps({"query": text, "positives": [sheet]}) for text, sheet in rows)
    labels.write_text("\n".join(lines), encoding="utf-8")
    words = ("bench", "-i", index_file, "--queries", labels)
    run = sat(*words, "--out", tmp_path / "out")
    said = " ".join(run.out.split())
    assert said.startswith("2 questions of labels.jsonl")
    assert "Merged: 1 question with more than one entry in labels.jsonl" in said
    assert "all of them: “revenue”." in said
    assert "Merged: 1 question" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert json.loads(sat(*words, "--json").out)["merged_questions"] == 1


def test_a_folder_gets_the_report_the_numbers_and_the_runs(bench, tmp_path, index_file, encoder):
    out = tmp_path / "new"
    run = bench("--out", out)
    assert run.code == 0, run.err
    assert str(out / "report.html") in run.out.replace("\n", "")
    assert sorted(each.name for each in out.iterdir()) == FILES
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "who earns which salary" in page
    told = page + (out / "results.json").read_text(encoding="utf-8")
    assert not [each for each in (index_file, tmp_path / "x", encoder) if str(each.parent) in told]
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


def test_sheets_that_the_index_does_not_have_are_named(bench, labels, tmp_path):
    labels.write_text(TRIPLES.replace(STAFF, "staff.csv#staf"))
    run = bench("--out", tmp_path / "out")
    said = " ".join(run.err.split())
    assert run.code == 2
    assert "'staff.csv#staf'" in said
    assert "sat queries --queries" in said
    assert not (tmp_path / "out").exists()


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
    form = request.get("format") or request["response_format"]["json_schema"]["schema"]
    names = form["items"]["enum"]
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
    said = " ".join(run.out.split())
    assert "3 of 3 questions answered" in said
    assert not [word for word in ("filled up", "failed", "kept ones", "made for") if word in said]
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    counts = results["llm"][f"RAG+LLM ({MODEL})"]
    assert (counts["questions"], counts["failed"]) == (3, 0)
    assert counts["digests"] == [f"sha of {MODEL}"]
    assert results["methods"][-1]["latency_ms"]["calls"] == 3


def test_a_model_of_a_server_of_the_openai_form_is_a_row_as_well(bench, tmp_path):
    with openai(first_five) as server:
        run = bench(
            "--llm", "openai:small", "--llm-url", server.host, "--num-ctx", 9000, "--out",
            tmp_path / "out",
        )  # fmt: skip
    assert run.code == 0, run.err
    shown = table(run.out)
    [row] = [cells for name, cells in shown.items() if name.startswith("RAG+LLM")]
    assert row[:6] == shown["RAG (bag)"][:6]
    assert len(server.chats) == 3


def test_without_a_server_the_model_has_no_row_and_the_reason_is_told(bench, tmp_path, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    run = bench("--llm", MODEL, "--out", tmp_path / "out")
    assert run.code == 1
    assert list(table(run.out)) == ROWS
    said = " ".join(run.out.split())
    assert f"Left out: RAG+LLM ({MODEL}), as no Ollama server answers at http://127.0.0.1:9" in said
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == FILES


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


NEVER = Reaction(status=500, error="out of memory")


def test_a_model_that_never_answers_has_no_row_and_the_reason_is_told(bench, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with ollama(always(NEVER)) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        run = bench("--llm", MODEL, "--out", out)
        as_json = bench("--llm", MODEL, "--out", out, "--force", "--json")
    assert run.code == as_json.code == 1
    assert list(table(run.out)) == ROWS
    said = " ".join(run.out.split())
    assert f"Left out: RAG+LLM ({MODEL}), as not one of 3 questions was answered" in said
    assert "out of memory" in said
    assert "Left out" in (out / "report.html").read_text(encoding="utf-8")
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert [method["name"] for method in results["methods"]] == ROWS
    assert "out of memory" in results["left_out"][f"RAG+LLM ({MODEL})"]
    assert list(json.loads(as_json.out)["left_out"]) == list(results["left_out"])
    assert f"left out: RAG+LLM ({MODEL})" in as_json.err


def test_failed_and_short_answers_are_told_and_failed_ones_are_not_timed(
    bench, tmp_path, monkeypatch
):
    def second_fails_third_is_short(request, number):
        names = request["format"]["items"]["enum"]
        if 1 <= number <= 3:  # three tries
            return NEVER
        return Reaction(content=json.dumps(names[: 5 if number == 0 else 2]))

    with ollama(second_fails_third_is_short) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        run = bench("--llm", MODEL, "--out", tmp_path / "out")
    assert run.code == 0, run.err
    said = " ".join(run.out.split())
    assert "2 of 3 questions answered" in said
    assert "1 named too few sheets" in said
    assert "1 failed, and count as the order of the candidates; most often: " in said
    assert "out of memory" in said
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert results["methods"][-1]["latency_ms"]["calls"] == 2


def test_a_server_that_goes_away_late_takes_no_other_row_and_the_run_goes_on_later(
    bench, tmp_path, monkeypatch
):
    out = tmp_path / "out"

    def gone_from_the_third_on(request, number):
        gone = Reaction(status=404, error=f"model '{MODEL}' not found")
        return gone if number >= 2 else first_five(request, number)

    with ollama(gone_from_the_third_on) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        run = bench("--llm", MODEL, "--out", out)
    assert run.code == 1
    assert list(table(run.out)) == ROWS
    said = " ".join(run.out.split())
    assert "ollama pull" in said
    assert "2 answers so far, kept in answers.jsonl: run it again with --force" in said
    assert sorted(each.name for each in out.iterdir()) == ["answers.jsonl", *FILES]
    with ollama(first_five) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        assert bench("--llm", MODEL, "--out", out, "--force").code == 0
        assert len(server.chats) == 1
    run = bench("--llm", MODEL, "--out", out, "--force")  # all are kept: no server is needed
    assert run.code == 0, run.err
    assert "all answers are kept ones" in " ".join(run.out.split())
    assert f"RAG+LLM ({MODEL})" in table(run.out)


def test_the_model_may_also_read_the_names_of_all_sheets(bench, tmp_path, monkeypatch):
    out = tmp_path / "out"
    with ollama(first_five, context_length=4096) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        run = bench("--llm", MODEL, "--llm-only", "--out", out)
        assert {chat["options"]["num_ctx"] for chat in server.chats} == {4096}
    assert run.code == 0, run.err
    assert list(table(run.out)) == [*ROWS, f"LLM-only ({MODEL})", f"RAG+LLM ({MODEL})"]
    said = " ".join(run.out.split())
    assert "asked with a context of 4,096 tokens, the most that it or its server has" in said
    assert sorted(each.name for each in out.glob("*.jsonl")) == [
        "answers-llm-only.jsonl", "answers.jsonl",
    ]  # fmt: skip


def test_what_does_not_fit_the_context_is_not_asked_and_that_is_told(bench, tmp_path, monkeypatch):
    with ollama(first_five) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        options = ("--llm", MODEL, "--llm-only", "--num-ctx", "150", "--out", tmp_path / "out")
        run = bench(*options)
        assert server.chats == []
    assert run.code == 1
    assert list(table(run.out)) == ROWS
    said = " ".join(run.out.split())
    assert f"Left out: LLM-only ({MODEL}), as the prompt has" in said
    assert "does not fit a context of 150" in said
    assert "--num-ctx" in said


def test_the_digest_is_of_the_labels_that_were_read(bench, labels, tmp_path, monkeypatch):
    read = hashlib.sha256(labels.read_bytes()).hexdigest()

    def edits_the_labels(request, number):
        labels.write_text("other", encoding="utf-8")
        return first_five(request, number)

    with ollama(edits_the_labels) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.host)
        assert bench("--llm", MODEL, "--out", tmp_path / "out").code == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert results["labels_sha256"] == read


# ---- files


def test_the_table_is_there_even_if_nothing_can_be_written_and_no_folder_is_left(
    labels, index_file, tmp_path
):
    more = "".join(f"revenue of region {number},{Q1},1\n" for number in range(60))
    resource = pytest.importorskip("resource", reason="Windows has no limits on resources")
    labels.write_text(TRIPLES + more, encoding="utf-8")  # for a longer report
    out = tmp_path / "out"
    words = ("bench", "-i", index_file, "--queries", labels, "--out", out)

    def small_files_only():  # as on a full disk: the index can be read, the report not written
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    done = subprocess.run(
        command(*words),
        capture_output=True,
        encoding="utf-8",
        preexec_fn=small_files_only,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert list(table(done.stdout)) == ROWS
    assert "report.html cannot be written" in done.stderr
    assert not out.exists()


def test_rerankers_of_like_names_have_runs_of_their_own_and_those_of_before_are_removed(
    bench, index_file, tmp_path
):
    folders = [tmp_path / "run 7", tmp_path / "run-7"]
    for folder in folders:
        with SheetIndex.open(index_file) as index:
            save_small_model(folder / "reranker", small_spec(index))
    out = tmp_path / "out"
    assert bench("--reranker", folders[0], "--reranker", folders[1], "--out", out).code == 0

    def runs():
        named = [
            method["run"] for method in json.loads((out / "results.json").read_text())["methods"]
        ]
        return named, sorted(each.relative_to(out).as_posix() for each in (out / "runs").iterdir())

    named, there = runs()
    assert len(set(named)) == 7
    assert sorted(named) == there
    assert [read_run(out / each)[0]["method"] for each in named[5:]] == [
        "Stage 2 (run 7)", "Stage 2 (run-7)",
    ]  # fmt: skip
    (out / "runs" / "mine.jsonl").write_text("mine")
    assert bench("--out", out, "--force").code == 0
    named, there = runs()
    assert there == sorted([*named, "runs/mine.jsonl"])


def test_results_that_name_other_files_as_runs_have_none_removed(bench, tmp_path):
    out = tmp_path / "out"
    (out / "runs" / "deep").mkdir(parents=True)
    others = ["notes.jsonl", "runs/deep/a.jsonl", "runs/a.txt"]
    for each in (*others, "../outside.jsonl"):
        (out / each).write_text("mine")
    named = [*others, "runs/../notes.jsonl", "../outside.jsonl", str(out / "notes.jsonl"), "runs"]
    text = json.dumps({"methods": [{"run": each} for each in named]})
    (out / "results.json").write_text(text)
    assert bench("--out", out, "--force").code == 0
    assert all((out / each).read_text() == "mine" for each in (*others, "../outside.jsonl"))


def test_a_question_that_nothing_answers_counts_for_the_message_alone(bench, labels, tmp_path):
    alone = json.loads(bench("--json").out)
    labels.write_text(f"{TRIPLES}ships of Mars,,0\nrevenue by region,,0\n", encoding="utf-8")
    found = json.loads(bench("--json").out)
    assert (alone["unanswerable_questions"], found["unanswerable_questions"]) == (0, 2)
    assert found["questions"] == alone["questions"] == 3
    for one, other in zip(found["methods"], alone["methods"], strict=True):
        assert one["metrics"] == other["metrics"]
    right = {"found": 3, "found_said": 0}
    assert alone["nothing_there"] == {"unanswerable": 0, "unanswerable_said": 0, **right}
    assert found["nothing_there"] == {"unanswerable": 2, "unanswerable_said": 1, **right}
    said = " ".join(bench("--out", tmp_path / "out").out.split())
    assert "Left out: 2 questions of triples.csv without an answer" in said
    told = "for 1 of 2 questions without an answer, and wrongly for 0 of 3 right answers."
    assert f"The message that no sheet answers was shown {told}" in said
    assert told in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert results["nothing_there"] == found["nothing_there"]


def test_the_message_over_right_answers_is_told_without_questions_that_nothing_answers(
    bench, labels
):
    assert "The message that no sheet answers" not in bench().out
    labels.write_text(f"{TRIPLES}ships of Mars,{Q1},1\n", encoding="utf-8")
    said = " ".join(bench().out.split())
    assert "The message that no sheet answers was shown wrongly for 1 of 4 right answers." in said
