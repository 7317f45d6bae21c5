import json

import openpyxl
import pytest
import xlsxwriter
from python_calamine import CalamineWorkbook

from benchmarks import results
from benchmarks.reading import header_scoring, headers
from benchmarks.reading.header_records import record_answers, record_cases, without_values
from benchmarks.reading.header_scoring import scored
from benchmarks.tables.plain import plain_table
from benchmarks.tables.sections import SECTIONS
from sat_retriever.workbook.read import read_workbook

WRONG = {"header_row": 77, "header_height": 1, "transposed": False}


@pytest.fixture
def data(tmp_path):
    """A folder with one workbook of two sheets: numbers, and sums with saved values."""
    path = tmp_path / "data" / "stock.xlsx"
    path.parent.mkdir()
    with xlsxwriter.Workbook(path) as book:
        stock, sums = book.add_worksheet("Stock"), book.add_worksheet("Sums")
        for sheet in (stock, sums):
            sheet.write_row("B3", ["Item", "Kept", "Sold"])
            for row, item in enumerate(("bolt", "nut", "screw", "nail"), 4):
                sheet.write(f"B{row}", item)
                sheet.write_row(f"C{row}", [row, row * 2])
        for row in range(4, 8):
            sums.write_formula(f"D{row}", f"=C{row}*2", None, row * 2)
    return path.parent


@pytest.fixture
def label(monkeypatch, tmp_path):
    """Takes labels for those of the benchmark."""
    path = tmp_path / "labels.json"
    monkeypatch.setattr(header_scoring, "LABELS", path)
    monkeypatch.setattr(headers, "LABELS", path)
    right = {"header_row": 3, "header_height": 1, "transposed": False, "range": "B3:D7"}

    def write(*labels):
        common = {"file": "stock.xlsx", "sheet": "Stock", "layout": "rows", **right}
        path.write_text(json.dumps({"sheets": [common | item for item in labels]}))

    return write


def test_a_copy_without_values_keeps_the_formulas(data, tmp_path):
    copy = without_values(data / "stock.xlsx", tmp_path)
    read = [CalamineWorkbook.from_path(str(path)) for path in (data / "stock.xlsx", copy)]
    whole, emptied = (book.get_sheet_by_name("Sums").to_python() for book in read)
    assert [row[-1] for row in whole[-4:]] == [8, 10, 12, 14]
    assert [row[-1] for row in emptied[-4:]] == [""] * 4
    assert openpyxl.load_workbook(copy)["Sums"]["D4"].value == "=C4*2"


def test_a_sheet_is_read_with_or_without_values_as_its_label_says(data, label):
    label(
        {"split": "more_tuning"},
        {"split": "more_held_out"},
        {"split": "more_tuning", "sheet": "Sums", "uncalculated": True, "emptied": True},
        {"split": "more_tuning", "uncalculated": True},
    )
    plain, emptied, found = record_cases(data, "more_tuning")
    assert [case.truth.name for case in (plain, emptied, found)] == ["0", "2", "3"]
    states = [case.truth.formulas for case in (plain, emptied, found)]
    assert states == ["saved", "emptied", "as_found"]
    assert plain.record.tables[0].range == "B3:D7"
    original = read_workbook(data / "stock.xlsx").content_hash
    assert plain.record.content_hash == found.record.content_hash == original
    assert emptied.record.content_hash != original


def test_sheets_of_one_workbook_are_known_as_such(data, label):
    (data / "other.xlsx").write_bytes((data / "stock.xlsx").read_bytes())
    part = {"split": "more_tuning"}
    label(part, part | {"file": "other.xlsx"}, part | {"sheet": "Sums", "emptied": True})
    numbers = [case.truth.workbook for case in record_cases(data, "more_tuning")]
    assert numbers == [0, 1, 0]


def test_records_are_scored_beside_naive_readers(data, label):
    label({"split": "more_tuning"})
    rows = {name: scored(found)[0] for name, found in record_answers(data, "more_tuning").items()}
    assert [row["exact"] for row in rows.values()] == [True, True, False]


def test_a_sheet_that_gives_no_record_counts_as_missed(data, label):
    label({"split": "more_tuning", "sheet": "Gone"})
    for found in record_answers(data, "more_tuning").values():
        assert scored(found)[0]["exact"] is False


def test_misses_of_held_out_sheets_are_never_shown(data, label, capsys, monkeypatch):
    parts = {"tuning": 71, "held_out": 72, "more_tuning": 73, "more_held_out": 74}
    label(*({"split": s, **WRONG, "range": f"A77:B{end}"} for s, end in parts.items()))
    monkeypatch.setattr(headers, "PARTS", [part for part in headers.PARTS if "real" in part[0]])
    headers.main(["--errors", "--data", str(data)])
    shown = capsys.readouterr().out
    assert [end for end in parts.values() if f"A77:B{end}" in shown] == [71, 73]
    assert "held_out" not in shown


def test_results_of_files_have_intervals_and_a_part_without_values(
    data, label, monkeypatch, tmp_path
):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(headers, "PARTS", [("real_files", "more_held_out")])
    held = {"split": "more_held_out"}
    label(held, held | WRONG, held | {"uncalculated": True})
    headers.main(["--data", str(data)])
    files = [file for file in results.read_results("headers") if file["method"] == "detected"]
    found = {file["dataset"]: file["metrics"] for file in files}
    assert found["real_files"]["exact"] == pytest.approx(2 / 3, abs=1e-4)
    assert found["real_files_uncalculated"]["sheets"] == 1
    section = next(section for section in SECTIONS if section.benchmark == "headers")
    lines = plain_table(section).splitlines()
    (shown,) = (line for line in lines if "| real files, more held out | detected |" in line)
    assert ".667 to .667" in shown
