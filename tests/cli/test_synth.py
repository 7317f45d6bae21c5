"""`sat synth` as a user runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sat_retriever.datasets.dataset import load_industrytab
from tests.cli.conftest import Run, command, run_sat
from tests.modelserver import Reaction, always, openai

SMALL = ("--scale", "40", "--queries", "30", "--workers", "1")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    """A corpus that no test writes to, and the run that made it."""
    out = tmp_path_factory.mktemp("synth") / "corpus"
    return out, run_sat("synth", "--out", out, *SMALL)


def test_the_report_counts_sheets_queries_and_links(made):
    out, run = made
    assert (run.code, run.err) == (0, "")
    sheets = len(json.loads((out / "sheets.json").read_text()))
    assert run.out.startswith(f"{sheets} sheets in ")
    for word in ("Inventory Products", "semantic_lookup", "formula_reference"):
        assert word in run.out
    assert re.search(rf"^all +{sheets}\b", run.out, re.MULTILINE)
    assert re.search(r" all +30\b", run.out)
    assert f"index it: sat index {out}" in run.out.replace("\n", " ")
    assert "\x1b" not in run.out


def test_what_it_says_to_do_next_works(made, encoder, tmp_path, sat):
    out, _ = made
    file = tmp_path / "sheets.sat"
    indexed = sat("index", out / "workbooks", "--index", file, "--model", encoder, "--json")
    report = json.loads(indexed.out)
    assert report["sheets_in_index"] == len(load_industrytab(out).records)
    assert report["skipped"] == []


def test_json_is_one_object_with_the_counts(tmp_path, sat):
    run = sat("synth", "--out", tmp_path / "x", *SMALL, "--json")
    report = json.loads(run.out)
    assert (run.code, run.err) == (0, "")
    assert report["out"] == str(tmp_path / "x")
    assert sum(report["categories"].values()) == report["sheets"]
    assert sum(report["queries"].values()) == 30
    assert set(report) >= {"workbooks", "conventions", "links", "pairs", "seconds"}


def test_the_same_options_give_the_same_bytes(made, tmp_path, sat):
    out, _ = made
    assert sat("synth", "--out", tmp_path / "x", *SMALL).code == 0
    for name in ("sheets.json", "query.json", "train.json", "dependency_edges.json"):
        assert (tmp_path / "x" / name).read_bytes() == (out / name).read_bytes()


def test_small_has_20_to_40_workbooks(tmp_path, sat):
    report = json.loads(sat("synth", "--out", tmp_path / "x", "--queries", "5", "--json").out)
    assert 20 <= report["workbooks"] <= 40
    assert sum(1 for _ in (tmp_path / "x" / "workbooks").rglob("*.xlsx")) == report["workbooks"]


def test_years_and_companies_are_taken(tmp_path, sat):
    options = ("--scale", "60", "--years", "2021", "--companies", "1", "--queries", "40")
    assert sat("synth", "--out", tmp_path / "x", *options, "--workers", "1").code == 0
    said = " ".join(query.text for query in load_industrytab(tmp_path / "x").queries)
    assert "2021" in said
    assert not any(str(year) in said for year in (2019, 2020, 2022, 2023, 2024, 2025, 2026))


def test_a_folder_of_ones_own_is_refused_and_left_alone(workbooks, sat):
    before = sorted(workbooks.rglob("*"))
    run = sat("synth", "--out", workbooks, "--force")
    assert run.code == 2
    assert "is not empty and holds no corpus" in " ".join(run.err.split())
    assert sorted(workbooks.rglob("*")) == before


def test_a_corpus_is_replaced_with_force_only(made, tmp_path, sat):
    shutil.copytree(made[0], tmp_path / "x")
    again = sat("synth", "--out", tmp_path / "x", *SMALL)
    assert again.code == 2
    assert "already holds a corpus" in " ".join(again.err.split())
    other = sat("synth", "--out", tmp_path / "x", *SMALL, "--seed", "1", "--force")
    assert other.code == 0


def test_words_of_ones_own_take_the_place_of_ours(tmp_path, sat):
    packaged = Path(sys.modules["sat_retriever"].__file__).parent / "synth" / "words"
    lists = json.loads((packaged / "lists.json").read_text(encoding="utf-8"))
    lists["companies"] = ["Zanzibar Clove Traders", *lists["companies"][1:]]
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "lists.json").write_text(json.dumps(lists), encoding="utf-8")
    options = ("--vocabulary", tmp_path / "words", *SMALL)
    assert sat("synth", "--out", tmp_path / "x", *options).code == 0
    said = [query.text for query in load_industrytab(tmp_path / "x").queries]
    assert any("zanzibar clove traders" in text.casefold() for text in said)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize("moment", ["starting", "writing"])
@pytest.mark.slow
def test_ctrl_c_ends_with_130_and_the_same_command_starts_again(moment, tmp_path):
    out = tmp_path / "x"
    process = subprocess.Popen(
        command("synth", "--out", out, "--scale", "4000", "--workers", "2"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    _wait_for(out / "workbooks" if moment == "starting" else out, moment, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process of the run
    told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told == ("", "interrupted; run the same command to start again\n")
    assert {path.name for path in out.iterdir()} == {"corpus.json", "workbooks"}
    assert not list(out.rglob("*.partial"))
    again = run_sat("synth", "--out", out, *SMALL)
    assert again.code == 0
    known = {record.path for record in load_industrytab(out).records}
    found = {file.relative_to(out / "workbooks").as_posix() for file in out.rglob("*.xlsx")}
    assert found == known  # nothing is left of the run that was interrupted


def _wait_for(folder: Path, moment: str, process: subprocess.Popen[str]) -> None:
    """Until the corpus's folder is there, or until workbooks are in it."""
    for _ in range(1500):
        assert process.poll() is None, process.communicate()
        if folder.exists() and (moment == "starting" or next(folder.rglob("*.xlsx"), None)):
            return
        time.sleep(0.02)
    raise AssertionError("nothing was written within 30 s")


def test_the_server_of_a_model_is_asked_and_not_named_in_the_corpus(tmp_path):
    out = tmp_path / "corpus"
    options = ("--scale", "40", "--queries", "3", "--workers", "1", "--paraphrase", "openai:small")
    with openai(always(Reaction('{"rewordings": []}'))) as server:
        run = run_sat("synth", "--out", out, *options, "--llm-url", server.host)
    assert run.code == 0, run.err
    assert server.chats
    manifest = (out / "corpus.json").read_text(encoding="utf-8")
    assert "openai:small" in manifest
    assert server.host not in manifest
