"""Tables as data: records of real files with types, row numbers, and what was left out."""

import copy
import datetime as dt
import pickle
import shutil
from dataclasses import asdict, replace

import pytest
from openpyxl import Workbook

from sat_retriever import (
    Hit,
    InputError,
    MissingExtraError,
    PathNotFoundError,
    SheetRetriever,
    read_workbook,
)
from sat_retriever.records.hits import Why
from sat_retriever.records.sheets import LeftOut, LeftOutReason
from sat_retriever.workbook.typed import load_table, unique_names
from tests.builders import indexed


@pytest.fixture
def folder(tmp_path):
    """A workbook with two tables on one sheet, a transposed one on another, and a csv."""
    book = Workbook()
    sales = book.active
    sales.title = "Sales"
    sales.append(["Sales by region"])
    sales.append([])
    sales.append(["Region", "Mass", "Day", "Paid", "Cost", "Cost"])
    sales.append([None, "kg", None, None, "EUR", "EUR"])
    sales.append(["North", 12, dt.datetime(2024, 1, 2), True, "1,200.50 EUR", 5])
    sales.append(["South", 3.5, dt.datetime(2024, 2, 3), False, "(7) EUR", "=1/0"])
    sales.append(["East", None, None, None, "n/a", 7])
    sales.append(["Total", 15.5, None, None, None, 12])
    for row in range(12, 16):
        for col, value in enumerate(("Code", "Rate") if row == 12 else (f"00{row}", row / 2), 9):
            sales.cell(row, col, value)
    facts = book.create_sheet("Facts")
    for line in (["Name", "Ada", "Bob"], ["Born", 1990, 1985], ["City", "Rome", "Oslo"]):
        facts.append(line)
    folder = tmp_path / "in"
    folder.mkdir()
    book.save(folder / "a.xlsx")
    (folder / "staff.csv").write_text("Name;Salary;Since\nAda;41,5;2024-01-02\nBob;7;2024-01-03\n")
    return folder


@pytest.fixture
def index(folder, tmp_path):
    with indexed(folder, tmp_path / "x.sat") as index:
        yield index


def test_a_table_has_its_records_alone_with_types_units_and_rows(index):
    table = index.table("a.xlsx#Sales")
    assert table.names == ("Region", "Mass", "Day", "Paid", "Cost", "Cost_2")
    assert [column.kind for column in table.columns] == [
        "text", "number", "date", "boolean", "number", "number",
    ]  # fmt: skip
    assert [column.unit for column in table.columns] == [None, "kg", None, None, "EUR", "EUR"]
    assert list(table.rows())[:2] == [
        ("North", 12, dt.date(2024, 1, 2), True, 1200.5, 5),
        ("South", 3.5, dt.date(2024, 2, 3), False, -7, None),
    ]
    assert table.places == (5, 6, 7)
    assert (table.unsaved, table.changed, table.complete) == (1, False, True)
    assert table.left_out == (
        LeftOut(4, LeftOutReason.UNITS, "kg"), LeftOut(8, LeftOutReason.TOTAL, "Total"),
    )  # fmt: skip
    assert table.columns[4].stored == ["1,200.50 EUR", "(7) EUR", "n/a"]
    assert table.columns[1].stored is None
    assert table.citation == "a.xlsx#Sales!A3:F8"
    assert table.cite([5, 7]) == "a.xlsx#Sales!A5:F7"
    assert table.note == (
        "Left out: row 4 (units), row 8 (total). Empty cells whose formula has no saved value: 1. "
        "Texts in 'Cost', read as empty: 'n/a'."
    )


def test_totals_come_back_if_they_are_asked_for(index):
    table = index.table("a.xlsx#Sales", totals=True)
    assert (table.places, list(table.rows())[-1][0]) == ((5, 6, 7, 8), "Total")
    assert [each.reason for each in table.left_out] == ["units"]
    (hit,) = SheetRetriever(index, None).retrieve("region mass day paid", top_k=1)
    assert hit.table(totals=True) == replace(table, cited=hit.table().cited)


