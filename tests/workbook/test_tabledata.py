"""The data of tables: every cell as openpyxl reads it, from every format, within limits."""

import datetime as dt
import shutil
import zipfile

import pytest
from openpyxl import Workbook, load_workbook

from sat_retriever import InputError, Limits, PathNotFoundError, read_workbook
from sat_retriever.records.area import area_of
from sat_retriever.workbook.typed import read_table_data
from sat_retriever.workbook.values.grid import CellError
from tests.places import needs


def differences(file):
    """Cells of all tables of a workbook that openpyxl reads otherwise, and their number.

    A cell under a merged label may have that.
    """
    book = load_workbook(file, data_only=True)
    found, cells = [], 0
    for record in read_workbook(file, contents="names", links=False, formulas=False).records:
        labels = _labels(book[record.sheet])
        for place, table in enumerate(record.tables):
            data = read_table_data(file, record.sheet, place)
            assert (data.table.range, len(data.records)) == (table.range, table.num_rows)
            assert data.complete
            for line, column in enumerate(data.columns, start=data.first_line):
                for at, own in zip(data.records, column, strict=True):
                    row, col = (line, at) if table.transposed else (at, line)
                    cell = book[record.sheet].cell(row, col)
                    theirs = CellError(cell.value) if cell.data_type == "e" else cell.value
                    if theirs is None and own is not None:
                        theirs = labels.get((row, col))
                    cells += 1
                    if _kind(own) is not _kind(theirs) or own != theirs:
                        found.append((record.sheet, cell.coordinate, own, theirs))
    return found, cells


def _labels(sheet):
    """The value of each cell in the first column of a merged area."""
    return {
        (row, area.min_col): sheet.cell(area.min_row, area.min_col).value
        for area in sheet.merged_cells.ranges
        for row in range(area.min_row, area.max_row + 1)
    }


def _kind(value):
    """The type of a value; a spreadsheet has one type of numbers, so 5.0 is as good as 5."""
    return int if type(value) is float else type(value)


def test_every_type_of_cell_is_as_openpyxl_reads_it(tmp_path):
    book = Workbook()
    sheet = book.active
    sheet.append(["Text", "Whole", "Part", "Flag", "Day", "Moment", "Time", "Span", "Error"])
    for number in range(1, 4):
        moment = dt.datetime(2024, number, 5, 6, 7, 8)
        span, error = dt.timedelta(hours=30, minutes=number), ["#N/A", "#DIV/0!", None][number - 1]
        sheet.append(
            [f"ä {number}\n", number, number / 3, number == 2, moment.date(), moment,
             moment.time(), span, error]
        )  # fmt: skip
    sheet.cell(3, 1).value = "2024-01-02"  # a text, not a date
    book.save(tmp_path / "a.xlsx")
    assert differences(tmp_path / "a.xlsx") == ([], 27)


def test_a_cell_under_a_merged_label_has_it_whatever_the_file_stores(tmp_path):
    book = Workbook()
    sheet = book.active
    for line in (["Region", "Q1", "Q2"], ["North", 1, 2], ["hidden", 3, 4], ["South", 5, 6]):
        sheet.append(line)
    for number in range(20):
        sheet.append([f"Town {number}", number, number])
    book.save(tmp_path / "plain.xlsx")
    package, merged = tmp_path / "plain.xlsx", tmp_path / "merged.xlsx"
    with zipfile.ZipFile(package) as read, zipfile.ZipFile(merged, "w") as written:
        for name in read.namelist():
            content = read.read(name)
            if name.endswith("sheet1.xml"):  # openpyxl itself would drop the value
                merge = b'</sheetData><mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>'
                content = content.replace(b"</sheetData>", merge)
            written.writestr(name, content)
    data = read_table_data(merged, "Sheet")
    assert data.columns[0][:3] == ["North", "North", "South"]
    assert data.columns[1][:3] == [1, 3, 5]
    assert differences(merged)[0] == []


@pytest.mark.filterwarnings("ignore:DrawingML support")  # openpyxl's, of shapes on sheets
@pytest.mark.parametrize("name", ["trans/EVCAP", "hydgn"])
def test_real_sheets_are_as_openpyxl_reads_them(name):
    files = [*needs(f"data/eps/{name}").rglob("*.xlsx")]
    assert files
    for file in files:
        assert differences(file)[0] == []


def test_a_table_in_parts_is_as_long_as_the_sheet(tmp_path):
    rows = "".join(f"{n},{n / 4},Town {n % 7}\n" for n in range(40_000))
    (tmp_path / "long.csv").write_text(f"id,part,town\n{rows}")
    data = read_table_data(tmp_path / "long.csv", "long")
    assert data.complete
    assert data.records == tuple(range(2, 40_002))
    assert data.columns[1] == [n // 4 if n % 4 == 0 else n / 4 for n in range(40_000)]
    assert area_of(data.table.range).bottom == 40_001


def test_a_sheet_beyond_the_limits_is_read_in_part_and_says_so(tmp_path):
    (tmp_path / "a.csv").write_text("id,part\n" + "1,2\n" * 1000)
    data = read_table_data(tmp_path / "a.csv", "a", limits=Limits(cells=200))
    assert not data.complete
    assert 0 < len(data.records) < 1000
    assert read_table_data(tmp_path / "a.csv", "a", most=10).records == (2, 3, 4, 5, 6)


def test_what_cannot_be_read_is_refused_with_the_reason(tmp_path):
    (tmp_path / "a.csv").write_text("id,part\n1,2\n")
    (tmp_path / "b.xlsx").write_bytes(b"PK\x03\x04 no workbook")
    (tmp_path / "c.csv").write_text("")
    for file, sheet, table, said in (
        ("a.csv", "b", 0, "it has no sheet 'b'"),
        ("a.csv", "a", 3, "has no table 3 now"),
        ("b.xlsx", "b", 0, "cannot be read"),
        ("c.csv", "c", 0, "cannot be read"),
    ):
        with pytest.raises(InputError, match=said):
            read_table_data(tmp_path / file, sheet, table)
    with pytest.raises(PathNotFoundError):
        read_table_data(tmp_path / "d.csv", "d")
    outside = shutil.copy(tmp_path / "a.csv", tmp_path / "e.csv")
    (tmp_path / "in").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        read_table_data(outside, "e", within=tmp_path / "in")


def test_a_delimited_file_gives_values_and_the_texts_that_look_otherwise(tmp_path):
    file = tmp_path / "sales.csv"
    file.write_text("item,price,n\nA,1.10,7\nB,2.25,8\n", encoding="utf-8")
    data = read_table_data(file, "sales")
    assert data.columns == (["A", "B"], [1.1, 2.25], [7, 8])
    assert data.texts == (None, ["1.10", None], None)
