"""`sat cells`: cells of a found sheet, read anew."""

import json


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
