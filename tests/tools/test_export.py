"""Exported tables, read back by other readers: what they hold is what the typed table holds."""

import csv
import datetime as dt
import io
import json
import re
import subprocess
import sys

import openpyxl
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.errors import InputError
from sat_retriever.records.area import Area
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.records.typedtable import ColumnKind, TypedColumn, TypedTable, value_text
from sat_retriever.tools.excel import ExcelSheet, Link, link_from, write_excel
from sat_retriever.tools.export import AskedTable, told, write_parquet, write_workbook
from sat_retriever.workbook.read import read_workbook
from sat_retriever.workbook.typed import defused_text, load_table, table_text
from tests.places import needs

REAL = (
    "K0_dates_csv.csv", "K0_money_texts.xlsx", "K0_kilos.xlsx", "K1_merged_region.xlsx",
)  # fmt: skip


def tables_of(path):
    """Each table of a file, and the record of its sheet."""
    for record in read_workbook(path).records:
        for place in range(len(record.tables)):
            yield AskedTable(record, place), load_table(path, record, place)


def real_tables():
    folder = needs("data/messy_tables/files")
    names = [*sorted(folder.glob("*_dates*"))[:4], *sorted(folder.glob("*.xlsx"))[:6]]
    eps = sorted(needs("data/eps").rglob("*.xlsx"), key=lambda path: path.stat().st_size)[:2]
    found = [each for path in (*names, *eps) for each in tables_of(path)]
    assert len(found) >= 10
    return found


_CALLED = r"(?:[=@＝＠]|[-+－＋][^;\t\r\n]*[(|!])"


@given(st.text("=+-@;\t\r\n '\",(|a", max_size=12))
def test_no_field_is_a_formula_wherever_a_spreadsheet_ends_it(text):
    """Where a comma is the decimal sign, fields end at semicolons, and quotes keep them less."""
    marked, lines = defused_text(text), io.StringIO(newline="")
    csv.writer(lines, lineterminator="\n").writerow(["first", marked, "last"])
    for separator in ",;\t":
        read = csv.reader(io.StringIO(lines.getvalue(), newline=""), delimiter=separator)
        for field in (field for row in read for field in row):
            assert not re.match(f" *{_CALLED}", field), field
    assert defused(marked) == text


def defused(text):
    """The text that a field of a csv stands for, as the docs say."""
    text = re.sub(rf"([;\t\r\n][ \"]*)'(?='*{_CALLED})", r"\1", text)
    runs = text.lstrip("'").lstrip(" ").startswith(tuple("=+-@\t\r\n＝＋－＠"))
    return text[1:] if text.startswith("'") and runs else text


def read_csv(text, table):
    _names, *rows = csv.reader(io.StringIO(text, newline=""))
    typed = [
        [
            field if column.kind in (ColumnKind.NUMBER, ColumnKind.DATE) else defused(field)
            for field, column in zip(row, table.columns, strict=True)
        ]
        for row in rows
    ]
    return typed, [[value_text(value) or "" for value in row] for row in table.rows()]


def read_jsonl(text, table):
    rows = [list(json.loads(line).values()) for line in text.split("\n")[:-1]]
    plain = (str, int, float, bool, type(None))
    return rows, [
        [value if isinstance(value, plain) else value_text(value) for value in row]
        for row in table.rows()
    ]


def read_markdown(text, table):
    lines = text.splitlines()[2:]
    rows = [
        [re.sub(r"\\(.)", r"\1", cell.strip()) for cell in re.split(r"(?<!\\)(?:\\\\)*\|", line)]
        for line in lines
    ]
    expected = [[" ".join((value_text(v) or "").split()) for v in row] for row in table.rows()]
    return [row[1:-1] for row in rows], expected


@pytest.mark.parametrize(
    ("form", "read"), [("csv", read_csv), ("jsonl", read_jsonl), ("md", read_markdown)]
)
def test_real_tables_come_back_from_text(form, read):
    for _asked, table in real_tables():
        text = "".join(table_text(table, form, defused=form == "csv"))
        found, expected = read(text, table)
        assert found == expected, table.citation


def test_real_tables_come_back_from_parquet(tmp_path):
    for _asked, table in real_tables():
        write_parquet(table, tmp_path / "x.parquet", rows=True)
        found = pyarrow.parquet.read_table(tmp_path / "x.parquet")
        assert found.column(0).to_pylist() == list(table.places)
        for column, values in zip(table.columns, found.columns[1:], strict=True):
            mixed = column.kind is ColumnKind.MIXED
            expected = [value_text(each) if mixed else each for each in column.values]
            assert values.to_pylist() == expected, table.citation


