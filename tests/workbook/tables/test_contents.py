"""The cells of a sheet to its contents."""

import datetime as dt

from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.records.area import Area, split_ref
from sat_retriever.records.contents import CellText, TableContents
from sat_retriever.records.privacy import EVERYTHING, Privacy
from sat_retriever.workbook.tables.contents import ROOM, contents_size, sheet_contents
from sat_retriever.workbook.tables.header import find_layouts
from sat_retriever.workbook.tables.notes import NOTE_ROOM
from sat_retriever.workbook.tables.records import describe_tables
from sat_retriever.workbook.values.cells import cells_of, plain_text
from sat_retriever.workbook.values.grid import CellError, Grid, Places

ORDERS = [
    ["Region", "Town", "Year", "Amount", "State"],
    ["North", "Riga", 2020, 17.5, "paid"],
    ["North", "Oslo", 2020, 3.25, "open"],
    ["South", "Rome", 2021, 4.75, "paid"],
    ["Total", None, None, 25.5, None],
]


def contents(grid, merges=(), privacy=EVERYTHING, room=ROOM):
    if not isinstance(grid, Grid):
        grid = Grid([list(row) for row in grid])
    cells = cells_of(grid, merges)
    placed = find_layouts(cells, ())
    layouts = [layout for layout, _ in placed]
    return sheet_contents(cells, layouts, describe_tables(cells, placed), privacy, room)


def pairs(texts):
    return [(each.cell, each.text) for each in texts]


def test_the_first_text_columns_are_labels_and_the_others_values():
    [table] = contents(ORDERS).tables
    assert pairs(table.labels) == [
        ("A2", "North"), ("A4", "South"), ("A5", "Total"),
        ("B2", "Riga"), ("B3", "Oslo"), ("B4", "Rome"),
    ]  # fmt: skip
    assert pairs(table.values) == [("C2", "2020"), ("C4", "2021"), ("E2", "paid"), ("E3", "open")]
    assert contents(ORDERS).notes == ()


def test_a_number_before_the_first_text_column_is_a_value():
    rows = [["No.", "Name", "Age"], [1, "Ada", 30], [2, "Bob", 40], [3, "Cy", 50]]
    [table] = contents(rows).tables
    assert pairs(table.labels) == [("B2", "Ada"), ("B3", "Bob"), ("B4", "Cy")]
    assert pairs(table.values) == [("A2", "1"), ("A3", "2"), ("A4", "3")]


def test_titles_captions_and_notes_have_their_addresses_also_in_a_shifted_grid():
    rows = [["Orders of 2020"], [], *ORDERS, [], ["Source: the ledger"]]
    found = contents(Grid([list(row) for row in rows], 11, 3))
    [table] = found.tables
    assert table.caption == CellText("C11", "Orders of 2020")
    assert table.labels[0] == CellText("C14", "North")
    assert pairs(found.notes) == [("C19", "Source: the ledger")]


def test_two_tables_keep_their_texts_apart():
    people = [["Name", "Age"], ["Ada", 30], ["Bob", 40]]
    rows = [["Orders"], *ORDERS, [], [], ["People"], *people]
    first, second = contents(rows).tables
    assert (first.caption.text, second.caption.text) == ("Orders", "People")
    assert [text.text for text in second.labels] == ["Ada", "Bob"]


def test_a_table_laid_out_sideways_has_labels_by_row():
    rows = [["Name", "Ada", "Bob", "Cy"], ["Age", 30, 40, 50], ["Town", "Riga", "Oslo", "Rome"]]
    [table] = contents(rows).tables
    assert pairs(table.labels) == [("B1", "Ada"), ("C1", "Bob"), ("D1", "Cy")]
    assert pairs(table.values) == [("B3", "Riga"), ("C3", "Oslo"), ("D3", "Rome")]


def test_a_merged_label_is_told_once_with_its_own_cell():
    rows = [ORDERS[0], ORDERS[1], [None, *ORDERS[2][1:]], ORDERS[3]]
    [table] = contents(rows, [Area(2, 1, 3, 1)]).tables
    assert pairs(table.labels)[:2] == [("A2", "North"), ("A4", "South")]


