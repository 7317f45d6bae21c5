import io
import os
import shutil
import zipfile

import openpyxl
import pytest
import xlsxwriter

from benchmarks.safety.mutants import made_seeds
from sat_retriever import InputError, Limits, PathNotFoundError, Visibility, read_workbook
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.sheets import ColumnType, Formula, SkipReason
from sat_retriever.records.structure import DefinedName, HiddenParts
from sat_retriever.workbook.read import LocalFile, read_files
from tests.places import needs

SEEDS = made_seeds()


@pytest.fixture
def seed(tmp_path):
    def write(name, content=None):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(SEEDS[name] if content is None else content)
        return path

    return write


@pytest.fixture(scope="session")
def odd():
    return needs("data/odd_files")


def written(path, fill):
    with xlsxwriter.Workbook(path) as book:
        fill(book)
    return path


def reasons(book):
    return {(skip.sheet, skip.reason) for skip in book.skipped}


def edited(content, part, change):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            new.writestr(info.filename, change(data) if info.filename == part else data)
    return out.getvalue()


def test_a_workbook_gives_records_formulas_structure_and_reasons(seed):
    book = read_workbook(seed("written.xlsx"))
    assert book.format == "xlsx"
    assert [record.sheet for record in book.records] == ["Sales", "Table"]
    assert reasons(book) == {
        ("Empty", SkipReason.EMPTY_SHEET),
        ("Chart", SkipReason.NOT_A_WORKSHEET),
    }
    sales, table = book.records
    assert sales.sheet_id == "written.xlsx#Sales"
    assert (sales.range, sales.num_rows, sales.num_cols) == ("A1:G9", 9, 7)
    assert sales.header_row == 2
    assert [column.name for column in sales.columns[:4]] == ["Name", "Units", "Price", "Day"]
    assert [column.type for column in sales.columns[:4]] == [
        ColumnType.TEXT, ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE,
    ]  # fmt: skip
    assert table.tables[0].name == "Table1"
    assert Formula("Sales", "E3", "B3*C3") in book.formulas
    assert Formula("Sales", "G2", "B3:B5*2", "G2:G4", "array") in book.formulas
    assert DefinedName("Rate", "Sales!$B$3") in book.structure.names
    assert book.structure.hidden == (HiddenParts("Sales", ((5, 5),), ((6, 6),)),)
    assert book.size == len(SEEDS["written.xlsx"])
    assert len({record.content_hash for record in book.records} | {book.content_hash}) == 1


@pytest.mark.parametrize(
    ("name", "format_", "sheet", "headers"),
    [
        ("saved.xlsx", "xlsx", "Sheet 1", ["Item", "Count", "Total", "Ratio"]),
        ("macro.xlsm", "xlsm", "Sheet 1", ["Item", "Count", "Total", "Ratio"]),
        ("table.ods", "ods", "People", ["Name", "Units"]),
        ("list.csv", "csv", "list", ["Name", "Mail", "Amount", "Day"]),
        ("list.tsv", "tsv", "list", ["Name", "Mail", "Amount", "Day"]),
    ],
)
def test_every_format_gives_its_headers(seed, name, format_, sheet, headers):
    book = read_workbook(seed(name))
    assert book.format == format_
    assert book.records[0].sheet == sheet
    assert [column.name for column in book.records[0].columns] == headers
    assert book.records[0].header_row == 1


@pytest.mark.parametrize(
    ("name", "format_", "sheet", "cell"),
    [
        ("calamine/date_1904.xls", "xls", "Sheet1", "A1:B3"),
        ("calamine/date_1904.xlsb", "xlsb", "Sheet1", "A1:B3"),
    ],
)
def test_binary_formats_are_read_like_the_others(odd, name, format_, sheet, cell):
    record = read_workbook(odd / name).records[0]
    assert (record.format, record.sheet, record.range) == (format_, sheet, cell)


def test_a_wrong_extension_does_not_matter(seed, odd, tmp_path):
    assert read_workbook(seed("a.xls", SEEDS["saved.xlsx"])).records
    shutil.copyfile(odd / "calamine" / "date_1904.xls", tmp_path / "b.xlsx")
    assert read_workbook(tmp_path / "b.xlsx").records[0].format == "xls"


def test_visibility_is_kept(tmp_path):
    def fill(book):
        for name in ("A", "B", "C"):
            book.add_worksheet(name).write_row(0, 0, ["x", "y"])
        book.get_worksheet_by_name("B").hide()
        book.get_worksheet_by_name("C").very_hidden()

    book = read_workbook(written(tmp_path / "a.xlsx", fill))
    assert [r.visibility for r in book.records] == [
        Visibility.VISIBLE, Visibility.HIDDEN, Visibility.VERY_HIDDEN,
    ]  # fmt: skip