def unescaped(value):
    """The text that a cell stands for: openpyxl leaves ECMA-376's `_xHHHH_` as it is."""
    if not isinstance(value, str):
        return value
    return re.sub(r"_x([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), value)


def read_sheet(path, title):
    _names, *rows = openpyxl.load_workbook(path)[title].iter_rows()
    for cell in (cell for row in rows for cell in row):
        assert cell.data_type != "f"
    return [[unescaped(cell.value) for cell in row] for row in rows]


def in_excel(value):
    """The value that a reader of Excel gives: it has no date without a time."""
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return dt.datetime.combine(value, dt.time())
    return value


def test_real_tables_come_back_from_excel(tmp_path):
    tables = real_tables()
    write_workbook(tables, {}, tmp_path / "x.xlsx", rows=False)
    titles = openpyxl.load_workbook(tmp_path / "x.xlsx").sheetnames
    assert titles[-1] == "Sources"
    for title, (_asked, table) in zip(titles, tables, strict=False):
        expected = [[in_excel(value) for value in row] for row in table.rows()]
        assert read_sheet(tmp_path / "x.xlsx", title) == expected, table.citation


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20
) | st.sampled_from(
    ["=1+1", "'=1", "''+x", "-", "@a", " =x", "_x000D_", "_x005F_", 'a"b', "a\r\nb", "a|b\\", "\t"]
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)


def table_with(texts, numbers):
    texts, numbers = texts[: len(numbers)], numbers[: len(texts)]
    columns = (
        TypedColumn("Text", ColumnKind.TEXT, texts),
        TypedColumn("Number", ColumnKind.NUMBER, numbers),
    )
    places = tuple(range(2, 2 + len(texts)))
    return TypedTable("a.xlsx#A", Area(1, 1, 1 + len(texts), 2), columns, places)


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.lists(NUMBERS, min_size=1, max_size=6))
def test_any_text_and_number_comes_back(texts, numbers):
    table = table_with(texts, numbers)
    for form, read in (("csv", read_csv), ("jsonl", read_jsonl)):
        text = "".join(table_text(table, form, defused=form == "csv"))
        found, expected = read(text, table)
        assert found == expected
    fields = list(
        csv.reader(io.StringIO("".join(table_text(table, "csv", defused=True)), newline=""))
    )
    assert not any(row[0].lstrip(" ").startswith(tuple("=+-@\t\r\n")) for row in fields)
    assert [float(row[1]) for row in fields[1:]] == list(map(float, table.columns[1].values))


@settings(max_examples=30, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=6), st.lists(NUMBERS, min_size=1, max_size=6))
def test_any_text_and_number_comes_back_from_files(tmp_path_factory, texts, numbers):
    table, folder = table_with(texts, numbers), tmp_path_factory.mktemp("any")
    asked = AskedTable(SheetRecord("a.xlsx#A", "A", workbook="a.xlsx"), 0)
    write_workbook([(asked, table)], {}, folder / "x.xlsx", rows=False)
    assert read_sheet(folder / "x.xlsx", "A") == [list(row) for row in table.rows()]
    write_parquet(table, folder / "x.parquet", rows=False)
    found = pyarrow.parquet.read_table(folder / "x.parquet")
    assert found.column("Text").to_pylist() == list(table.columns[0].values)
    assert found.column("Number").to_pylist() == list(table.columns[1].values)


def test_what_excel_does_not_have_is_text_and_counted(tmp_path):
    values = [2**53 + 1, dt.date(1815, 12, 10), dt.timedelta(hours=-1), 0.1]
    column = TypedColumn("Odd", ColumnKind.MIXED, values)
    table = TypedTable("a.xlsx#A", Area(1, 1, 5, 1), (column,), (2, 3, 4, 5))
    assert told(table, "xlsx") == "Numbers and days that Excel does not have, as text: 3."
    assert told(table, "jsonl") == ""
    write_excel(tmp_path / "x.xlsx", [ExcelSheet("A", ["Odd"], zip(values, strict=True))])
    assert [row[0] for row in read_sheet(tmp_path / "x.xlsx", "A")] == [
        "9007199254740993", "1815-12-10", "-1 day, 23:00:00", 0.1,
    ]  # fmt: skip


def test_a_link_is_relative_and_its_name_cannot_be_another_address(tmp_path):
    book = tmp_path / "in" / "javascript:a b.xlsx"
    link = link_from(tmp_path / "out" / "x.xlsx", str(book), "here", "It's", "A1:B2")
    assert link == Link("here", "../in/javascript%3Aa%20b.xlsx", "'It''s'!A1:B2")
    assert link_from(tmp_path / "x.xlsx", "s3://bucket/a.xlsx", "here", "A", "A1") == "here"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on a file's size")
def test_a_full_disk_leaves_the_file_as_it_was(tmp_path):
    (tmp_path / "x.xlsx").write_bytes(b"before")
    code = f"""
import resource, signal
from pathlib import Path
from sat_retriever.errors import OutputError
from sat_retriever.tools.excel import ExcelSheet, write_excel
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
rows = ([str(number) * 9] for number in range(20_000))
try:
    write_excel(Path({str(tmp_path / "x.xlsx")!r}), [ExcelSheet("A", ["a"], rows)])
except OutputError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "x.xlsx cannot be written" in run.stdout, run.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["x.xlsx"]
    assert (tmp_path / "x.xlsx").read_bytes() == b"before"


def test_too_many_rows_for_excel_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sat_retriever.tools.excel.MAX_ROW", 3)
    with pytest.raises(InputError, match="choose another format"):
        write_excel(tmp_path / "x.xlsx", [ExcelSheet("A", ["a"], [["x"]] * 3)])
    assert list(tmp_path.iterdir()) == []
