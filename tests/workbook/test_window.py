import datetime as dt
import re
import zipfile
from collections import Counter

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P

from sat_retriever import InputError, Limits, PathNotFoundError
from sat_retriever.records.area import Area, column_letters
from sat_retriever.workbook.formats.formulas import formula_cells
from sat_retriever.workbook.values.grid import Grid
from sat_retriever.workbook.values.window import cells_to_json, merged_to_json
from sat_retriever.workbook.window import parse_range, read_range
from tests.builders import save_book

ALL = Area(1, 1, 1_048_576, 16_384)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Values of every kind from B2 on, a formula, and a second sheet."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Q1"
    rows = [
        ["Region", "Day", "Revenue", "Paid", "Late"],
        ["North", dt.date(2024, 1, 31), 1.5, True, dt.time(9, 30)],
        ["South", None, 3.0, False, "#N/A"],
    ]
    for r, row in enumerate(rows, start=2):
        for c, value in enumerate(row, start=2):
            sheet.cell(r, c, value)
    sheet["D5"] = "=SUM(D3:D4)"
    book.create_sheet("Other")["A1"] = "secret"
    path = tmp_path_factory.mktemp("window") / "Sales.xlsx"
    book.save(path)
    return path


def test_values_are_those_of_the_cells_and_the_range_is_cut_to_what_is_used(book):
    found = read_range(book, "Q1", ALL)
    assert (found.range, found.used, found.complete) == ("B2:F5", "B2:F5", True)
    assert found.rows[1] == ("North", "2024-01-31", 1.5, True, "09:30:00")
    assert found.rows[2] == ("South", None, 3, False, "#N/A")
    assert read_range(book, "Q1", parse_range("C3:D3")).rows == (("2024-01-31", 1.5),)


def test_formulas_stand_in_place_of_values_only_if_asked_for(book):
    total = parse_range("D4:D5")
    assert read_range(book, "Q1", total).rows == ((3,), (None,))
    assert read_range(book, "Q1", total, formulas=True).rows == ((3,), ("=SUM(D3:D4)",))


def test_empty_cells_that_have_formulas_are_told(book):
    assert read_range(book, "Q1", ALL).unsaved == ((5, 4),)
    assert read_range(book, "Q1", ALL, formulas=True).unsaved == ()
    assert read_range(book, "Q1", parse_range("B2:F4")).unsaved == ()
    assert read_range(book, "Q1", parse_range("D5")).unsaved == ((5, 4),)


def test_empty_cells_of_a_shared_formula_are_told_one_by_one(book, tmp_path):
    cells = (
        '<row r="5"><c r="D5"><f t="shared" ref="D5:D7" si="0">A1</f></c></row>'
        '<row r="6"><c r="D6"><f t="shared" si="0"/><v>6</v></c></row>'
        '<row r="7"><c r="D7"><f t="shared" si="0"/><v/></c></row>'
    )
    target = rewritten(book, tmp_path / "shared.xlsx", cells)
    assert read_range(target, "Q1", ALL).unsaved == ((5, 4), (7, 4))