def test_a_table_without_a_header_loses_no_row():
    [table] = contents([["b", 1.5, 2], ["a", 2.5, 3], ["b", 3.5, 4], ["c", 4.5, 5]]).tables
    assert pairs(table.labels) == [("A1", "b"), ("A2", "a"), ("A4", "c")]


def test_a_page_of_prose_has_notes_alone():
    lines = [f"This is the sentence number {n} of a page that explains." for n in range(6)]
    found = contents([[line] for line in lines])
    assert [note.text for note in found.notes] == lines
    assert found.tables == (TableContents(),)


def test_formulas_without_values_above_the_first_row_shift_nothing():
    grid = Grid([list(row) for row in ORDERS], 5, 3, Places(9, [(2, 1), (3, 2), (40, 9)]))
    cells = {each.cell: each.text for table in contents(grid).tables for each in table}
    assert (cells["C6"], cells["D8"]) == ("North", "Rome")


def test_an_empty_sheet_has_no_contents():
    assert not contents([])
    assert not contents([[None, None]])


def test_skipped_columns_leave_no_text_and_the_others_keep_theirs():
    [table] = contents(ORDERS, privacy=Privacy(skip_columns="town|state")).tables
    assert {each.cell[0] for each in table} == {"A", "C"}


def test_a_text_of_row_90_000_is_kept_as_likely_as_one_of_the_first_rows():
    rows = [["Name", "Town", "Amount"]]
    rows += [[f"customer {n}", ("Riga", "Oslo", "Rome")[n % 3], n + 0.5] for n in range(95_000)]
    found = contents(rows)
    assert contents_size(found) <= ROOM
    [table] = found.tables
    assert {"Riga", "Oslo", "Rome"} <= {each.text for each in table}
    kept = [split_ref(each.cell)[0] for each in table if each.text.startswith("customer")]
    assert len(kept) > 3000
    assert 0.9 < sum(row > 47_500 for row in kept) / sum(row <= 47_500 for row in kept) < 1.1


def test_a_hostile_sheet_of_long_texts_stays_within_its_bounds():
    wide = [["x" * 50 + f"{row},{column}" for column in range(300)] for row in range(60)]
    scattered = [[f"note {n}" if n % 3 == c % 3 else None for c in range(200)] for n in range(200)]
    for rows in (wide, scattered):
        found = contents(rows)
        assert contents_size(found) <= ROOM
        assert sum(len(note.text) for note in found.notes) <= NOTE_ROOM


VALUES = st.one_of(
    st.none(),
    st.text(max_size=30),
    st.sampled_from(["Region", "Riga", "Table 1: Towns", "n/a", "a\nb"]),
    st.integers(-10, 10**7),
    st.floats(allow_nan=False),
    st.integers(1990, 2030),
    st.booleans(),
    st.datetimes(dt.datetime(1990, 1, 1), dt.datetime(2030, 1, 1)),
    st.sampled_from([CellError("#DIV/0!")]),
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.lists(VALUES, max_size=7), max_size=14),
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 12)), max_size=5),
    st.sampled_from([ROOM, 100, 0]),
)
def test_every_text_stands_in_its_cell_and_all_fit(rows, formulas, room):
    rows = [[None if value == "" else value for value in row] for row in rows]
    grid = Grid(rows, 5, 2, Places(99, formulas))
    merges = [Area(5, 2, 5, 4), Area(6, 3, 8, 3)]
    found = contents(grid, merges, room=room)
    assert found == contents(grid, merges, room=room)
    assert contents_size(found) <= room
    for each in (*found.notes, *(text for table in found.tables for text in table)):
        row, col = split_ref(each.cell)
        value = rows[row - 5][col - 2]
        assert not isinstance(value, bool | CellError)
        assert each.text
        assert each.text in plain_text(value)
    for table in found.tables:
        for part in (table.values, found.notes):
            assert len({each.text for each in part}) == len(part)
