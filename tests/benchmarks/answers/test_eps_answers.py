"""Hand-written questions over `eps`: the file is well-formed, and its values are in the cells."""

import json
from collections import Counter
from pathlib import Path

import openpyxl
import pytest

from benchmarks.answers.eps_answers import asked
from benchmarks.answers.eps_questions import (
    QUESTIONS,
    EpsQuestion,
    answered_by,
    areas,
    holds_value,
    load_questions,
    shows,
    true_values,
)
from sat_retriever.index.sync.indexing import index_paths
from tests.places import needs

LISTED = load_questions()


def question(**changed: object) -> EpsQuestion:
    own = {
        "question": "How many?",
        "kind": "lookup",
        "take": "value",
        "sheet": "a.xlsx#S",
        "cells": "B2",
        "value": 5,
        "also": (),
        "sql": None,
        "note": "",
    }
    return EpsQuestion(**(own | changed))


def test_there_are_forty_different_questions_over_thirty_workbooks_or_more():
    assert len({each.question for each in LISTED}) == len(LISTED) == 40
    assert Counter(each.kind for each in LISTED) == {"lookup": 24, "aggregate": 10, "note": 6}
    assert len({each.sheet.partition("#")[0] for each in LISTED}) >= 30
    assert {each.sheet.partition("/")[0] for each in LISTED} == {
        "add-outputs", "cost-outputs", "fuels", "hydgn", "plcy-schd", "trans",
    }  # fmt: skip


def test_every_entry_has_the_same_keys_in_the_same_order():
    listed = json.loads(QUESTIONS.read_text(encoding="utf-8"))["questions"]
    assert {tuple(each) for each in listed} == {tuple(EpsQuestion.__slots__)}


@pytest.mark.parametrize("each", LISTED, ids=lambda each: each.question[:40])
def test_every_place_is_a_sheet_and_cells(each):
    for sheet, ranges in each.places:
        assert ".xlsx#" in sheet
        assert ranges
    if each.kind == "lookup":
        assert ":" not in each.cells and "," not in each.cells
    assert (each.kind == "note") == (each.take == "text") == isinstance(each.value, str)
    assert each.kind != "aggregate" or each.sql


def test_no_question_names_its_workbook():
    for each in LISTED:
        file = each.sheet.partition("#")[0].rpartition("/")[2].removesuffix(".xlsx")
        assert file.casefold() not in each.question.casefold()


def test_cells_lie_in_ranges_only_if_all_do():
    wanted = question(cells="B2:B3,D5", also=("b.xlsx#T!A1",))
    assert wanted.lies_in("a.xlsx#S!A1:B2,A3:B3,D5")
    assert not wanted.lies_in("a.xlsx#S!A1:B4")
    assert wanted.lies_in("b.xlsx#T!A1")
    assert not wanted.lies_in("c.xlsx#T!A1:Z99")
    assert not wanted.lies_in("a.xlsx#S!")
    with pytest.raises(ValueError, match="no list of ranges"):
        areas("B2;B3")


@pytest.mark.parametrize(("cells", "cited"), [("A2", True), ("A40", False)])
def test_cells_are_looked_for_in_a_citation_that_leaves_ranges_out(cells, cited, tmp_path):
    lines = "\n".join(f"{number},{number % 2}" for number in range(1, 41))
    (tmp_path / "odd.csv").write_text(f"Number,Odd\n{lines}\n", encoding="utf-8")
    one = question(sheet="odd.csv#odd", cells=cells, sql="SELECT number FROM odd WHERE odd = 1")
    with index_paths(tmp_path, tmp_path / "x.sat") as index:
        assert asked(index, one, "odd.csv#odd!A1").cites is cited


@pytest.mark.parametrize(
    ("take", "value"), [("value", 1), ("sum", 6), ("mean", 2.0), ("max", 3), ("count", 3)]
)
def test_a_value_is_taken_from_the_cells(take, value):
    values = [None, 1, "n/a", 2, 3]
    assert answered_by(question(take=take, value=value), values)
    assert not answered_by(question(take=take, value=value + 1), values)
    assert not answered_by(question(take=take, value=value), ["n/a"])


def test_a_wrong_value_is_found_out(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "S"
    book.active["B2"] = 5
    book.save(tmp_path / "a.xlsx")
    book.active["B2"] = 6
    book.save(tmp_path / "b.xlsx")
    copied = question(also=("b.xlsx#S!B2",))
    assert true_values([question(), question(value=6), copied], tmp_path) == [True, False, False]


def test_a_value_in_a_text_is_whole():
    assert holds_value("| NASA | 531 |", 531)
    assert not holds_value("| NASA | 5310 |", 531)
    assert not holds_value("| row 3 |", 0.3)
    assert holds_value("below\n 15 ppm", "below 15 ppm")


def test_a_text_shows_the_answer_only_in_its_row():
    text = "a.xlsx#S!A1:B3\n\n|  | A | B |\n|---|---|---|\n| 2 | Cars | 5 |\n| 3 | 5 | 7 |"
    assert shows(question(), "a.xlsx#S", text)
    assert not shows(question(), "b.xlsx#S", text)
    assert not shows(question(cells="B3", value=3), "a.xlsx#S", text)
    assert not shows(question(cells="B4"), "a.xlsx#S", text)
    summed = question(kind="aggregate", take="sum", cells="B2:B3", value=12)
    assert shows(summed, "a.xlsx#S", text)


def test_openpyxl_finds_every_value_in_the_real_workbooks():
    eps = needs("data/eps")
    small = [each for each in LISTED if _bytes(each, eps) < 1 << 20]  # the benchmark checks all
    assert len(small) > 20
    assert all(true_values(small, eps))


def _bytes(asked: EpsQuestion, eps: Path) -> int:
    books = {sheet.partition("#")[0] for sheet in asked.sheets}
    return sum((eps / book).stat().st_size for book in books)
