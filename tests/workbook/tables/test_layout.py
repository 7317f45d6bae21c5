"""Where the header of a table is sought: below notes, above records of words, across or down."""

from __future__ import annotations

import pytest

from sat_retriever.workbook.tables.header import find_tables
from sat_retriever.workbook.values.grid import Grid
from tests.workbook.tables.grids import told, written

STOCK = written("""
Item  | Stock | Price | Sold | Left
bolt  | 120   | 3.25  | 7    | 113
nut   | 80    | 4.5   | 12   | 68
screw | 305   | 2.75  | 5    | 300
rivet | 9     | 1     | 2    | 7
""")[0]


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


DOWN = {
    "a list of names and numbers": """
Town | People
Rome | 2800
Oslo | 700
Bern | 140
""",
    "a list with words among its numbers": """
Town | People
Rome | 2800
Oslo | Unknown
Bern | 140
Kyiv | 2900
Lima | Not told
""",
    "keys and their values below a word for them": """
Setting | Value
Colour  | red
Size    | 12
Since   | 2024-03-01
""",
    "words in the first record": """
Shop  | Mon    | Tue
North | closed | open late
South | 33     | 71
East  | 12     | 80
""",
    "one row of words that begin as names do": """
Month | Plan    | Actual | Rest
Jan   | 120     | 80     | 40
Feb   | Pending | Late   | None
Mar   | 66      | 91     | 25
""",
    "one row of words among numbers": """
Month | Plan    | Actual | Rest
Jan   | 120     | 80     | 40
Feb   | pending | late   | none
Mar   | 66      | 91     | 25
Apr   | 12      | 34     | 22
""",
}
ACROSS = {
    "fields of three records": """
Model  | Alpha      | Beta       | Gamma
Net    | 1210.5     | 3020.5     | 7030.5
Tax    | 121        | 302        | 703
Total  | 1331.5     | 3322.5     | 7733.5
Since  | 2024-03-01 | 2024-04-01 | 2024-05-01
Colour | red        | blue       | green
Maker  | Ann        | Bo         | Cy
""",
    "a form": """
Title:  | Bridge
Start:  | 2024-05-01
Budget: | 5000
""",
}


@pytest.mark.parametrize("table", DOWN.values(), ids=list(DOWN))
def test_a_table_with_a_header_row_is_read_down(table):
    rows, _ = written(table)
    (found,) = told(Grid(rows))
    assert (found.names, found.left_out) == (rows[0], {})
    assert found.records == list(range(2, len(rows) + 1))


@pytest.mark.parametrize("table", ACROSS.values(), ids=list(ACROSS))
def test_a_table_with_fields_in_rows_is_read_across_and_keeps_all_of_them(table):
    rows, _ = written(table)
    (found,) = find_tables(Grid(rows))
    assert found.transposed
    assert [column.name for column in found.columns] == [row[0] for row in rows]
    assert (found.num_rows, found.left_out) == (len(rows[0]) - 1, ())


def test_a_table_among_running_text_is_found():
    text = "All of this was agreed at the meeting of the board, and nobody spoke against it."
    rows = [*[[text]] * 6, *written("""
Name | Role
Ann  | chair
Bo   | clerk
Cy   | guest
""")[0], *[[text]] * 6]  # fmt: skip
    ranges = {table.range: table.num_rows for table in find_tables(Grid(rows))}
    assert ranges.get("A7:B10") == 3


def test_running_text_is_one_table_without_a_header():
    text = "All of this was agreed at the meeting of the board, and nobody spoke against it."
    (found,) = find_tables(Grid([[text], [text], ["1.", text], [text], [text], ["2.", text]]))
    assert (found.header_row, found.num_rows, found.left_out) == (None, 6, ())
