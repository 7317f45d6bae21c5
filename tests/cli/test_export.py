"""`sat export`: tables of sheets and workbooks as text and files, and what is told of them."""

import csv
import io
import json

import openpyxl
import pyarrow.parquet
import pytest

from tests.builders import save_book


@pytest.mark.parametrize(
    ("form", "read"),
    [
        ("csv", lambda text: list(csv.DictReader(io.StringIO(text)))),
        ("json", json.loads),
        ("jsonl", lambda text: list(map(json.loads, text.splitlines()))),
        ("md", lambda text: text.splitlines()),
    ],
)
def test_a_table_is_printed_in_a_format(form, read, index_file, sat):
    run = sat("export", "staff.csv#staff", "--index", index_file, "--format", form, "--rows")
    records = [{"_row": 2, "Name": "Ada", "Salary": 41}]
    expected = {
        "csv": [{"_row": "2", "Name": "Ada", "Salary": "41"}],
        "json": records,
        "jsonl": records,
        "md": ["| _row | Name | Salary |", "|---|---|---|", "| 2 | Ada | 41 |"],
    }
    assert read(run.out) == expected[form]
    assert run.err == "1 record of staff.csv#staff!A1:B2.\n"


@pytest.fixture
def two(tmp_path, encoder, sat):
    """An index of a workbook with two tables on a sheet, a merged label, and an empty sheet."""
    rows = [
        ["Report"], [], ["Region", "Name", "Amount (€)"], ["North", "=cmd", 0.1],
        [None, "+49 30", 0.2], ["South", "x", 3], [], [], ["Key", "Value"], ["a", 1], ["b", 2],
    ]  # fmt: skip
    path = save_book(tmp_path / "in" / "Fuels" / "two.xlsx", Main=rows, Empty=[])
    book = openpyxl.load_workbook(path)
    for row in (4, 5):
        book["Main"].cell(row, 2).data_type = "s"
    book["Main"].merge_cells("A4:A5")
    book.save(path)
    file = tmp_path / "two.sat"
    sat("index", tmp_path / "in", "--index", file, "--model", encoder)
    return file


def test_a_workbook_is_one_excel_file_with_its_sources(two, sat, tmp_path):
    out = tmp_path / "out.xlsx"
    run = sat("export", "Fuels/two.xlsx", "--index", two, "--out", out)
    assert run.code == 0
    book = openpyxl.load_workbook(out)
    assert book.sheetnames == ["Main", "Main 2", "Sources"]
    rows = list(book["Main"].iter_rows())
    assert [[cell.value for cell in row] for row in rows] == [
        ["Region", "Name", "Amount (€)"],
        ["North", "=cmd", 0.1],
        ["North", "+49 30", 0.2],
        ["South", "x", 3],
    ]
    assert rows[1][1].data_type == "s" and rows[1][1].quotePrefix
    link = book["Sources"]["B2"]
    assert link.value == "Fuels/two.xlsx#Main!A3:C6"
    assert (link.hyperlink.target, link.hyperlink.location) == (
        "in/Fuels/two.xlsx", "'Main'!A3:C6",
    )  # fmt: skip
    for said in (
        "Not exported: cells of Fuels/two.xlsx#Main!A1:C11 outside A3:C6, A9:B11.",
        "Fuels/two.xlsx#Empty: ", "3 records of Fuels/two.xlsx#Main!A3:C6.",
        "Units: Amount (€) in €.", "Cells of merged labels that repeat their label: 1.",
    ):  # fmt: skip
        assert said in run.err


def test_other_formats_have_a_file_for_each_table(two, sat, tmp_path):
    run = sat("export", "two.xlsx", "--index", two, "--format", "jsonl")
    assert run.code == 2
    assert "2 tables; name a folder with --out, or one of them: 'Fuels/two.xlsx#Main!A3" in run.err
    run = sat("export", "two.xlsx", "--index", two, "--format", "parquet", "--out", tmp_path / "o")
    names = ["two Main A3-C6.parquet", "two Main A9-B11.parquet"]
    assert sorted(each.name for each in (tmp_path / "o").iterdir()) == names
    found = pyarrow.parquet.read_table(tmp_path / "o" / names[0])
    assert found.schema.field("Amount (€)").metadata[b"unit"] == "€".encode()
    assert found.column("Amount (€)").to_pylist() == [0.1, 0.2, 3.0]
    assert sat("export", "two.xlsx", "-i", two, "--format", "md").out.startswith(
        "## Fuels/two.xlsx#"
    )
    run = sat("export", "two.xlsx#Main!A9:B10", "--index", two)
    assert run.out == "Key,Value\na,1\nb,2\n"
    assert sat("export", "two.xlsx", "--index", two, "--table", 1).out == run.out


def test_texts_that_a_spreadsheet_would_run_get_an_apostrophe_in_csv(two, sat):
    run = sat("export", "two.xlsx", "--index", two, "--table", 0)
    assert run.out.splitlines()[1:3] == ["North,'=cmd,0.1", "North,'+49 30,0.2"]
    assert "Texts that a spreadsheet would run, so with an apostrophe: 2." in run.err
    run = sat("export", "two.xlsx", "--index", two, "--table", 0, "--format", "jsonl")
    assert json.loads(run.out.splitlines()[0])["Name"] == "=cmd"


def test_no_file_is_replaced_without_force(two, sat, tmp_path):
    out = tmp_path / "x.csv"
    out.write_text("mine")
    asked = ("export", "two.xlsx", "--index", two, "--table", 1, "--out", out)
    run = sat(*asked)
    assert run.code == 2 and "--force" in run.err and out.read_text() == "mine"
    assert sat(*asked, "--force").code == 0 and out.read_text() == "Key,Value\na,1\nb,2\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--format", "pdf"], "unknown format 'pdf'"),
        (["--format", "xlsx"], "name a file or a folder with --out"),
        (["--out", "x.csv"], "name a folder with --out"),
        (["--table", "7"], "has no table 7"),
    ],
)
def test_what_cannot_be_written_is_said(given, said, two, sat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = sat("export", "two.xlsx#Main", "--index", two, *given)
    assert run.code == 2 and said in run.err and run.out == ""
