"""Rows that are no records, and merged labels, as an agent reads them."""

import io
import zipfile

import openpyxl
import pytest

from sat_retriever import Content, Hit, SheetIndex, SheetTools, hit_text
from sat_retriever.records.hits import Why
from sat_retriever.tools.cells import estimated_tokens
from tests.builders import LEFT_OUT, MESSY, indexed, messy_index, save_messy
from tests.fakes import HashedEncoder


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    file = messy_index(tmp_path_factory.mktemp("messy"))
    with SheetIndex.open(file, HashedEncoder()) as index:
        yield SheetTools(index)


def test_a_description_tells_them_in_words_and_as_values(tools):
    found = tools.describe_sheet(MESSY)
    note = f"{LEFT_OUT} The column Section has the heading above each record."
    assert str(found).splitlines()[-1] == note
    (table,) = found.to_dict()["tables"]
    assert (table["note"], table["num_left_out"]) == (note, 5)
    assert table["left_out"][-1] == {"row": 13, "reason": "total", "text": "Grand total"}
    assert table["doubtful"] == [{"row": 11, "reason": "total", "text": "Total"}]


def test_queries_tell_them_and_totals_come_back(tools):
    assert LEFT_OUT in str(tools.query_tables([MESSY]))
    sql = "SELECT region FROM sales WHERE region ILIKE '%total%'"
    found = tools.query_tables([MESSY], sql)
    assert found.rows == (("Total",),)
    assert found.note == found.to_dict()["note"] == f"{MESSY}: {LEFT_OUT}"
    found = tools.query_tables([MESSY], sql, totals=True)
    assert found.rows == (("Subtotal",), ("Total",), ("Grand total",))
    (tool,) = (each for each in tools.tools() if each.name == "query_tables")
    assert tool.run(sheets=[MESSY], sql=sql, totals=True) == found


def test_cells_are_read_with_the_rows_that_are_no_records(tools):
    found = tools.read_range(MESSY, "B6:D12")
    assert found.note == (
        "Not records: row 7 (subtotal), row 8 (section). May sum up others: row 11 (total)."
    )
    assert "Not records" not in tools.read_range(MESSY, "A4:D6").note


def test_a_label_merged_over_rows_is_read_in_each_and_stands_in_its_first_cell(tools):
    found = tools.read_range(MESSY, "A5:B9")
    assert [row[0] for row in found.rows] == ["North", "North", "Subtotal", "Wholesale", "South"]
    assert "| 5 | North | Pears |" in str(found)
    assert found.note.endswith("Merged labels are repeated in each of their rows: A4.")
    assert tools.read_range(MESSY, "B5:D9").rows[0] == ("Pears", 7, 71.25)
    assert tools.read_range(MESSY, "A4:A6", formulas=True).rows == (("North",), (None,), (None,))
    (cell,) = tools.search_cells("North", [MESSY]).cells
    assert cell.citation == f"{MESSY}!A4"


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_text_for_a_language_model_has_both(tools, form):
    record = tools.index.records([MESSY])[MESSY]
    text = hit_text(tools.index, record, Content(form, 1_000))
    assert text.count("North") == 3
    assert text.endswith("row 13 (total). May sum up others: row 11 (total).")
    part = Hit(1, 1.0, record, Why((), (), 0.0, 0.0, 1, None), part="A10:D12")
    text = hit_text(tools.index, part, Content(form, 400))
    assert text.count("South") == 1
    assert text.endswith("\n\nMay sum up others: row 11 (total).")
    for most in (16, 40, 80, 160):
        assert estimated_tokens(hit_text(tools.index, record, Content(form, most))) <= most


def test_numbers_merged_over_rows_are_labels_only_left_of_all_other_columns(tmp_path):
    book = openpyxl.Workbook()
    rows = [[2023, "North", 5, 70], [None, None, 6, None], [2024, "South", 7, 80], [None, None, 8]]
    for row in [["Year", "Region", "Sold", "Budget"], *rows]:
        book.active.append(row)
    for area in ("A2:A3", "A4:A5", "B2:B3", "B4:B5", "D2:D3", "D4:D5"):
        book.active.merge_cells(area)
    (tmp_path / "in").mkdir()
    book.save(tmp_path / "in" / "a.xlsx")
    with indexed(tmp_path / "in", tmp_path / "x.sat") as index:
        found = SheetTools(index).read_range("a.xlsx#Sheet", "A3:D5")
        table = index.table("a.xlsx#Sheet")
    assert found.rows == (
        (2023, "North", 6, None), (2024, "South", 7, 80), (2024, "South", 8, None),
    )  # fmt: skip
    assert list(table.rows())[1:] == list(found.rows)  # the same in a table's data


def test_a_value_that_a_file_stores_under_a_merged_label_is_not_read(tmp_path):
    folder = save_messy(tmp_path / "in")
    whole = (folder / "messy.xlsx").read_bytes()
    with (
        zipfile.ZipFile(io.BytesIO(whole)) as read,
        zipfile.ZipFile(folder / "messy.xlsx", "w") as written,
    ):
        for name in read.namelist():
            content = read.read(name)
            if name.endswith("sheet1.xml"):
                hidden = b'<row r="5"><c r="A5"><v>77</v></c>'
                assert content.count(b'<row r="5">') == 1
                content = content.replace(b'<row r="5">', hidden)
            written.writestr(name, content)
    with indexed(folder, tmp_path / "x.sat") as index:
        found = SheetTools(index).read_range(MESSY, "A5:B5")
        assert found.rows == (("North", "Pears"),)
        assert list(index.table(MESSY).rows())[1][:2] == ("North", "Pears")