def test_error_values_stay_errors_and_formulas_without_results_count(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["Ratio", "Sum"])
    for _ in range(6):
        book.active.append(["#DIV/0!", "=A1+1"])
    book.active["D12"] = "=SUM(B:B)"
    book.save(tmp_path / "a.xlsx")
    read = read_workbook(tmp_path / "a.xlsx")
    record = read.records[0]
    assert record.range == "A1:D12"
    assert record.columns[0].type is ColumnType.ERROR
    assert Formula("Sheet", "D12", "SUM(B:B)") in read.formulas


def test_sheet_ids_are_relative_to_the_root(seed, tmp_path):
    path = seed("list.csv")
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    shutil.copyfile(path, deep / "list.csv")
    record = read_workbook(deep / "list.csv", root=tmp_path).records[0]
    assert (record.sheet_id, record.path, record.workbook) == (
        "a/b/list.csv#list", "a/b/list.csv", "list.csv",
    )  # fmt: skip
    with pytest.raises(InputError, match="not under the root"):
        read_workbook(path, root=deep)


def test_no_cell_value_is_kept_with_names_alone(seed):
    book = read_workbook(seed("list.csv"), contents="names")
    assert [column.name for column in book.records[0].columns][:2] == ["Name", "Mail"]
    assert "Ada" not in repr(book)
    assert "Ada" in repr(read_workbook(seed("list.csv")))


def test_no_cell_value_is_kept_in_the_reasons_either(tmp_path):
    path = tmp_path / "odd.xlsx"
    written(path, lambda book: book.add_worksheet("S").write_row(0, 0, ["Name", "Amount"]))
    bad = b'<row r="2"><c r="A2" t="e"><v>#SECRET1</v></c><c r="B2" t="SECRET2"><v>SECRET3</v></c>'
    content = edited(
        path.read_bytes(),
        "xl/worksheets/sheet1.xml",
        lambda xml: xml.replace(b"</sheetData>", bad + b"</row></sheetData>"),
    )
    path.write_bytes(content)
    for contents in reversed(ContentsPolicy):
        book = read_workbook(path, contents=contents)
        assert book.records or book.skipped
        assert "SECRET" not in repr(book.skipped)
    assert "SECRET" not in repr(book.records)


def test_hundreds_of_sheets_are_read_up_to_the_limit(tmp_path):
    path = tmp_path / "many.xlsx"

    def fill(book):
        for number in range(300):
            book.add_worksheet(f"S{number}").write_row(0, 0, ["Name", "Amount"])

    written(path, fill)
    book = read_workbook(path)
    assert (len(book.records), book.skipped) == (300, ())
    book = read_workbook(path, limits=Limits(sheets=200))
    assert len(book.records) == 200
    (skip,) = book.skipped
    assert (skip.reason, skip.sheet) == (SkipReason.TOO_LARGE, None)
    assert skip.message.startswith("Only the first 200 of its 300 sheets were read")


def test_a_missing_path_is_the_users_error(tmp_path):
    with pytest.raises(PathNotFoundError, match=r"gone\.xlsx"):
        read_workbook(tmp_path / "gone.xlsx")


def bomb(content):
    start = b'<!DOCTYPE sst [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    return content.replace(b"?>", b"?>" + start, 1).replace(b"Name", b"&b;", 1)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", SkipReason.EMPTY_FILE),
        (b"%PDF-1.4", SkipReason.NOT_A_SPREADSHEET),
        (b"Only prose, in a file\nwithout columns.\nYours\nMe\n", SkipReason.NOT_A_SPREADSHEET),
        (b"<html><table></table></html>", SkipReason.UNSUPPORTED),
        (SEEDS["written.xlsx"][:900], SkipReason.DAMAGED),
        (edited(SEEDS["written.xlsx"], "xl/sharedStrings.xml", bomb), SkipReason.XML_BOMB),
        (edited(SEEDS["saved.xlsx"], "xl/workbook.xml", lambda _: b"<x/>"), SkipReason.DAMAGED),
    ],
)
def test_a_file_that_cannot_be_read_gives_one_reason(seed, content, reason):
    book = read_workbook(seed("file.bin", content))
    assert book.records == ()
    assert [skip.reason for skip in book.skipped] == [reason]
    assert book.skipped[0].path == "file.bin"
    assert book.skipped[0].message.endswith(".")


def test_a_workbook_part_that_declares_entities_costs_formulas_but_no_sheet(seed):
    book = read_workbook(seed("a.xlsx", edited(SEEDS["written.xlsx"], "xl/workbook.xml", bomb)))
    assert [record.sheet for record in book.records] == ["Sales", "Table"]
    assert (None, SkipReason.XML_BOMB) in reasons(book)
    assert book.formulas == ()


