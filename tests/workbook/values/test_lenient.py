"""Bad cells and texts of an xlsx cost themselves; what stands beside them is read."""

import io
import zipfile

import pytest
import xlsxwriter

from sat_retriever import Limits, read_workbook
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.limits import Budget
from sat_retriever.workbook.values.sparse import OpenpyxlReader, StreamedSheet, lenient_workbook

SHEET, TEXTS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
CELL = b'<c r="A2" t="s"><v>3</v></c>'  # holds "thing 1"


@pytest.fixture(scope="session")
def plain():
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        sheet = book.add_worksheet("Stock")
        sheet.write_row(0, 0, ["Item", "Amount", "Note"])
        for row in range(1, 9):
            sheet.write_row(row, 0, [f"thing {row}", row * 1.5, f"note {row}"])
        other = book.add_worksheet("Other")
        other.write_column(0, 0, ["Size", 1, 2])
    return out.getvalue()


def changed(content, part, change):
    """The package with one part changed, or left out if that gives None."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            data = change(data) if info.filename == part else data
            if data is not None:
                new.writestr(info.filename, data)
    return out.getvalue()


def with_cell(content, cell):
    return changed(content, SHEET, lambda data: data.replace(CELL, cell))


def read(tmp_path, content):
    path = tmp_path / "book.xlsx"
    path.write_bytes(content)
    book = read_workbook(path)
    columns = {
        record.sheet: [(column.name, column.example) for column in record.columns]
        for record in book.records
    }
    return columns, [
        (skip.sheet, skip.reason, skip.message.partition(" be ")[0]) for skip in book.skipped
    ]


@pytest.mark.parametrize("cell", [b"A1", b"A2", b"C9"])
@pytest.mark.parametrize("index", [b"999", b"2147483647"])
def test_a_text_index_out_of_range_costs_its_cell(tmp_path, plain, cell, index):
    def change(data):
        before, place, after = data.partition(b'<c r="%s" t="s"><v>' % cell)
        return before + place + index + after[after.index(b"<") :]

    columns, skipped = read(tmp_path, changed(plain, SHEET, change))
    assert set(columns) == {"Stock", "Other"}
    assert len(columns["Stock"]) == 3
    assert columns["Stock"][1][1] == "1.5"
    assert columns["Stock"][2][1] == "note 1"
    assert {(sheet, reason) for sheet, reason, _ in skipped} == {("Stock", SkipReason.DAMAGED)}


@pytest.mark.parametrize(
    "cell",
    [
        b'<c r="A2" t="s"><v>-1</v></c>',
        b'<c r="A2" t="s"><v>-99</v></c>',
        b'<c r="A2" t="s"><v>99999999999999999999</v></c>',
        b'<c r="A2" t="s"><v>abc</v></c>',
        b'<c r="A2" t="s"><v>1.5</v></c>',
        b'<c r="A2" s="x"><v>1</v></c>',
        b'<c r="A2" t="b"><v>maybe</v></c>',
        b'<c r="A2" t="d"><v>yesterday</v></c>',
        b'<c r="A2"><v>twelve</v></c>',
        b'<c r="2A"><v>12</v></c>',
    ],
)
def test_the_second_reader_leaves_a_bad_cell_empty_and_counts_it(plain, cell):
    book = lenient_workbook(io.BytesIO(with_cell(plain, cell)), read_only=True)
    sheet = StreamedSheet(book["Stock"])
    rows = dict(sheet.rows())
    assert len(rows) == 9
    assert [rows[2][col][0] for col in sorted(rows[2])] == [1.5, "note 1"]
    assert sheet.lost == 1


@pytest.mark.parametrize(
    ("change", "texts", "lost"),
    [
        (lambda data: None, 0, "19 cells cannot"),
        (lambda data: b"", 0, "19 cells cannot"),
        (lambda data: data[: data.index(b"thing 2")], 5, "14 cells cannot"),
    ],
    ids=["missing", "empty", "cut off"],
)
def test_without_all_texts_the_numbers_and_the_texts_that_are_there_stay(
    tmp_path, plain, change, texts, lost
):
    columns, skipped = read(tmp_path, changed(plain, TEXTS, change))
    assert set(columns) == {"Stock", "Other"}
    assert "1.5" in [example for _name, example in columns["Stock"]]
    assert ("Item" in dict(columns["Stock"])) == (texts > 0)
    assert skipped == [
        ("Stock", SkipReason.DAMAGED, lost),
        ("Other", SkipReason.DAMAGED, "One cell cannot"),
    ]


def test_a_sheet_of_texts_alone_is_damaged_and_not_empty_when_all_are_lost(tmp_path):
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        book.add_worksheet("Words").write_column(0, 0, ["a", "b"])
    columns, skipped = read(tmp_path, changed(out.getvalue(), TEXTS, lambda data: None))
    assert columns == {}
    assert skipped == [("Words", SkipReason.DAMAGED, "2 cells cannot")]


def test_a_sound_workbook_is_the_same_to_both_readers(tmp_path, plain):
    columns, skipped = read(tmp_path, plain)
    assert skipped == []
    values = OpenpyxlReader.open(io.BytesIO(plain)).values(0, Budget(Limits()))
    assert values.lost == 0
    assert values.grid.rows[1] == ["thing 1", 1.5, "note 1"]
    assert columns["Stock"] == [("Item", "thing 1"), ("Amount", "1.5"), ("Note", "note 1")]
