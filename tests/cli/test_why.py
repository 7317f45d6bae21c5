"""`sat why`: the explanation in words and as JSON, names of sheets, and what ends it."""

from __future__ import annotations

import json

import pytest

from sat_retriever import SheetEncoder, SheetIndex, SheetRecord, SheetRetriever
from tests.builders import save_book
from tests.cli.conftest import MARKUP, run_sat

QUESTION = "revenue by region"


def facts(text: str) -> dict[str, str]:
    """What is said under each name."""
    lines = (line.partition(" ") for line in text.splitlines()[1:])
    return {name: said.strip() for name, _, said in lines}


def test_the_first_sheet_is_explained_by_its_words_and_nothing_is_above_it(index_file, sat):
    run = sat("why", QUESTION, "sales/2024.xlsx#Q1", "-i", index_file, "--reranker", "none")
    assert run.code == 0
    assert run.out.splitlines()[0] == "sales/2024.xlsx#Q1"
    said = facts(run.out)
    assert said["rank"].startswith("1 of 6 sheets, score ")
    assert said["words"].startswith("revenue ") and "region " in said["words"]
    assert said["answer"] == "sales/2024.xlsx#Q1!A1:C2"
    assert "above" not in said


def test_a_lower_sheet_is_told_what_the_one_above_has_more_of(index_file, sat):
    run = sat("why", QUESTION, "sales/2024.xlsx#Plan #1", "-i", index_file, "--reranker", "none")
    said = facts(run.out)
    assert said["lacks"].startswith("revenue (up to ")
    assert said["above"].startswith("1. sales/2024.xlsx#Q1: score ")
    assert "has the words revenue" in said["above"]


def test_json_is_what_python_gives(index_file, sat):
    run = sat("why", QUESTION, "staff", "-i", index_file, "--json")
    with SheetIndex.open(index_file) as index:
        expected = SheetRetriever(index).why(QUESTION, "staff.csv#staff").to_dict()
    assert json.loads(run.out) == json.loads(json.dumps(expected))


def test_words_that_no_sheet_is_found_by_are_told(index_file, sat):
    run = sat("why", "revenue zirconium", "staff", "-i", index_file)
    assert facts(run.out)["nowhere"] == "zirconium: no sheet is found by them"


def test_the_reranker_is_told_apart_from_the_first_stage(index_file, sat):
    run = sat("why", QUESTION, "staff", "-i", index_file, "--reranker", "links")
    assert "before the reranker" in facts(run.out)["rank"]


@pytest.mark.parametrize(
    "name",
    ["sales/2024.xlsx#Rates", "rates", "2024.xlsx#Rates", "RATE", "sales/2024.xlsx#Rates!A1"],
)
def test_a_sheet_is_named_by_its_id_or_a_part_that_no_other_has(name, index_file, sat):
    run = sat("why", QUESTION, name, "-i", index_file)
    assert (run.code, run.out.splitlines()[0]) == (0, "sales/2024.xlsx#Rates")


def test_a_workbook_that_was_skipped_is_answered_with_the_reason(index_file, sat):
    run = sat("why", QUESTION, "torn.xlsx", "-i", index_file)
    assert run.out.splitlines()[0] == "torn.xlsx is not in the index"
    assert facts(run.out)["skipped"].startswith("damaged: ")


def test_filters_that_leave_it_out_are_named(index_file, sat):
    run = sat("why", QUESTION, "staff", "-i", index_file, "--path", "sales/*")
    assert facts(run.out)["filters"] == "path: not met, so a search with them leaves it out"


def test_a_time_that_holds_it_back_is_told(tmp_path, encoder, sat):
    file = tmp_path / "times.sat"
    with SheetIndex.create(file, SheetEncoder.load(encoder)) as index:
        index.add_records([SheetRecord(f"sales {year}", f"sales {year}") for year in (2021, 2023)])
    said = facts(sat("why", "sales 2023", "sales 2021", "-i", file).out)
    assert said["time"] == "x 0.50: its time is another, or is not known"
    assert "a time that the question asks for" in said["above"]
    assert facts(sat("why", "sales 2023", "sales 2023", "-i", file).out)["time"] == "2023"


