"""Where the header of a table is sought: below notes, among running text."""

from __future__ import annotations

import pytest

from sat_retriever.workbook.tables.records import find_tables
from sat_retriever.workbook.values.grid import Grid
from tests.workbook.tables.grids import written

STOCK = written("""
Item  | Stock | Price | Sold | Left
bolt  | 120   | 3.25  | 7    | 113
nut   | 80    | 4.5   | 12   | 68
screw | 305   | 2.75  | 5    | 300
rivet | 9     | 1     | 2    | 7
""")


@pytest.mark.parametrize("count", [3, 12, 13, 60])
@pytest.mark.parametrize("note", [["Prices of day {}, without tax."], ["Depot {}", "North of {}"]])
def test_a_header_is_found_below_any_number_of_notes(note, count):
    notes = [[text.format(number) for text in note] for number in range(count)]
    found = find_tables(Grid([*notes, *STOCK]))[0]
    assert (found.range, found.header_row) == (f"A{count + 1}:E{count + 5}", count + 1)


def test_records_above_a_wide_row_are_no_notes():
    rows = [["Key", "Kind", "Value"], *([f"key {n}", "own", 1.5 + n] for n in range(40))]
    table = find_tables(Grid([*rows, ["wide", "own", *[7.5] * 6]]))[0]
    assert (table.header_row, table.num_rows) == (1, 41)


def test_a_table_among_running_text_is_found():
    text = "All of this was agreed at the meeting of the board, and nobody spoke against it."
    rows = [*[[text]] * 6, *written("""
Name | Role
Ann  | chair
Bo   | clerk
Cy   | guest
"""), *[[text]] * 6]  # fmt: skip
    ranges = {table.range: table.num_rows for table in find_tables(Grid(rows))}
    assert ranges.get("A7:B10") == 3


def test_running_text_is_one_table_without_a_header():
    text = "All of this was agreed at the meeting of the board, and nobody spoke against it."
    (found,) = find_tables(Grid([[text], [text], ["1.", text], [text], [text], ["2.", text]]))
    assert (found.header_row, found.num_rows, found.left_out) == (None, 6, ())
