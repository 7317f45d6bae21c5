import datetime as dt

import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import Column, SheetRecord, Table, read_workbook
from sat_retriever.links.join.sketches import value_hash
from sat_retriever.records.sheets import ColumnType
from sat_retriever.records.structure import SKETCH_SIZE
from sat_retriever.workbook.tables.sketches import (
    MAX_PROFILES_OF_SHEET,
    MAX_ROWS,
    column_profiles,
    key_text,
)
from sat_retriever.workbook.values.grid import CellError, Grid


def sheet(columns, rows, *, types, top=1, transposed=False, unit=None):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    area = f"A{top}:{letters[len(columns) - 1]}{top + len(rows) + (unit is not None)}"
    described = tuple(
        Column(name, None, kind, unit) for name, kind in zip(columns, types, strict=True)
    )
    table = Table(area, top, 1, transposed, len(rows), described)
    grid = [list(columns), *([[unit] * len(columns)] if unit else []), *map(list, rows)]
    return SheetRecord("a#s", "s", tables=(table,)), Grid(grid, top)


TEXT, INTEGER, NUMBER, DATE = (
    ColumnType.TEXT, ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.DATE,
)  # fmt: skip


def test_keys_are_profiled_and_measurements_are_not():
    rows = [("a", 1, 0.5, dt.datetime(2024, 1, 1)), ("B ", 2, 1.5, dt.datetime(2024, 1, 2))]
    record, grid = sheet("wxyz", rows, types=[TEXT, INTEGER, NUMBER, DATE])
    found = column_profiles(record, grid)
    assert [(each.table, each.column, each.values, each.distinct) for each in found] == [
        (0, 0, 2, 2),
        (0, 1, 2, 2),
        (0, 3, 2, 2),
    ]
    assert found[0].sketch == tuple(sorted(map(value_hash, ("a", "b"))))
    assert found[2].sketch == tuple(sorted(map(value_hash, ("2024-01-01", "2024-01-02"))))


def test_numbers_and_the_same_numbers_as_text_have_the_same_hashes():
    record, grid = sheet("ab", [(1, "1"), (2.0, "2.0"), (30, " 30 ")], types=[INTEGER, TEXT])
    numbers, texts = column_profiles(record, grid)
    assert numbers.sketch == texts.sketch
    assert numbers.distinct == 3


def test_the_sketch_is_the_smallest_hashes_of_all_values():
    values = [f"item {number}" for number in range(1_000)]
    record, grid = sheet("a", [(value,) for value in values * 2], types=[TEXT])
    [found] = column_profiles(record, grid)
    assert (found.values, found.distinct) == (2_000, 1_000)
    assert found.sketch == tuple(sorted({value_hash(value) for value in values})[:SKETCH_SIZE])


def test_headers_and_units_are_no_values():
    record, grid = sheet("a", [("x",), ("y",)], types=[TEXT], top=4, unit="kg")
    [found] = column_profiles(record, grid)
    assert found.values == 2
    assert found.sketch == tuple(sorted(map(value_hash, "xy")))


def test_prose_constants_errors_and_gaps_make_no_key():
    long = "word " * 20
    rows = [(long + "1", "same", CellError("#N/A"), None), (long + "2", "same ", None, None)]
    rows += [(long + "3", "SAME", None, None), ("short", None, None, ""), ("words", None, None, "")]
    record, grid = sheet("abcd", rows, types=[TEXT, TEXT, TEXT, TEXT])
    assert column_profiles(record, grid) == []


def test_only_the_first_rows_and_columns_are_looked_at():
    record, grid = sheet("a", [(number,) for number in range(MAX_ROWS + 10)], types=[INTEGER])
    assert column_profiles(record, grid)[0].values == MAX_ROWS
    wide = Table("A1:IV3", 1, 1, False, 2, (Column("x", None, INTEGER),) * 256)
    grid = Grid([["x"] * 256, [1] * 256, [2] * 256])
    found = column_profiles(SheetRecord("a#s", "s", tables=(wide,)), grid)
    assert len(found) == MAX_PROFILES_OF_SHEET


def test_transposed_tables_and_tables_beyond_the_grid_have_no_profiles():
    record, grid = sheet("ab", [("x", "y"), ("z", "v")], types=[TEXT, TEXT], transposed=True)
    assert column_profiles(record, grid) == []
    below = Table("C900:D950", 900, 1, False, 50, (Column("x", None, TEXT),) * 2)
    assert column_profiles(SheetRecord("a#s", "s", tables=(below,)), grid) == []


@given(st.one_of(st.text(), st.integers(), st.floats(), st.dates(), st.times(), st.booleans()))
def test_any_value_gives_a_short_text(value):
    assert len(key_text(value)) <= 64


@given(st.integers(-(10**9), 10**9))
def test_a_whole_number_has_one_text_in_every_form(number):
    assert key_text(number) == key_text(float(number)) == key_text(f" {number} ") == str(number)


@pytest.mark.parametrize("name", ["book.xlsx", "book.csv"])
def test_profiles_cross_to_the_caller_unless_values_or_links_are_off(tmp_path, name):
    path = tmp_path / name
    if name.endswith("csv"):
        path.write_text("key,price\n" + "".join(f"k{n},{n}.5\n" for n in range(50)))
    else:
        with xlsxwriter.Workbook(path) as book:
            tab = book.add_worksheet("book")
            tab.write_row(0, 0, ["key", "price"])
            for n in range(50):
                tab.write_row(n + 1, 0, [f"k{n}", n + 0.5])
    [found] = read_workbook(path).profiles
    assert (found.sheet, found.table, found.column, found.distinct) == ("book", 0, 0, 50)
    assert found.sketch == tuple(sorted(value_hash(f"k{n}") for n in range(50)))
    assert read_workbook(path, contents="names").profiles == ()
    assert read_workbook(path, links=False).profiles == ()
