"""`sat sql`: tables of found sheets asked in SQL."""

import datetime as dt
import json

import openpyxl

STAFF, SALES = "staff.csv#staff", "2024.xlsx#Q1"


def test_without_a_query_the_names_of_tables_and_columns_are_printed(index_file, sat):
    run = sat("sql", "-s", STAFF, "-s", SALES, "--index", index_file)
    assert run.out.splitlines() == [
        "staff: 1 row of staff.csv#staff!A1:B2",
        "  name text: Name, e.g. 'Ada'",
        "  salary number: Salary, e.g. 41",
        "  _row integer: row on the sheet",
        "q1: 1 row of sales/2024.xlsx#Q1!A1:C2",
        "  region text: Region, e.g. 'North'",
        "  month number: Month, e.g. 7",
        "  revenue number: Revenue, e.g. 7",
        "  _row integer: row on the sheet",
    ]


def test_rows_are_on_standard_output_and_citations_beside_them(index_file, sat):
    sql = "SELECT name, salary + revenue AS both FROM staff, q1"
    run = sat("sql", sql, "-s", STAFF, "-s", SALES, "--index", index_file)
    assert (run.code, run.out) == (0, "name  both\nAda   48\n")
    assert run.err == "1 row; from staff.csv#staff!A2:B2; from sales/2024.xlsx#Q1!A2:C2\n"


def test_json_has_all_of_the_result(index_file, sat):
    run = sat("sql", "SELECT sum(salary) AS s FROM staff", "-s", STAFF, "-i", index_file, "--json")
    assert json.loads(run.out) == {
        "sql": "SELECT sum(salary) AS s FROM staff",
        "columns": ["s"],
        "types": ["HUGEINT"],
        "rows": [[41]],
        "complete": True,
        "citations": ["staff.csv#staff!A1:B2"],
        "sources": [{"name": "staff", "sheet_id": STAFF, "range": "A1:B2", "rows": None}],
        "note": "",
    }


def test_a_result_that_is_cut_says_so(index_file, sat):
    sql = "SELECT * FROM range(10)"
    run = sat("sql", sql, "-s", STAFF, "--rows", "2", "--index", index_file)
    assert run.out.split() == ["range", "0", "1"]
    assert "Only the first 2 rows are shown." in run.err


def test_a_result_is_saved_as_an_excel_file_with_the_cells_behind_it(index_file, sat, tmp_path):
    out = tmp_path / "x.xlsx"
    sql = "SELECT DATE '2024-02-03' AS day, salary / 4 AS quarter FROM staff"
    run = sat("sql", sql, "-s", STAFF, "--index", index_file, "--out", out)
    assert run.code == 0, run.err
    book = openpyxl.load_workbook(out)
    assert dict(book["Answer"].iter_rows(min_row=2, values_only=True))["SQL"] == sql
    rows = [("day", "quarter"), (dt.datetime(2024, 2, 3), 10.25)]
    assert list(book["Rows"].values) == rows
    assert list(book["Citations"].values)[1:] == [(1, "staff.csv", "staff", "B2", "Salary", 41)]
    total = "SELECT sum(salary) FROM staff"
    sat("sql", total, "-s", STAFF, "--index", index_file, "--out", out, "--force")
    book = openpyxl.load_workbook(out)
    assert list(book["Citations"].values)[1:] == [(None, "staff.csv", "staff", "A1:B2", None, None)]
    run = sat("sql", total, "-s", STAFF, "--index", index_file, "--out", tmp_path / "x.csv")
    assert run.code == 2 and "ends in .xlsx" in run.err
