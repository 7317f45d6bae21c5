import json

import pytest

from sat_retriever.datasets.labels import load_labels
from tests.modelserver import Reaction, always, openai


@pytest.fixture
def labels(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_queries_are_made_written_and_summed_up(sat, index_file, tmp_path):
    out = tmp_path / "own.json"
    run = sat("queries", "--index", index_file, "--out", out, "--number", 10)
    assert run.code == 0
    assert "semantic_lookup" in run.out
    assert "samples" in run.out
    assert f"written to {out}" in run.out.replace("\n", "")
    made = load_labels(out)
    assert 0 < len(made) <= 10
    assert any("sales/2024.xlsx#Q1" in query.positives for query in made)


@pytest.mark.parametrize("suffix", ["json", "jsonl", "csv"])
def test_each_form_can_be_loaded_again_and_holds_the_same(sat, index_file, tmp_path, suffix):
    out = tmp_path / f"own.{suffix}"
    assert sat("queries", "-i", index_file, "-o", out, "--number", 6).code == 0
    sat("queries", "-i", index_file, "-o", tmp_path / "other.json", "--number", 6)
    first, second = load_labels(out), load_labels(tmp_path / "other.json")
    assert [(q.text, q.positives) for q in first] == [(q.text, q.positives) for q in second]


def test_a_model_on_a_server_may_reword_them(sat, index_file, tmp_path):
    options = ("--number", 3, "--paraphrase", "openai:small")
    with openai(always(Reaction('{"rewordings": []}'))) as server:
        run = sat("queries", "-i", index_file, "-o", tmp_path / "own.json", *options, "--llm-url",
                  server.host)  # fmt: skip
    assert run.code == 0, run.err
    assert "0 reworded, 3 unchanged" in " ".join(run.out.split())
    assert server.chats


def test_json_output_holds_what_the_text_says(sat, index_file):
    run = sat("queries", "-i", index_file, "--number", 5, "--json")
    report = json.loads(run.out)
    assert report["out"] is None
    assert report["queries"] == sum(row["queries"] for row in report["types"].values())
    assert report["sheets"] >= report["sheets_covered"] > 0
    assert report["samples"][0]["positives"]


def test_without_a_file_nothing_is_written_and_that_is_said(sat, index_file, tmp_path):
    run = sat("queries", "-i", index_file, "--number", 3)
    assert "nothing is written" in run.out
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_only_when_told_so(sat, index_file, tmp_path):
    out = tmp_path / "own.csv"
    out.write_text("mine")
    run = sat("queries", "-i", index_file, "-o", out)
    assert (run.code, out.read_text()) == (2, "mine")
    assert "--force" in run.err
    assert sat("queries", "-i", index_file, "-o", out, "--force", "--number", 3).code == 0
    assert load_labels(out)
    assert list(tmp_path.iterdir()) == [out]


def test_own_labels_are_checked_and_converted(sat, index_file, labels, tmp_path):
    path = labels("own.csv", "query,sheet_id,relevance\nrevenue,sales/2024.xlsx#Q1,2\n")
    out = tmp_path / "own.jsonl"
    run = sat("queries", "-i", index_file, "--queries", path, "--out", out)
    assert run.code == 0
    assert "all sheets named are in the index" in run.out
    assert load_labels(out) == load_labels(path)


def test_unknown_sheets_are_named_with_the_nearest_ones_and_nothing_is_written(
    sat, index_file, labels, tmp_path
):
    rows = "query,sheet_id,relevance\nrevenue,sales/2024.xlsx#q1,1\nstaff,staff.csv#staf,1\n"
    path = labels("own.csv", rows)
    out = tmp_path / "own.jsonl"
    run = sat("queries", "-i", index_file, "--queries", path, "--out", out)
    said = " ".join(run.out.split())
    assert run.code == 1
    assert "2 sheets not in the index" in said
    assert "'sales/2024.xlsx#q1' in 1 query; did you mean 'sales/2024.xlsx#Q1'" in said
    assert "did you mean 'staff.csv#staff'" in said
    assert not out.exists()
    report = json.loads(sat("queries", "-i", index_file, "--queries", path, "--json").out)
    assert report["unknown_sheets"][0]["near"][0] == "sales/2024.xlsx#Q1"


@pytest.fixture
def cells(tmp_path):
    folder = tmp_path / "cells"
    folder.mkdir()
    for number in range(4):
        rows = "".join(f"Mill {number}{row} Frome,{row}.5,TH-{number}10{row}\n" for row in range(9))
        text = f"Place,Fares,Part no.\n{rows}"
        (folder / f"list {'abcd'[number]}.csv").write_text(text, encoding="utf-8")
    return folder


def test_an_index_that_keeps_contents_gives_questions_about_them(sat, encoder, cells, tmp_path):
    index, out = tmp_path / "cells.sat", tmp_path / "own.jsonl"
    assert sat("index", cells, "--index", index, "--model", encoder).code == 0
    types = ("--types", "value,label,unanswerable", "--number", 9)
    run = sat("queries", "-i", index, "-o", out, *types)
    assert run.code == 0
    made = load_labels(out, unanswerable=True)
    assert {query.query_type for query in made} == {"value", "label", "unanswerable"}
    assert all(bool(q.positives) == (q.query_type != "unanswerable") for q in made)
    checked = sat("queries", "-i", index, "--queries", out)
    assert checked.code == 0
    assert "unanswerable" in checked.out


@pytest.mark.parametrize("level", ["names", "examples"])
def test_an_index_without_contents_makes_none_of_these_and_says_so(
    sat, encoder, cells, tmp_path, level
):
    index = tmp_path / "names.sat"
    assert sat("index", cells, "--index", index, "--model", encoder, "--contents", level).code == 0
    run = sat("queries", "-i", index, "--number", 20)
    assert "the index keeps no contents" in " ".join(run.out.split())
    assert "TH-" not in run.out
    run = sat("queries", "-i", index, "--types", "value")
    assert run.code == 2
    assert f"keeps {level} of its sheets" in " ".join(run.err.split())
