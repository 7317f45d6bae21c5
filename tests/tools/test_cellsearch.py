"""Cells found by what people see, in what an index keeps and in real workbooks."""

import datetime as dt

import openpyxl
import pytest

from sat_retriever import InputError, SheetTools
from sat_retriever.tools import cellsearch
from tests.builders import indexed

PEOPLE = [
    ("田中太郎", "Zürich", 0.25, dt.datetime(2024, 4, 3), True, 1001, 1234.5),
    ("Anna Müller", "İZMİR", 0.1234, dt.datetime(2024, 3, 4, 14, 30), False, 25, -99.0),
    ("ISO9001 Board", "Łódź", 1.0, dt.datetime(2023, 12, 31), True, 7, 0.1 + 0.2),
]
FORMATS = ["@", "@", "0%", "dd.mm.yyyy", "General", "00000", "#,##0.00 €"]


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cells")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "People"
    sheet.append(["Name", "Town", "Share", "Joined", "Active", "Badge", "Paid"])
    for row in PEOPLE:
        sheet.append(row)
        for cell, written in zip(sheet[sheet.max_row], FORMATS, strict=True):
            cell.number_format = written
    book.save(folder / "people.xlsx")
    for number in range(5):
        lines = [f"Bergen {number * 100 + n},{n}" for n in range(30)]
        (folder / f"list{number}.csv").write_text("\n".join(["Place,Count", *lines]))
    with indexed(folder, folder / "i.sat") as index:
        yield SheetTools(index)


def addresses(found):
    return [each.citation.rpartition("!")[2] for each in found.cells]


@pytest.mark.parametrize(
    ("asked", "cell"),
    [
        ("田中", "A2"), ("太郎", "A2"), ("zurich", "B2"), ("muller", "A3"), ("MÜLLER", "A3"),
        ("izmir", "B3"), ("İZMİR", "B3"), ("łódź", "B4"), ("ISO 9001", "A4"), ("iso9001", "A4"),
        ("boards", "A4"), ("joined", "D1"),
    ],
)  # fmt: skip
def test_kept_texts_are_found_as_the_search_finds_their_sheet(tools, asked, cell):
    assert cell in addresses(tools.search_cells(asked))
    assert addresses(tools.search_cells(asked, ["people.xlsx#People"])) == [cell]


@pytest.mark.parametrize(
    ("asked", "cells"),
    [
        ("25%", ["C2"]), ("12%", ["C3"]), ("100 %", ["C4"]), ("12.34%", ["C3"]),
        ("12,34 %", ["C3"]),
        ("03.04.2024", ["D2", "D3"]), ("2024-04-03", ["D2"]), ("31/12/2023", ["D4"]),
        ("04.03.2024 14:30", ["D3"]), ("2:30 PM", ["D3"]), ("April 2024", ["D2"]),
        ("TRUE", ["E2", "E4"]), ("False", ["E3"]), ("01001", ["F2"]), ("00007", ["F4"]),
        ("1.234,50 €", ["G2"]), ("1,234.50", ["G2"]), ("€1'234.50", ["G2"]), ("(99.00)", ["G3"]),
        ("0,30", ["G4"]), ("25", ["F3"]), ("99", []),
    ],
)  # fmt: skip
def test_cells_are_found_by_what_they_show(tools, asked, cells):
    assert addresses(tools.search_cells(asked, ["people.xlsx#People"])) == cells


def test_a_kept_date_is_found_in_another_notation(tools):
    assert "D4" in addresses(tools.search_cells("31.12.2023"))


def test_sheets_that_are_not_looked_through_are_told(tools, monkeypatch):
    whole = tools.search_cells("Bergen 402", limit=200)
    assert (len(whole.cells), whole.complete) == (1, True)
    monkeypatch.setattr(cellsearch, "SHEETS", 2)
    found = tools.search_cells("bergen", limit=200)
    assert (len(found.cells), found.complete) == (60, False)
    assert "3 more sheets have these words and were not looked through." in found.note


def test_a_long_question_is_compared_and_a_too_long_one_refused(tools):
    long = " ".join(f"word{n}" for n in range(500))[:4_000]
    assert tools.search_cells(long, ["people.xlsx#People"]).cells == ()
    assert tools.search_cells(long).cells == ()
    with pytest.raises(InputError, match="give at most 4,000"):
        tools.search_cells(long + "x" * 200)


@pytest.mark.parametrize("asked", ["%", "€", "—", "x" * 4_000, "= 5 ="])
def test_a_question_without_known_words_finds_nothing_and_ends(tools, asked):
    assert tools.search_cells(asked).cells == ()
    assert tools.search_cells(asked, ["people.xlsx#People"]).cells == ()


def test_cells_of_sheets_that_one_may_not_see_are_neither_found_nor_counted(tmp_path):
    for name in ("ours", "theirs"):
        (tmp_path / f"{name}.csv").write_text("Place,Count\nBergen,1\nOslo,2\n")
    with indexed(tmp_path, tmp_path / "i.sat") as index:
        index.permit(lambda record: ["sales" if "ours" in record.path else "hr"])
        found = SheetTools(index, principals=frozenset({"sales"})).search_cells("bergen")
    assert [each.citation for each in found.cells] == ["ours.csv#ours!A2"]
    assert found.complete
