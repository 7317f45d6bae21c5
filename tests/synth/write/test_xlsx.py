"""A made workbook is a real one: what it holds, and the same bytes each time."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import openpyxl
import pytest

from benchmarks.made.recipes import DIALECTS, every_book, report, store
from sat_retriever.errors import InputError, OutputError
from sat_retriever.records.structure import SourceKind
from sat_retriever.synth.book.model import Book, Column, Layout, Number, Pivot, Sheet, SheetAt, Take
from sat_retriever.synth.calculate.compile import CompiledBook, compiled
from sat_retriever.synth.write.xlsx import write_xlsx, xlsx_bytes
from sat_retriever.workbook.read import read_workbook
from tests.places import ROOT

_DIGESTS = """
import hashlib
from benchmarks.made.recipes import every_book
from sat_retriever.synth.calculate.compile import compiled
from sat_retriever.synth.write.xlsx import xlsx_bytes
for group in every_book():
    by_path = {book.path: book for book in group}
    for book in group:
        print(hashlib.sha256(xlsx_bytes(compiled(book, by_path.get))).hexdigest())
"""


def _compiled(book: Book) -> CompiledBook:
    return compiled(book, {store().path: store()}.get)


def _written(book: Book, folder: Path) -> Path:
    path = folder / book.path
    write_xlsx(_compiled(book), path)
    return path


def _alone(*sheets: Sheet) -> Book:
    return Book("book.xlsx", "Test", sheets)


def test_the_same_book_gives_the_same_bytes_in_another_process_with_other_hashes():
    here = [
        hashlib.sha256(xlsx_bytes(compiled(book, {b.path: b for b in group}.get))).hexdigest()
        for group in every_book()
        for book in group
    ]
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "4711",
        "PYTHONPATH": str(ROOT),
        "TZ": "Asia/Tokyo",
    }
    there = subprocess.run(
        [sys.executable, "-c", _DIGESTS],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
        timeout=60,
    )
    assert there.stdout.split() == here


def test_every_formula_has_its_value_in_the_file(tmp_path):
    book = _compiled(store())
    path = _written(store(), tmp_path)
    formulas = openpyxl.load_workbook(path)
    values = openpyxl.load_workbook(path, data_only=True)
    seen = 0
    for sheet in book.sheets:
        place = sheet.at.place
        for index, column in enumerate(sheet.columns):
            for row, (value, formula) in enumerate(
                zip(column.values, column.formulas, strict=True)
            ):
                where = (place.first_row + row, place.left + index)
                found = values[sheet.at.sheet.name].cell(*where).value
                found = found.date() if isinstance(found, datetime) else found
                assert found == (pytest.approx(value) if isinstance(value, float) else value)
                if formula:
                    assert formulas[sheet.at.sheet.name].cell(*where).value == f"={formula}"
                    seen += 1
    assert seen == 3 * (24 + 24 + 23) + 8 * 3


def test_titles_headers_groups_units_totals_and_notes_stand_where_the_layout_says(tmp_path):
    workbook = openpyxl.load_workbook(_written(store(), tmp_path), data_only=True)
    things, summary = workbook["Things"], workbook["Summary"]
    assert [things["B2"].value, things["B4"].value, things["D5"].value] == [
        "Things in store",
        "Code",
        "kg",
    ]
    assert things["B15"].value == "Prices as of May."
    assert [summary["C3"].value, summary["C4"].value] == ["Quantity", "Jan"]
    assert {"B1:J1", "C3:F3", "G3:H3"} == {str(each) for each in summary.merged_cells.ranges}
    every = sum((row * 7) % 11 + month for row in range(24) for month in (1, 2, 3))
    assert [summary["B8"].value, summary["F8"].value, summary["H8"].value] == ["Total", every, 13]
    assert summary.freeze_panes == "C5"


def test_headers_are_bold_on_the_dialects_colour_and_numbers_have_formats(tmp_path):
    book = store(DIALECTS[1])
    sheet = openpyxl.load_workbook(_written(book, tmp_path))["Things"]
    assert (sheet["B4"].font.b, sheet["B4"].font.name) == (True, "Arial")
    assert sheet["B4"].fill.fgColor.rgb == "FFE2EFDA"
    assert sheet["B4"].border.left.style == "thin"
    assert sheet["E6"].number_format == "#,##0.00"


def test_tables_names_choices_hidden_sheets_charts_and_properties_are_real(tmp_path):
    tables = openpyxl.load_workbook(_written(store(DIALECTS[3]), tmp_path / "tables"))
    assert tables["Feb"].tables["Goods_Feb"].ref == "A4:G28"
    assert tables["Lists"].sheet_state == "hidden"
    assert tables.active.title == "Things"
    assert len(tables["Summary"]._charts) == 1
    rules = {
        str(rule.sqref): rule.formula1 for rule in tables["Jan"].data_validations.dataValidation
    }
    assert rules == {"B5:B28": "Things!$B$6:$B$13", "D5:D28": "Lists!$A$2:$A$4"}
    assert (tables.properties.title, tables.properties.created) == (
        "Things in store",
        datetime(2024, 1, 1),
    )
    names = openpyxl.load_workbook(_written(store(DIALECTS[2]), tmp_path / "names"))
    assert names.defined_names["Jan_quantity"].attr_text == "Jan!$E$5:$E$28"


def test_the_total_of_a_table_object_belongs_to_it(tmp_path):
    columns = (Column("a", "A", ("x", "y")), Column("n", "N", (1, 2), "integer"))
    sheet = Sheet("S", columns, totals=(("n", "SUM"),), table_name="Both")
    path = _written(_alone(sheet), tmp_path)
    table = openpyxl.load_workbook(path)["S"].tables["Both"]
    values = openpyxl.load_workbook(path, data_only=True)["S"]
    assert (table.ref, table.totalsRowCount) == ("A1:B4", 1)
    assert [values["A4"].value, values["B4"].value] == ["Total", 3]


def test_the_first_hidden_sheet_is_not_the_one_that_opens(tmp_path):
    hidden = Sheet("Hidden", (Column("a", "A", (1,)),), hidden=True)
    shown = Sheet("Shown", (Column("a", "A", (1,)),))
    workbook = openpyxl.load_workbook(_written(_alone(hidden, shown), tmp_path))
    assert workbook.active.title == "Shown"


def test_another_workbook_is_linked_by_its_relative_path_with_the_values_taken(tmp_path):
    other = replace(store(), path="stock/Store & more.xlsx")
    column = Column("x", "X", (Take(SheetAt("Jan", other.path), "name", 1), None))
    book = Book("a b/c.xlsx", "Test", (Sheet("S", (column,)),))
    path = tmp_path / book.path
    write_xlsx(compiled(book, {other.path: other}.get), path)
    workbook = openpyxl.load_workbook(path)
    [link] = workbook._external_links
    assert link.file_link.Target == "../stock/Store%20%26%20more.xlsx"
    assert link.externalBook.sheetNames.sheetName[1] == "Jan"
    [cell] = link.externalBook.sheetDataSet.sheetData[0].row[0].cell
    assert (cell.r, cell.v) == ("C6", "Flange")
    assert workbook["S"]["A2"].value == "=[1]Jan!C6"
    assert [(each.index, each.target) for each in read_workbook(path).structure.externals] == [
        (1, "../stock/Store%20%26%20more.xlsx")
    ]


def test_a_pivot_table_is_found_by_openpyxl_and_by_the_reader_with_what_it_shows(tmp_path):
    path = _written(store(), tmp_path)
    sheet = openpyxl.load_workbook(path, data_only=True)["Summary"]
    [pivot] = sheet._pivots
    source = pivot.cache.cacheSource.worksheetSource
    assert (pivot.location.ref, source.sheet, source.ref) == ("L4:M8", "Feb", "A4:G28")
    assert [[cell.value for cell in row] for row in sheet["L4:M8"]] == [
        ["Row Labels", "Sum of Quantity"],
        *(
            [place, sum((row * 7) % 11 + 2 for row in range(start, 24, 3))]
            for start, place in enumerate(("North", "South", "West"))
        ),
        ["Grand Total", sum((row * 7) % 11 + 2 for row in range(24))],
    ]
    assert [
        (each.sheet, each.text)
        for each in read_workbook(path).structure.sources
        if each.kind is SourceKind.PIVOT
    ] == [("Summary", "Feb!A4:G28")]


def test_a_pivot_table_groups_names_of_any_letter_case_and_numbers_before_texts(tmp_path):
    data = Sheet(
        "Data",
        (
            Column("k", "K", ("b", "B", 10, "a", 9)),
            Column("n", "N", (1, 2, 4, 8, Number(16)), "integer"),
        ),
    )
    page = Sheet("Page", (Column("x", "X", (1,)),), pivots=(Pivot(SheetAt("Data"), "k", "n"),))
    workbook = openpyxl.load_workbook(_written(_alone(data, page), tmp_path), data_only=True)
    assert [[cell.value for cell in row] for row in workbook["Page"]["C2:D5"]] == [
        [9, 16],
        [10, 4],
        ["a", 8],
        ["b", 3],
    ]
    [pivot] = workbook["Page"]._pivots
    assert len(pivot.cache.cacheFields[0].sharedItems._fields) == 4


def test_a_pivot_table_over_a_units_row_is_left_out(tmp_path):
    data = Sheet("Data", (Column("k", "K", ("a",)), Column("n", "N", (1,), unit="kg")))
    page = Sheet("Page", (Column("x", "X", (1,)),), pivots=(Pivot(SheetAt("Data"), "k", "n"),))
    path = _written(_alone(data, page), tmp_path)
    with zipfile.ZipFile(path) as package:
        assert not [name for name in package.namelist() if "pivot" in name]


def test_every_kind_of_value_is_what_it_was(tmp_path):
    cells = ("=1+1", "https://example.org", "007", True, 2.5, date(2023, 12, 31), None, "")
    path = _written(_alone(Sheet("S", (Column("x", "X", cells),))), tmp_path)
    found = [row[0].value for row in openpyxl.load_workbook(path)["S"]["A2:A9"]]
    assert found == [
        "=1+1",
        "https://example.org",
        "007",
        True,
        2.5,
        datetime(2023, 12, 31),
        None,
        None,
    ]
    assert read_workbook(path).formulas == ()


def test_a_sheet_of_lines_alone_has_them_below_each_other(tmp_path):
    sheet = Sheet("Notes", (), layout=Layout(("One", "Two"), notes=("Three",)))
    page = openpyxl.load_workbook(_written(_alone(sheet), tmp_path))["Notes"]
    assert [page["A1"].value, page["A2"].value, page["A4"].value] == ["One", "Two", "Three"]


def test_a_file_in_place_of_a_folder_is_an_error_with_its_path(tmp_path):
    (tmp_path / "stock").write_text("in the way")
    with pytest.raises(OutputError, match="stock cannot be written"):
        _written(store(), tmp_path)
    (tmp_path / "book.xlsx").mkdir()
    with pytest.raises(OutputError, match=r"book\.xlsx cannot be written"):
        _written(_alone(Sheet("S", (Column("a", "A", (1,)),))), tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["book.xlsx", "stock"]


@pytest.mark.parametrize("name", ["x" * 32, "a/b", "'quoted'"])
def test_a_tab_name_that_excel_refuses_is_an_error_with_the_workbook(name, tmp_path):
    with pytest.raises(InputError, match=r"book\.xlsx: Excel does not allow this"):
        _written(_alone(Sheet(name, (Column("a", "A", (1,)),))), tmp_path)


def test_a_report_names_the_store_as_its_only_other_workbook(tmp_path):
    with zipfile.ZipFile(_written(report(), tmp_path)) as package:
        assert package.testzip() is None
        names = [name for name in package.namelist() if "externalLink" in name]
        assert {entry.date_time for entry in package.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert sorted(names) == [
        "xl/externalLinks/_rels/externalLink1.xml.rels",
        "xl/externalLinks/externalLink1.xml",
    ]


def test_columns_are_as_wide_as_their_header_and_unit_up_to_a_limit(tmp_path):
    headers = ("Item", "INBOUND ORDER NO.", "入库数量与单位说明文字", "x" * 99, "Tax")
    columns = tuple(
        Column(f"c{n}", header, (1,), "integer", unit="EUR thousand" if header == "Tax" else "")
        for n, header in enumerate(headers)
    )
    page = openpyxl.load_workbook(_written(_alone(Sheet("S", columns)), tmp_path))["S"]
    plain, capitals, chinese, long, unit = (page.column_dimensions[c].width for c in "ABCDE")
    assert plain < unit < min(chinese, capitals) < long < 40
    assert capitals > 1.2 * len(headers[1])
    assert chinese > 2 * len(headers[2])
