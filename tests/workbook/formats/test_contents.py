"""Contents and roles in every format that is read."""

import openpyxl
import pytest
import xlsxwriter

from benchmarks.safety.mutants import made_seeds
from sat_retriever import read_workbook
from sat_retriever.records.area import area_of
from sat_retriever.records.contents import ContentsPolicy, Role
from sat_retriever.workbook.window import read_range
from tests.places import needs

SEEDS = made_seeds()


def told(record):
    """Every text of a sheet's contents."""
    return [*record.contents.notes, *(text for table in record.contents.tables for text in table)]


def assert_stand_in_their_cells(path, limit=20):
    """Some texts of each sheet are found again in the file itself."""
    found = 0
    for record in read_workbook(path).records:
        for each in told(record)[:limit]:
            [[value]] = read_range(path, record.sheet, area_of(each.cell)).rows
            whole = isinstance(value, float) and value.is_integer()
            plain = " ".join(str(int(value) if whole else value).split())
            assert each.text in plain
            found += 1
    return found


@pytest.mark.parametrize("name", sorted(SEEDS))
def test_every_format_gives_texts_that_stand_in_their_cells(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(SEEDS[name])
    assert assert_stand_in_their_cells(path) > 3


@pytest.mark.parametrize("name", sorted(SEEDS))
@pytest.mark.parametrize("kept", [ContentsPolicy.NAMES, ContentsPolicy.EXAMPLES])
def test_no_contents_are_made_where_they_are_not_kept(tmp_path, name, kept):
    path = tmp_path / name
    path.write_bytes(SEEDS[name])
    assert {record.contents for record in read_workbook(path, contents=kept).records} == {None}


@pytest.mark.parametrize("suffix", ["xls", "xlsb", "ods"])
def test_real_files_of_other_formats_give_texts_too(suffix):
    folder = needs("data/odd_files")
    files = sorted(folder.rglob(f"*.{suffix}"))[:12]
    assert sum(assert_stand_in_their_cells(path, 5) for path in files) > 10


def test_a_pivot_table_and_charts_of_another_sheet_make_a_chart_sheet(tmp_path):
    path = tmp_path / "charts.xlsx"
    book = xlsxwriter.Workbook(path)
    data = book.add_worksheet("Data")
    for row, line in enumerate([["Month", "Sales"], ["May", 3.5], ["June", 4.5], ["July", 5.5]]):
        data.write_row(row, 0, line)
    shown = book.add_worksheet("Shown")
    shown.write(0, 0, "Sales by month")
    for sheet, place in ((data, "F2"), (shown, "A3")):
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=Data!$B$2:$B$4"})
        sheet.insert_chart(place, chart)
    book.close()
    roles = {record.sheet: record.role for record in read_workbook(path).records}
    assert roles == {"Data": Role.DATA, "Shown": Role.CHART}


@pytest.mark.parametrize("kept", ContentsPolicy)
def test_formulas_of_a_sheet_make_it_a_calculation_at_every_level(tmp_path, kept):
    book = openpyxl.Workbook()
    book.active.append(["Month", "Sales", "Twice"])
    other = book.create_sheet("Totals")
    other.append(["Month", "Sales"])
    for row in range(2, 8):
        book.active.append([f"M{row}", row + 0.5, f"=B{row}*2"])
        other.append([f"=Sheet!A{row}", f"=Sheet!B{row}+1"])
    book.save(tmp_path / "a.xlsx")
    records = read_workbook(tmp_path / "a.xlsx", contents=kept).records
    assert [record.role for record in records] == [Role.DATA, Role.CALCULATION]


def test_a_workbook_of_many_full_sheets_stays_within_its_bounds(tmp_path):
    book = xlsxwriter.Workbook(tmp_path / "many.xlsx", {"constant_memory": True})
    for number in range(40):
        sheet = book.add_worksheet(f"S{number}")
        for row in range(1200):
            sheet.write_row(row, 0, [f"{number} {row} {column} {'x' * 80}" for column in range(2)])
    book.close()
    sizes = [
        sum(len(each.text) for each in told(record))
        for record in read_workbook(tmp_path / "many.xlsx").records
    ]
    assert len(sizes) == 40
    assert max(sizes) <= 160 << 10
    assert min(sizes) > 100 << 10
