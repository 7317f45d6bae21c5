"""`sat cells` and `sat table`: cells and data of a found sheet, read anew."""

import csv
import io
import json

import pytest


def test_cells_are_printed_with_their_places(index_file, sat):
    run = sat("cells", "2024.xlsx#Q1!A1:B2", "--index", index_file)
    assert run.code == 0
    assert [line.split() for line in run.out.splitlines()] == [
        ["sales/2024.xlsx#Q1!A1:B2"],
        ["A", "B"],
        ["1", "Region", "Month"],
        ["2", "North", "7"],
    ]


def test_cells_as_json_are_those_of_the_main_table_without_a_range(index_file, sat):
    run = sat("cells", "staff.csv#staff", "--index", index_file, "--json")
    assert json.loads(run.out) == {
        "citation": "staff.csv#staff!A1:B2",
        "range": "A1:B2",
        "used": "A1:B2",
        "complete": True,
        "rows": [["Name", "Salary"], ["Ada", 41]],
        "note": "",
    }


def test_cells_that_are_not_used_are_said(index_file, sat):
    run = sat("cells", "staff.csv#staff!X1:Y9", "--index", index_file)
    assert (run.code, run.out) == (0, "")
    assert run.err == "this range is empty; the sheet's cells are in A1:B2\n"


def test_a_range_after_the_sheet_is_shown_where_it_belongs(index_file, sat):
    run = sat("cells", "staff.csv", "A1:B2", "--index", index_file)
    advised = '"staff.csv!A1:B2"'
    assert run.code != 0
    assert advised in run.err
    assert sat("cells", advised.strip('"'), "--index", index_file).code == 0


@pytest.mark.parametrize(
    ("form", "read"),
    [
        ("csv", lambda text: list(csv.DictReader(io.StringIO(text)))),
        ("json", json.loads),
        ("md", lambda text: text.splitlines()),
    ],
)
def test_a_table_is_written_in_a_format(form, read, index_file, sat):
    run = sat("table", "staff.csv#staff", "--index", index_file, "--format", form, "--rows")
    expected = {
        "csv": [{"_row": "2", "Name": "Ada", "Salary": "41"}],
        "json": [{"_row": 2, "Name": "Ada", "Salary": 41}],
        "md": ["| _row | Name | Salary |", "|---|---|---|", "| 2 | Ada | 41 |"],
    }
    assert read(run.out) == expected[form]
    assert run.err == "1 record of staff.csv#staff!A1:B2.\n"


def test_a_table_is_written_into_a_file(index_file, sat, tmp_path):
    run = sat("table", "2024.xlsx#Q1", "-i", index_file, "--out", tmp_path / "q1.csv")
    assert (run.code, run.out) == (0, "")
    assert (tmp_path / "q1.csv").read_text() == "Region,Month,Revenue\nNorth,7,7\n"