def test_cells_with_formulas_are_known_in_all_rows_that_one_answer_has():
    columns = [(f"{name}2", "A1", f"{name}2:{name}90000", "shared") for name in "BCDB"]
    found = formula_cells(columns, ALL)
    assert Counter(col for _row, col in found) == dict.fromkeys((2, 3, 4), 20_000 // 3)
    assert formula_cells(columns, Area(1, 5, 9, 9)) == []


def rewritten(book, target, rows):
    """The workbook with rows in place of its fifth."""
    with zipfile.ZipFile(book) as source, zipfile.ZipFile(target, "w") as made:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith("sheet1.xml"):
                text = content.decode()
                content = re.sub(r'<row r="5".*?</row>', lambda _: rows, text).encode()
            made.writestr(name, content)
    return target


def test_a_shared_formula_is_moved_to_each_of_its_cells(book, tmp_path):
    shared = '<c r="D5"><f t="shared" ref="D5:D7" si="0">SUM(D$3:D4)</f><v>4.5</v></c>'
    target = tmp_path / "shared.xlsx"
    with zipfile.ZipFile(book) as source, zipfile.ZipFile(target, "w") as made:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith("sheet1.xml"):
                text = re.sub(r'<c r="D5".*?</c>', shared, content.decode())
                below = "".join(
                    f'<row r="{r}"><c r="D{r}"><f t="shared" si="0"/><v>{r}</v></c></row>'
                    for r in (6, 7)
                )
                content = text.replace("</sheetData>", f"{below}</sheetData>").encode()
            made.writestr(name, content)
    found = read_range(target, "Q1", parse_range("D5:D7"), formulas=True)
    assert found.rows == (("=SUM(D$3:D4)",), ("=SUM(D$3:D5)",), ("=SUM(D$3:D6)",))


@pytest.mark.parametrize("text", ['A1*"abc', "[x", "A1)", "A1 }", "A1*2"])
def test_values_typed_over_a_shared_formula_stay_and_odd_formulas_raise_nothing(
    book, tmp_path, text
):
    cells = (
        f'<row r="5"><c r="D5"><f t="shared" ref="D5:D7" si="0">{text}</f><v>1</v></c></row>'
        '<row r="6"><c r="D6"><v>999</v></c></row>'
        '<row r="7"><c r="D7"><f t="shared" si="0"/><v>7</v></c></row>'
    )
    target = rewritten(book, tmp_path / "typed.xlsx", cells)
    found = read_range(target, "Q1", parse_range("D5:D7"), formulas=True)
    assert found.rows[:2] == ((f"={text}",), (999,))
    assert found.rows[2] == (("=A3*2",) if text == "A1*2" else (7,))


def test_many_overlapping_shared_formulas_take_no_longer_than_one(book, tmp_path):
    masters = "".join(
        f'<row r="{r}"><c r="A{r}"><f t="shared" ref="A5:T1004" si="{r}">A1*{r}</f></c></row>'
        for r in range(5, 65)
    )
    target = rewritten(book, tmp_path / "many.xlsx", masters)
    found = read_range(target, "Q1", ALL, formulas=True, limits=Limits(seconds=5.0))
    assert found.rows[3][0] == "=A1*5"
    assert found.rows[4][0] == "=A1*6"


def test_cells_that_nobody_uses_are_no_rows(book):
    found = read_range(book, "Q1", parse_range("Z90:Z99"))
    assert (found.range, found.rows, found.used) == ("", (), "B2:F5")


def test_one_answer_has_so_many_cells_at_most(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "1,2\n" * 20_000, encoding="utf-8")
    found = read_range(path, "long", ALL)
    assert (found.range, len(found.rows), found.used) == ("A1:B10000", 10_000, "A1:B20001")
    assert (found.complete, found.cut) == (False, False)
    rest = read_range(path, "long", parse_range("A10001:B20001"))
    assert (rest.range, rest.complete) == ("A10001:B20000", False)
    cut = read_range(path, "long", parse_range("A500:B501"), limits=Limits(cells=400))
    assert (cut.rows, cut.complete, cut.cut) == ((), False, True)


def test_a_sheet_that_is_too_long_to_read_is_not_complete(tmp_path):
    save_book(tmp_path / "a.xlsx", Sheet=[[row, "x"] for row in range(400)])
    found = read_range(tmp_path / "a.xlsx", "Sheet", ALL, limits=Limits(cells=100))
    assert (found.range, found.used, found.complete) == ("A1:B50", "A1:B400", False)
    assert found.rows[-1] == (49, "x")
    assert read_range(tmp_path / "a.xlsx", "Sheet", ALL).rows[-1] == (399, "x")


def test_csv_and_ods_are_read_too(tmp_path):
    (tmp_path / "a.csv").write_text("region;revenue\nNorth;1,5\n", encoding="utf-8")
    assert read_range(tmp_path / "a.csv", "a", ALL).rows[0] == ("region", "revenue")
    document = OpenDocumentSpreadsheet()
    for name, value, formula in (("One", "1", {}), ("Two", "2", {"formula": "of:=1+1"})):
        table = Table(name=name)
        row = TableRow()
        cell = TableCell(valuetype="float", value=value, **formula)
        cell.addElement(P(text=value))
        row.addElement(cell)
        table.addElement(row)
        document.spreadsheet.addElement(table)
    document.save(tmp_path / "a.ods")
    assert read_range(tmp_path / "a.ods", "Two", ALL).rows == ((2,),)
    assert read_range(tmp_path / "a.ods", "Two", ALL, formulas=True).rows == (("=1+1",),)
    assert read_range(tmp_path / "a.ods", "One", ALL, formulas=True).rows == ((1,),)


def test_empty_cells_of_an_ods_that_have_formulas_are_told(tmp_path):
    document = OpenDocumentSpreadsheet()
    table = Table(name="One")
    for cell in (
        TableCell(valuetype="float", value="1"),
        TableCell(formula="of:=1+1"),
        TableCell(formula="of:=1+1", valuetype="float", value="2"),
    ):
        table.addElement(TableRow())
        table.lastChild.addElement(cell)
    document.spreadsheet.addElement(table)
    document.save(tmp_path / "a.ods")
    found = read_range(tmp_path / "a.ods", "One", ALL)
    assert (found.rows, found.unsaved) == (((1,), (None,), (2,)), ((2, 1),))


def test_two_far_cells_are_no_sheet_of_billions(tmp_path):
    book = openpyxl.Workbook()
    for place in ("A1", "B1", "XFD1048576"):
        book.active[place] = 1
    book.save(tmp_path / "far.xlsx")
    found = read_range(tmp_path / "far.xlsx", "Sheet", ALL)
    assert (found.range, found.complete) == ("A1:XFD1", False)
    column = read_range(tmp_path / "far.xlsx", "Sheet", parse_range("A:A"))
    assert (len(column.rows), column.rows[0], column.complete) == (20_000, (1,), False)


def test_what_cannot_be_read_says_why(book, tmp_path):
    with pytest.raises(PathNotFoundError, match="index it again"):
        read_range(tmp_path / "gone.xlsx", "Q1", ALL)
    with pytest.raises(InputError, match="no sheet 'Q9'"):
        read_range(book, "Q9", ALL)
    (tmp_path / "torn.xlsx").write_bytes(book.read_bytes()[:700])
    with pytest.raises(InputError, match=r"the cells of 'torn.xlsx' cannot be read: .+"):
        read_range(tmp_path / "torn.xlsx", "Q1", ALL)


@pytest.mark.parametrize("text", ["", "A0", "Q1!A1", "A1:B2:C3", "XFE1", "A1,B2", "1048577:9", "A"])
def test_what_is_no_range_is_refused(text):
    with pytest.raises(InputError, match="not a range of cells"):
        parse_range(text)


SIDE = st.tuples(st.integers(1, 1_048_576), st.integers(1, 16_384))


@given(SIDE, SIDE)
def test_every_range_is_read_as_it_is_written(one, other):
    first, last = (f"${column_letters(col)}{row}" for row, col in (one, other))
    (top, bottom), (left, right) = (sorted(pair) for pair in zip(one, other, strict=True))
    assert parse_range(f" {first}:{last.lower()} ") == Area(top, left, bottom, right)


def test_labels_merged_over_rows_are_told_those_above_the_window_too(tmp_path):
    book = openpyxl.Workbook()
    for row in (["a", 1, "x", dt.timedelta(1)], *[[None] * 4] * 4, ["b", "y", "z", "w"]):
        book.active.append(row)
    for merged in ("A1:A5", "B1:B5", "C1:D1", "D1:D1"):
        book.active.merge_cells(merged)
    book.save(tmp_path / "a.xlsx")
    found = read_range(tmp_path / "a.xlsx", "Sheet", parse_range("A3:D6"))
    assert found.rows[0] == (None, None, None, None)
    assert {(each.cell, each.last_row, each.value) for each in found.merged} == {
        ("A1", 5, "a"), ("B1", 5, 1),
    }  # fmt: skip
    assert read_range(tmp_path / "a.xlsx", "Sheet", parse_range("C3:D6")).merged == ()
    whole = read_range(tmp_path / "a.xlsx", "Sheet", ALL)
    assert {(each.cell, each.value) for each in whole.merged} == {("A1", "a"), ("B1", 1)}


places = st.integers(1, 6)
areas = st.builds(
    lambda top, left, height, width: Area(top, left, top + height, left + width),
    places, places, places, places,
)  # fmt: skip


@given(st.lists(areas, max_size=12), areas)
def test_however_merged_areas_overlap_those_told_are_no_larger_than_the_window(merges, wanted):
    grid = Grid([[f"{row},{col}" for col in range(1, 13)] for row in range(1, 13)])
    cells = cells_to_json(grid, wanted, Area(1, 1, 12, 12), cut=False)
    told = merged_to_json(grid, merges, cells)
    covered = [
        (at, col) for row, col, last, *_ in told for at in range(max(row, wanted.top), last + 1)
    ]
    assert len(covered) == len(set(covered))
    assert all(wanted.holds(*place) for place in covered)
    for row, col, last, *above in told:
        assert any((m.top, m.left) == (row, col) and m.bottom >= last > row for m in merges)
        assert above == ([f"{row},{col}"] if row < wanted.top else [])


def test_cells_of_a_delimited_file_are_shown_as_it_writes_them(tmp_path):
    file = tmp_path / "sales.csv"
    file.write_text("day;sum;n\n03.02.2024;1.234,50;7\n14.02.2024;12,00-;8\n", encoding="utf-8")
    window = read_range(file, "sales", ALL)
    assert window.rows[1:] == (("03.02.2024", "1.234,50", 7), ("14.02.2024", "12,00-", 8))
    assert window.meant == {
        (2, 1): "2024-02-03", (2, 2): 1234.5, (3, 1): "2024-02-14", (3, 2): -12,
    }  # fmt: skip
