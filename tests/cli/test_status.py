"""`sat status`: what is in an index, and what is not."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from sat_retriever import SheetEncoder, SheetIndex
from sat_retriever.encoder.models import folder as model_folders
from tests.builders import save_book
from tests.rank.graph.small_model import save_small_model, small_spec
from tests.saved_encoder import save_bag_of_words


def test_json_holds_counts_settings_and_skipped_reasons(index_file, encoder, sat):
    facts = json.loads(sat("status", "--index", index_file, "--json").out)
    assert facts["index"] == str(index_file)
    assert (facts["workbooks"], facts["sheets"]) == (5, 6)
    assert facts["formats"] == {"csv": 2, "xlsx": 4}
    assert facts["visibility"] == {"hidden": 1, "visible": 5}
    assert (facts["encoder"], facts["width"], facts["contents"]) == (str(encoder), 64, "all")
    assert facts["dense_weight"] == 0.4
    assert facts["skipped"] == {"damaged": 1, "empty_file": 1, "empty_sheet": 1}
    assert "skipped_files" not in facts


def test_skipped_files_are_listed_on_demand(index_file, sat):
    facts = json.loads(sat("status", "--index", index_file, "--json", "--skipped").out)
    assert {(skip["path"], skip["reason"]) for skip in facts["skipped_files"]} == {
        ("blank.csv", "empty_file"),
        ("torn.xlsx", "damaged"),
        ("sales/2024.xlsx", "empty_sheet"),
    }
    assert all(skip["message"].endswith(".") for skip in facts["skipped_files"])


def test_the_table_says_the_same(index_file, sat):
    run = sat("status", "--index", index_file, "--skipped")
    assert run.code == 0
    lines = [line.split() for line in run.out.splitlines()]
    for line in (
        ["sheets", "6"],
        ["contents", "kept", "all"],
        ["columns", "skipped", "none"],
        ["unresolved", "none"],
    ):
        assert line in lines
    assert "examples encoded: no" in run.out
    for name in ("blank.csv", "torn.xlsx", "sales/2024.xlsx#Nothing"):
        assert name in run.out


def test_the_index_may_be_named_by_the_environment(index_file, sat, monkeypatch):
    monkeypatch.setenv("SAT_INDEX", str(index_file))
    assert json.loads(sat("status", "--json").out)["sheets"] == 6


def test_links_by_type_unread_formulas_and_files_that_are_not_there_are_counted(
    tmp_path, encoder, sat
):
    formulas = [["=Data!B1"], ["=[gone.xlsx]Rates!B2"]]
    save_book(tmp_path / "a.xlsx", Sum=formulas, Data=[["Net", 1]])
    file = tmp_path / "x.sat"
    sat("index", tmp_path / "a.xlsx", "--index", file, "--model", encoder)
    facts = json.loads(sat("status", "--index", file, "--json").out)
    assert facts["links"]["formula_reference"] == 1
    assert facts["unresolved"] == {"gone.xlsx": 1}
    assert facts["formulas"] == {"read": 2}
    shown = [line.split() for line in sat("status", "--index", file).out.splitlines()]
    assert ["unresolved", "gone.xlsx:", "1"] in shown
    assert ["formulas", "read:", "2"] in shown


@pytest.fixture
def general(tmp_path, monkeypatch):
    """An index by the encoder of this package, both models of which are small made ones here."""
    models, file = tmp_path / "models", tmp_path / "general.sat"
    save_bag_of_words(models / "general/encoder", ["sales"])
    monkeypatch.setattr(model_folders, "FOLDER", models)
    with SheetIndex.create(file, SheetEncoder.load("general")) as index:
        save_small_model(models / "general/reranker", small_spec(index))
    return file


def ranked_by(sat, file):
    """The stored reranker, the one that ranks, and what the table says of it, without blanks."""
    facts = json.loads(sat("status", "--index", file, "--json").out)
    shown = sat("status", "--index", file).out
    (said,) = re.findall(r"\nreranker (.+)\nserialization ", shown, re.DOTALL)
    return facts["reranker"], facts["ranked_by"], "".join(said.split())  # a long path is folded


def test_the_reranker_that_a_search_takes_is_named(general, index_file, sat, tmp_path):
    assert ranked_by(sat, general) == (None, "general", "general,ofthispackage")
    assert ranked_by(sat, index_file) == (None, "links", "links")
    with SheetIndex.open(general) as index:
        folder = save_small_model(tmp_path / "own", small_spec(index))
        index.name_reranker(folder)
    assert ranked_by(sat, general) == (str(folder), str(folder), str(folder))


def test_a_reranker_that_cannot_be_used_is_said_and_ends_nothing(general, sat, tmp_path):
    (tmp_path / "models/general/reranker/model.onnx").write_bytes(b"")
    stored, name, said = ranked_by(sat, general)
    assert (stored, name) == (None, None)
    assert said.startswith("nonethatcanbeused:thereranker'general'ofthisinstallation")
    own = tmp_path / "own"
    own.mkdir()
    with SheetIndex.open(general) as index:
        index.name_reranker(own)
    own.rmdir()
    assert ranked_by(sat, general) == (str(own), str(own), f"{own},whichdoesnotexist")


def test_status_opens_no_model(general):
    code = (
        "import sys, pathlib, sat_retriever.encoder.models.folder as model_folders\n"
        f"model_folders.FOLDER = pathlib.Path({str(model_folders.FOLDER)!r})\n"
        "from sat_retriever.cli.maintenance import status\n"
        f"status(pathlib.Path({str(general)!r}), as_json=True)\n"
        "print(sorted({'torch', 'transformers', 'onnxruntime', 'tokenizers'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert '"ranked_by": "general"' in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
