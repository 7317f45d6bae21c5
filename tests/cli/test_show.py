"""`sat show`: one workbook or one sheet, however it is named."""

from __future__ import annotations

import json

import pytest

from sat_retriever import index_paths
from tests.builders import save_book
from tests.cli.conftest import run_sat

SALES = [f"sales/2024.xlsx#{name}" for name in ("#1", "Plan #1", "Q1", "Rates")]
NAMES = [
    ("sales/2024.xlsx", SALES),
    ("2024.xlsx", SALES),
    ("{folder}/sales/2024.xlsx", SALES),
    ("sales/2024.xlsx#Q1", ["sales/2024.xlsx#Q1"]),
    ("2024.xlsx#Q1", ["sales/2024.xlsx#Q1"]),
    ("{folder}/sales/2024.xlsx#Q1", ["sales/2024.xlsx#Q1"]),
    ("2024.xlsx#Plan #1", ["sales/2024.xlsx#Plan #1"]),
    ("2024.xlsx##1", ["sales/2024.xlsx##1"]),
    ("staff.csv", ["staff.csv#staff"]),
]


@pytest.mark.parametrize(("name", "expected"), NAMES, ids=[name for name, _ in NAMES])
def test_a_name_means_these_sheets(name, expected, index_file, workbooks, sat):
    run = sat("show", name.format(folder=workbooks), "--index", index_file, "--json")
    assert run.code == 0
    assert [sheet["sheet_id"] for sheet in json.loads(run.out)["sheets"]] == expected


def test_the_end_of_a_path_is_enough_where_no_other_path_ends_so(tmp_path, encoder, sat):
    for folder in ("in/Fuels", "out/Fuels"):
        (tmp_path / "all" / folder).mkdir(parents=True)
        save_book(tmp_path / "all" / folder / "x.xlsx", Data=[["Fuel", "Price"], ["Gas", 2]])
    save_book(tmp_path / "all/in/Fuels/only.xlsx", Data=[["Fuel", "Price"], ["Coal", 1]], Empty=[])
    file = tmp_path / "all.sat"
    index_paths(tmp_path / "all", file, encoder=encoder).close()
    run = sat("show", "Fuels/only.xlsx", "--index", file)
    assert run.code == 0 and "in/Fuels/only.xlsx#Data" in run.out
    run = sat("show", "Fuels/x.xlsx", "--index", file)
    assert run.code == 2 and "'in/Fuels/x.xlsx'" in run.err and "'out/Fuels/x.xlsx'" in run.err


def test_a_path_from_the_current_folder_is_understood(index_file, workbooks, sat, monkeypatch):
    monkeypatch.chdir(workbooks / "sales")
    run = sat("show", "./2024.xlsx#Q1", "--index", index_file, "--json")
    assert [sheet["sheet"] for sheet in json.loads(run.out)["sheets"]] == ["Q1"]


def test_json_holds_sheets_links_and_what_was_skipped(index_file, sat):
    shown = json.loads(sat("show", "2024.xlsx", "--index", index_file, "--json").out)
    assert list(shown) == ["name", "sheets", "links", "skipped", "copies"]
    assert [(skip["sheet"], skip["reason"]) for skip in shown["skipped"]] == [
        ("Nothing", "empty_sheet")
    ]
    assert shown["sheets"][2]["tables"][0]["range"] == "A1:C2"


def test_a_sheet_is_shown_with_its_columns_and_examples(index_file, sat):
    run = sat("show", "staff.csv", "--index", index_file)
    assert "csv utf-8, visible, 2 rows x 2 columns, A1:B2" in run.out
    assert "main table A1:B2: header row 1, 1 record" in run.out
    assert ["Salary", "integer", "41"] in [line.split() for line in run.out.splitlines()]


def test_a_workbook_is_shown_with_its_sheets_and_skipped_ones(index_file, sat):
    run = sat("show", "2024.xlsx", "--index", index_file)
    for part in (*SALES, "Region | Month | Revenue", "empty_sheet"):
        assert part in run.out


@pytest.mark.parametrize(
    ("name", "reason"), [("torn.xlsx", "damaged"), ("blank.csv", "empty_file")]
)
def test_a_workbook_that_was_skipped_is_shown_with_the_reason(name, reason, index_file, sat):
    run = sat("show", name, "--index", index_file)
    assert run.code == 0
    assert reason in run.out


ONLY = [
    ("Q1", "sales/2024.xlsx#Q1"),
    ("plan #1", "sales/2024.xlsx#Plan #1"),
    ("STAFF.csv#staff", "staff.csv#staff"),
    ("Sales/2024.XLSX#rates", "sales/2024.xlsx#Rates"),
]