def test_a_sheet_that_declares_entities_is_read_without_expanding_them(seed):
    def declare(xml):
        return xml.replace(b"?>", b'?><!DOCTYPE x [<!ENTITY a "Name">]>', 1)

    book = read_workbook(
        seed("a.xlsx", edited(SEEDS["written.xlsx"], "xl/worksheets/sheet1.xml", declare))
    )
    assert [record.sheet for record in book.records] == ["Sales", "Table"]
    assert ("Sales", SkipReason.XML_BOMB) in reasons(book)
    assert not book.formulas


def test_folders_and_locked_files_give_a_reason(seed, tmp_path):
    assert reasons(read_workbook(tmp_path)) == {(None, SkipReason.UNREADABLE)}
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    path = seed("list.csv")
    path.chmod(0)
    assert reasons(read_workbook(path)) == {(None, SkipReason.UNREADABLE)}


def test_the_sheets_of_a_damaged_package_that_can_be_read_are_read(seed):
    broken = edited(SEEDS["written.xlsx"], "xl/worksheets/sheet2.xml", lambda xml: xml[:200])
    book = read_workbook(seed("a.xlsx", broken))
    assert [record.sheet for record in book.records] == ["Sales"]
    assert ("Table", SkipReason.DAMAGED) in reasons(book)


def test_limits_on_sheets_and_formulas_are_reported(seed):
    book = read_workbook(seed("written.xlsx"), limits=Limits(sheets=1, formulas=3))
    assert len(book.records) == 1
    assert len(book.formulas) == 3
    assert (None, SkipReason.TOO_LARGE) in reasons(book)
    assert ("Sales", SkipReason.TOO_LARGE) in reasons(book)


def test_a_long_sheet_gives_its_true_shape_from_its_first_rows(seed):
    text = b"Key,Value\n" + b"k,1\n" * 4000
    book = read_workbook(seed("a.csv", text), limits=Limits(cells=500))
    record = book.records[0]
    assert record.partial
    assert [skip.message for skip in book.skipped] == [
        "Only the first 250 of its 4,001 rows were read: the limits are 500 cells per sheet and "
        "25,000,000 per workbook."
    ]
    assert (record.range, record.num_rows) == ("A1:B4001", 4001)
    assert [column.name for column in record.columns] == ["Key", "Value"]


def test_two_cells_in_opposite_corners_are_read_in_little_memory(tmp_path):
    def fill(book):
        sheet = book.add_worksheet()
        sheet.write("A1", "first")
        sheet.write("XFD1048576", 1)

    book = read_workbook(written(tmp_path / "a.xlsx", fill), limits=Limits(memory_mb=400))
    assert [record.range for record in book.records] == ["A1:XFD1048576"]


def test_a_csv_may_not_be_the_same_file_twice_in_one_run(seed):
    paths = [seed("list.csv"), seed("saved.xlsx"), seed("table.ods")]
    books = [book for _, book in read_files(map(LocalFile, paths), workers=2)]
    assert {book.path for book in books} == set(paths)
    assert all(book.records for book in books)


@pytest.fixture(scope="session")
def locked(tmp_path_factory):
    """An encrypted copy of a small workbook; the password is "secret"."""
    msoffcrypto = pytest.importorskip("msoffcrypto", reason="the extra [encrypted] is missing")
    path = tmp_path_factory.mktemp("locked") / "locked.xlsx"
    with path.open("wb") as out:
        office = msoffcrypto.OfficeFile(io.BytesIO(SEEDS["saved.xlsx"]))
        office.encrypt("secret", out)
    return path


def test_an_encrypted_workbook_needs_its_password(locked):
    assert reasons(read_workbook(locked)) == {(None, SkipReason.ENCRYPTED)}
    assert reasons(read_workbook(locked, password="wrong")) == {(None, SkipReason.WRONG_PASSWORD)}
    book = read_workbook(locked, password="secret")
    assert [record.sheet for record in book.records] == ["Sheet 1", "Übersicht"]
    assert book.formulas


def test_an_encrypted_workbook_over_the_size_limit_is_not_decrypted(locked):
    limits = Limits(file_bytes=locked.stat().st_size - 1)
    book = read_workbook(locked, password="secret", limits=limits)
    assert {skip.reason for skip in book.skipped} <= {SkipReason.TOO_LARGE, SkipReason.ENCRYPTED}
    assert not book.records


def test_an_encrypted_xls_needs_its_password(odd):
    pytest.importorskip("msoffcrypto", reason="the extra [encrypted] is missing")
    path = odd / "poi" / "password.xls"
    assert reasons(read_workbook(path)) == {(None, SkipReason.ENCRYPTED)}
    assert reasons(read_workbook(path, password="no")) == {(None, SkipReason.WRONG_PASSWORD)}
    assert read_workbook(path, password="password").records