def test_cells_and_the_rows_that_answer_are_told(transit_file, sat):
    said = facts(sat("why", "people of town 444", "Cities", "-i", transit_file).out)
    assert said["cells"] == "B446: Town 444"
    assert said["answer"] == "Transit.xlsx#Cities!A436:C456"
    assert said["role"] == "data"


def test_markup_in_names_is_shown_not_obeyed(index_file):
    shown = run_sat("why", "red", "link=evil", "-i", str(index_file), FORCE_COLOR="1").out
    assert "[red]x[link=evil]" in shown
    assert "\x1b[31m[0m" not in shown and "\x1b]8;" not in shown
    assert MARKUP not in shown


@pytest.fixture
def archive(tmp_path, encoder, sat):
    """An index of a budget with an older copy, and of a tab that explains it."""
    rows = [["Region", "Budget"], *[[f"Region {n}", n * 37 + 11] for n in range(40)]]
    read_me = [["This workbook explains the budget of every region and how it was made."]]
    for name, change in (("Budget_v2.xlsx", 0), ("Budget_v1.xlsx", 1)):
        told = {"README": read_me} if not change else {}
        save_book(tmp_path / "b" / name, Budget=[*rows, ["Last", 519 + change]], **told)
    file = tmp_path / "i.sat"
    assert sat("index", tmp_path / "b", "-i", file, "--model", encoder).code == 0
    return file


def test_a_copy_is_told_what_is_shown_in_its_place(archive, sat):
    newest = facts(sat("why", "budget by region", "Budget_v2.xlsx#Budget", "-i", archive).out)
    assert newest["copies"] == "and 1 older copy"
    assert "copy" not in newest
    older = facts(sat("why", "budget by region", "Budget_v1.xlsx#Budget", "-i", archive).out)
    assert older["copy"].startswith("Budget_v2.xlsx#Budget is shown in its place")
    assert older["rank"].startswith(("1 of 3", "2 of 3"))


def test_a_tab_that_explains_others_is_told_that_this_holds_it_back(archive, sat):
    said = facts(sat("why", "budget by region", "README", "-i", archive).out)
    assert said["role"] == "documentation; x 0.80, since it explains other sheets"
    asked = facts(sat("why", "what does the README explain", "README", "-i", archive).out)
    assert asked["role"] == "documentation"


def test_a_tab_beside_the_main_sheet_is_told_that_this_holds_it_back(tmp_path, encoder, sat):
    rows = [["Region", "Budget"], *[[f"Region {n}", n * 37 + 11] for n in range(40)]]
    save_book(tmp_path / "b" / "Regional Budget.xlsx", **{"RB-a": rows, "Sources": rows})
    file = tmp_path / "i.sat"
    assert sat("index", tmp_path / "b", "-i", file, "--model", encoder).code == 0
    said = facts(sat("why", "regional budget", "Sources", "-i", file).out)
    assert said["role"].startswith("data; x 0.")
    assert said["role"].endswith(", since another sheet abbreviates the workbook's name")
    assert "its role in its workbook" in said["above"]


def test_a_word_that_only_cells_hold_is_in_common_and_lacks_elsewhere(index_file, sat):
    own = sat("why", "ada zirconium", "staff", "-i", index_file)
    said = facts(own.out)
    assert (said["words"], said["nowhere"]) == (
        "in cells ada",
        "zirconium: no sheet is found by them",
    )
    other = facts(sat("why", "ada", "sales/2024.xlsx#Q1", "-i", index_file).out)
    assert (other["words"], other["lacks"]) == ("none in common", "ada (in cells)")
    assert "nowhere" not in other


def test_a_search_says_that_cells_hold_the_word(index_file, sat):
    run = sat("search", "ada", "-i", index_file, "-k", "1")
    assert "in cells ada" in run.out and "no word in common" not in run.out
