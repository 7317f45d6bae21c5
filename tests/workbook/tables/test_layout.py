"""Where the header of a table is sought: below notes, above records of words, across or down."""

from __future__ import annotations

import pytest

from sat_retriever.workbook.tables.records import find_tables
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
    "words that recur": """
Site  | May     | June    | July
North | 120     | 80      | 40
East  | 1250    | 990     | 1300
South | Pending | Pending | Unknown
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
    "numbers of several sizes and one field of words": """
Model  | Alpha | Beta | Gamma
Weight | 12    | 14   | 9
Price  | 99    | 120  | 80
Colour | Red   | Blue | Green
""",
    "two records, the words in the first field": """
Product  | Chair | Table
Material | Oak   | Pine
Height   | 90    | 75
Width    | 45    | 60
Weight   | 7     | 9
""",
    "names in capitals over numbers": """
Item     | A-17  | B-04  | C-99
Stock    | 12    | 14    | 9
Price    | 3.5   | 4.5   | 2.25
Supplier | Smith | Jones | Brown
""",
    "dates first": """
Started | 2022-12-29   | 2015-03-27      | 2019-08-27
Budget  | 2745.24      | 448.49          | 3323.5
Manager | Raven Basalt | Pasture Estuary | Islet Valley
Spent   | 3124.84      | 3508.34         | 236.59
""",
    "dates and a field with many words": """
Town    | Rome Alto  | Oslo Nord  | Bern Bad   | Lima Sur   | Kyiv Lis
Hired   | 2016-10-27 | 2019-09-11 | 2020-08-30 | 2021-08-25 | 2020-07-06
Name    | Ann Lee    | Bob Ray    | Cy Fox     | Di Orr     | Eve Poe
Checked | 2022-11-27 | 2016-07-21 | 2015-10-07 | 2019-05-17 | 2021-10-15
""",
    "one record with numbers and a date": """
Customer | Acme
Orders   | 14
Amount   | 1200.5
Since    | 2019-05-01
""",
    "one record that begins with a sentence": """
Synopsis | A maple grows in the yard of an old house
Year     | 2023
Rating   | 0.54
Budget   | 1211.84
Title    | Anchor
Genre    | Delta
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