def test_codes_keep_their_zeros_and_another_table_is_named_by_place_or_range(index):
    table = index.table("a.xlsx#Sales", 1)
    assert list(table.rows()) == [("0013", 6.5), ("0014", 7), ("0015", 7.5)]
    assert index.table("a.xlsx#Sales", "i14:j15") == table


def test_a_record_of_a_transposed_table_is_a_column_of_its_sheet(index):
    table = index.table("a.xlsx#Facts")
    assert table.transposed
    assert table.names == ("Name", "Born", "City")
    assert list(table.rows()) == [("Ada", 1990, "Rome"), ("Bob", 1985, "Oslo")]
    assert table.places == (2, 3)
    assert table.cite([3]) == "a.xlsx#Facts!C1:C3"


def test_a_csv_is_a_table_as_well(index):
    table = index.table("staff.csv#staff")
    assert list(table.rows()) == [
        ("Ada", 41.5, dt.date(2024, 1, 2)),
        ("Bob", 7, dt.date(2024, 1, 3)),
    ]


def test_the_file_is_read_at_that_moment_and_the_result_says_that_it_changed(index, folder):
    (folder / "staff.csv").write_text("Name;Salary\nEve;99\n")
    table = index.table("staff.csv#staff")
    assert list(table.rows()) == [("Eve", 99)]
    assert table.changed
    assert table.note.startswith("The file has changed since it was indexed")
    shutil.rmtree(folder)
    with pytest.raises(PathNotFoundError, match="index it again"):
        index.table("staff.csv#staff")


def test_a_hit_gives_the_table_that_answers(index):
    hit = SheetRetriever(index, "links").retrieve("salary of staff", 1)[0]
    assert next(hit.table().rows())[0] == "Ada"
    assert asdict(hit)["record"]["sheet_id"] == "staff.csv#staff"
    assert pickle.loads(pickle.dumps(hit)) == copy.deepcopy(hit) == hit
    alone = Hit(1, 1.0, hit.record, Why((), (), 0.0, 0.0, 1, None))
    with pytest.raises(InputError, match="of no index"):
        alone.table()


def test_an_unknown_table_is_refused_with_those_that_there_are(index):
    for wrong in (2, -1, "Z99:Z100", "nonsense"):
        with pytest.raises(InputError, match=r"its tables: 0 \(A3:F8\), 1 \(I12:J15\)"):
            index.table("a.xlsx#Sales", wrong)
    with pytest.raises(InputError, match="knows no file"):
        index.table("b.xlsx#Sales")


def test_a_table_beyond_the_limit_gives_its_first_records_and_says_so(folder):
    record = next(r for r in read_workbook(folder / "a.xlsx").records if r.sheet == "Sales")
    table = load_table(folder / "a.xlsx", record, most=13)
    assert table.places == (5, 6)
    assert not table.complete
    assert "too large; rows at its end are missing" in table.note


def test_pandas_and_arrow_hold_the_same_with_their_own_types(index):
    table = index.table("a.xlsx#Sales")
    frame = table.to_pandas()
    assert list(frame.index) == [5, 6, 7]
    assert [str(kind) for kind in frame.dtypes] == [
        "string", "Float64", "datetime64[us]", "boolean", "Float64", "Int64",
    ]  # fmt: skip
    assert frame["Mass"].sum() == 15.5
    assert frame["Cost"].isna().tolist() == [False, False, True]
    arrow = table.to_arrow()
    assert arrow.column_names == ["_row", *table.names]
    assert [str(field.type) for field in arrow.schema] == [
        "int64", "string", "double", "date32[day]", "bool", "double", "int64",
    ]  # fmt: skip
    assert arrow.schema.field("Mass").metadata == {b"kind": b"number", b"unit": b"kg"}
    assert arrow.column("Cost").to_pylist() == [1200.5, -7, None]


@pytest.mark.parametrize(("module", "method"), [("pandas", "to_pandas"), ("pyarrow", "to_arrow")])
def test_a_missing_library_is_named_with_its_command(module, method, index, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(MissingExtraError, match=f"{module} is not installed; run: pip install"):
        getattr(index.table("a.xlsx#Facts"), method)()


def test_names_become_unique_whatever_their_case():
    assert unique_names(["a", "A", "a_2", "b"]) == ["a", "A_2", "a_2_2", "b"]
