"""`sat status`: what is in an index, and what is not."""

from __future__ import annotations

import json

from openpyxl import Workbook


def test_json_holds_counts_settings_and_skipped_reasons(index_file, encoder, sat):
    facts = json.loads(sat("status", "--index", index_file, "--json").out)
    assert facts["index"] == str(index_file)
    assert (facts["workbooks"], facts["sheets"]) == (5, 6)
    assert facts["formats"] == {"csv": 2, "xlsx": 4}
    assert facts["visibility"] == {"hidden": 1, "visible": 5}
    assert (facts["encoder"], facts["width"], facts["examples"]) == (str(encoder), 64, True)
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
    for line in (["sheets", "6"], ["examples", "yes"], ["unresolved", "none"]):
        assert line in lines
    for name in ("blank.csv", "torn.xlsx", "sales/2024.xlsx#Nothing"):
        assert name in run.out


def test_the_index_may_be_named_by_the_environment(index_file, sat, monkeypatch):
    monkeypatch.setenv("SAT_INDEX", str(index_file))
    assert json.loads(sat("status", "--json").out)["sheets"] == 6


def test_links_by_type_unread_formulas_and_files_that_are_not_there_are_counted(
    tmp_path, encoder, sat
):
    book = Workbook()
    book.active.title = "Sum"
    book.create_sheet("Data").append(["Net", 1])
    book["Sum"]["A1"] = "=Data!B1"
    book["Sum"]["A2"] = "=[gone.xlsx]Rates!B2"
    book.save(tmp_path / "a.xlsx")
    file = tmp_path / "x.sat"
    sat("index", tmp_path / "a.xlsx", "--index", file, "--model", encoder)
    facts = json.loads(sat("status", "--index", file, "--json").out)
    assert facts["links"]["formula_reference"] == 1
    assert facts["unresolved"] == {"gone.xlsx": 1}
    assert facts["formulas"] == {"read": 2}
    shown = [line.split() for line in sat("status", "--index", file).out.splitlines()]
    assert ["unresolved", "gone.xlsx:", "1"] in shown
    assert ["formulas", "read:", "2"] in shown