@pytest.mark.parametrize(("name", "meant"), ONLY)
def test_the_one_sheet_that_fits_is_shown_and_named(name, meant, index_file, sat):
    run = sat("show", name, "--index", index_file, "--json")
    assert (run.code, run.err) == (0, f"the only sheet of that name: {meant}\n")
    assert [sheet["sheet_id"] for sheet in json.loads(run.out)["sheets"]] == [meant]


def test_of_several_sheets_that_fit_none_is_taken_and_all_are_suggested(tmp_path, encoder, sat):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "May.csv").write_text("Rate\n1\n", encoding="utf-8")
    file = tmp_path / "x.sat"
    assert sat("index", tmp_path, "--index", file, "--model", encoder).code == 0
    run = sat("show", "may", "--index", file)
    assert run.code == 2
    assert "did you mean 'a/May.csv#May', 'b/May.csv#May'" in run.err


def test_a_file_that_was_skipped_is_suggested_last(tmp_path, encoder, sat):
    (tmp_path / "sales 2019.csv").write_bytes(b"")
    (tmp_path / "sales 2024.csv").write_text("Rate\n1\n", encoding="utf-8")
    file = tmp_path / "x.sat"
    assert sat("index", tmp_path, "--index", file, "--model", encoder).code == 0
    suggested = sat("show", "sales 201.csv", "--index", file).err.partition("did you mean ")[2]
    assert suggested.endswith("'sales 2019.csv'?\n")
    assert suggested.startswith("'sales 2024.csv")


def test_hostile_names_are_shown_not_obeyed(index_file, sat):
    run = sat("show", "[red]x[link=evil]", "--index", index_file)
    assert run.code == 2
    assert "\x1b" not in run.err
    assert "[red]x[link=evil] \\x1b[31m" in run.err


@pytest.fixture(scope="session")
def linked(tmp_path_factory, encoder):
    """A sheet that sums up nine others and a sheet that takes a value from it."""
    folder = tmp_path_factory.mktemp("linked")
    parts = {f"Part {n}": [["Region", f"Revenue {n}"], ["North", n]] for n in range(1, 10)}
    total = [[name, f"=SUM('{name}'!B2:B2)"] for name in parts]
    save_book(folder / "sales.xlsx", Total=total, **parts, Report=[["Sum", "=Total!B1"]])
    file = folder / "linked.sat"
    assert run_sat("index", folder, "--index", file, "--model", encoder).code == 0
    return file


def rows_after(out, title):
    """Lines of a table from the one that starts with a title to the next title."""
    lines = out.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith(title))
    rest = lines[start + 1 :]
    end = next((n for n, line in enumerate(rest) if not line.startswith(" ")), len(rest))
    return [lines[start].split(), *(" ".join(line.split()) for line in rest[:end])]


def test_the_links_of_a_sheet_are_listed_by_type_with_the_evidence(linked, sat):
    run = sat("show", "sales.xlsx#Total", "--index", linked)
    assert run.code == 0
    head, *rows = rows_after(run.out, "aggregation")
    assert head == ["aggregation", "9"]
    assert rows[0] == "sums up Part 1 Total!B1 =SUM('Part 1'!B2:B2)"
    assert len(rows) == 6
    assert rows[5] == "+4 more"


def test_links_that_come_in_are_told_from_those_that_go_out(linked, sat):
    part = rows_after(sat("show", "sales.xlsx#Part 3", "-i", linked).out, "aggregation")
    assert part[1:] == ["is summed up in Total Total!B3 =SUM('Part 3'!B2:B2)"]
    report = rows_after(sat("show", "sales.xlsx#Report", "-i", linked).out, "formula_reference")
    assert report[1:] == ["takes values from Total Report!B1 =Total!B1"]


@pytest.mark.parametrize(("most", "listed", "last"), [(2, 3, "+7 more"), (9, 9, "Part 9")])
def test_as_many_links_are_listed_as_asked_for(most, listed, last, linked, sat):
    run = sat("show", "sales.xlsx#Total", "-i", linked, "--links", most)
    _, *rows = rows_after(run.out, "aggregation")
    assert len(rows) == listed
    assert last in rows[-1]


def test_a_workbook_is_shown_with_how_well_its_sheets_are_linked(linked, sat):
    run = sat("show", "sales.xlsx", "--index", linked)
    assert "9 aggregation" in run.out.partition("links:")[2]
    shown = json.loads(sat("show", "sales.xlsx#Total", "-i", linked, "--json").out)
    (row,) = (line.split() for line in run.out.splitlines() if line.startswith("sales.xlsx#Total"))
    assert str(len(shown["links"])) in row


def test_one_row_and_one_column_are_no_plurals(tmp_path, encoder, sat):
    (tmp_path / "one.csv").write_text("Rate\n", encoding="utf-8")
    file = tmp_path / "x.sat"
    sat("index", tmp_path, "--index", file, "--encoder", encoder)
    assert "1 row x 1 column," in sat("show", "one.csv#one", "--index", file).out
