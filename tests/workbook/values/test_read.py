import datetime as dt
import io
import zipfile

import openpyxl
import pytest
import xlsxwriter

from sat_retriever import Limits
from sat_retriever.records.area import Area
from sat_retriever.workbook.limits import Budget
from sat_retriever.workbook.values.grid import CellError, Grid
from sat_retriever.workbook.values.read import MAX_TEXT, ValuesFailed, with_errors
from sat_retriever.workbook.values.readers import CalamineReader
from sat_retriever.workbook.values.sparse import OpenpyxlReader

LIMITS = Limits()
READERS = [CalamineReader, OpenpyxlReader]


def written(fill, **options):
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True, **options}) as book:
        fill(book, book.add_worksheet("S"))
    return out


def values(reader, file, limits=LIMITS):
    file.seek(0)
    return reader.open(file).values(0, Budget(limits))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("date_1904", [False, True])
def test_dates_are_the_same_in_both_date_systems(reader, date_1904):
    def fill(book, sheet):
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write_datetime("B3", dt.datetime(2024, 2, 29), day)

    grid = values(reader, written(fill, default_date_format=None, date_1904=date_1904)).grid
    assert (grid.first_row, grid.first_col) == (3, 2)
    assert str(grid.rows[0][0])[:10] == "2024-02-29"


@pytest.mark.parametrize("reader", READERS)
def test_cached_formula_results_are_values(reader):
    def fill(_book, sheet):
        sheet.write_row("A1", ["x", 2])
        sheet.write_formula("C1", "=B1*2", None, 4)

    assert values(reader, written(fill)).grid.rows == [["x", 2, 4]]


@pytest.mark.parametrize("reader", READERS)
def test_long_text_is_cut_and_empty_text_is_none(reader):
    def fill(_book, sheet):
        sheet.write_string("A1", "y" * 30_000)
        sheet.write_formula("B1", '=""', None, "")
        sheet.write_string("C1", "z")

    assert values(reader, written(fill)).grid.rows == [["y" * MAX_TEXT, None, "z"]]


@pytest.mark.parametrize(("reader", "kept"), [(CalamineReader, 50), (OpenpyxlReader, 50)])
def test_a_sheet_over_the_cell_limit_is_cut_after_whole_rows(reader, kept):
    def fill(_book, sheet):
        for row in range(100):
            sheet.write_row(row, 0, [row, row])

    found = values(reader, written(fill), Limits(cells=100))
    assert found.grid.rows == [[row, row] for row in range(kept)]
    assert found.cut or found.area == Area(1, 1, 100, 2)


def test_calamine_gives_merges():
    found = values(
        CalamineReader, written(lambda _book, sheet: sheet.merge_range("B2:D2", "Title"))
    )
    assert found.merges == (Area(2, 2, 2, 4),)


def test_openpyxl_reads_a_sheet_whose_corners_are_far_apart():
    def fill(_book, sheet):
        sheet.write("A1", "first")
        sheet.write("XFD200000", "last")

    found = values(OpenpyxlReader, written(fill))
    assert found.area == Area(1, 1, 200_000, 16_384)
    assert found.grid.rows[0][0] == "first"
    assert found.grid.rows[-1][-1] == "last"


def test_openpyxl_keeps_errors_as_errors():
    book = openpyxl.Workbook()
    book.active.append(["#N/A", "text"])
    out = io.BytesIO()
    book.save(out)
    error, text = values(OpenpyxlReader, out).grid.rows[0]
    assert isinstance(error, CellError)
    assert not isinstance(text, CellError)


@pytest.mark.parametrize("reader", READERS)
def test_what_cannot_be_opened_is_one_kind_of_failure(reader):
    with pytest.raises(ValuesFailed):
        reader.open(io.BytesIO(b"PK\x03\x04 nothing"))


def test_errors_are_put_into_and_around_the_grid():
    grid = with_errors(
        Grid([["a"], ["b", 1]], first_row=3, first_col=2),
        [(1, 1, "#REF!"), (3, 3, "#N/A"), (6, 2, "#DIV/0!")],
    )
    assert (grid.first_row, grid.first_col) == (1, 1)
    assert grid.rows == [
        ["#REF!"], [], [None, "a", "#N/A"], [None, "b", 1], [], [None, "#DIV/0!"],
    ]  # fmt: skip
    assert all(isinstance(grid.rows[r][c], CellError) for r, c in ((0, 0), (2, 2), (5, 1)))


def test_a_sheet_of_errors_only_becomes_a_grid():
    grid = with_errors(Grid([]), [(5, 3, "#REF!"), (5, 4, "#REF!")])
    assert (grid.first_row, grid.first_col, grid.rows) == (5, 3, [["#REF!", "#REF!"]])


def test_an_error_beyond_a_cut_grid_is_left_out():
    grid = with_errors(Grid([["a"]]), [(1_000_000, 1, "#REF!")])
    assert grid.rows == [["a"]]


def test_openpyxl_loads_a_book_that_it_cannot_stream():
    out = io.BytesIO()
    made = written(lambda _book, sheet: sheet.write_row("B2", ["x", 1]))
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name).replace(b'<dimension ref="', b'<dimension ref="A0:')
            new.writestr(name, data)
    found = values(OpenpyxlReader, out)
    assert found.area == Area(2, 2, 2, 3)
    assert found.grid.rows == [["x", 1]]


def test_a_workbook_without_room_gives_first_rows_whatever_reader_takes_its_sheets():
    def fill(_book, sheet):
        for row in range(3_000):
            sheet.write_row(row, 0, [row, row])

    for reader, kept in ((CalamineReader, 2_000), (OpenpyxlReader, 2_000)):
        budget = Budget(Limits(workbook_cells=10))
        out = written(fill)
        out.seek(0)
        found = reader.open(out).values(0, budget)
        assert len(found.grid.rows) == kept
        assert found.cut or found.shortened
        assert budget.cells < 0
