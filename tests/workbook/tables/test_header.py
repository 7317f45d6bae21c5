"""Where tables are found on a sheet, and what is taken for their header."""

import datetime as dt
import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.reading.sheets import make_sheets
from sat_retriever.records.area import Area
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.sheets import ColumnType
from sat_retriever.records.structure import TableObject
from sat_retriever.workbook.tables.header import MAX_TABLES
from sat_retriever.workbook.tables.records import find_tables
from sat_retriever.workbook.values.grid import CellError, Grid, Places

PEOPLE = [
    ["Name", "Age", "Joined"],
    ["Ann Lee", 31.0, dt.datetime(2020, 1, 5)],
    ["Bo Chan", 45.0, dt.datetime(2021, 7, 9)],
    ["Cy Diaz", 28.0, dt.datetime(2019, 3, 2)],
]
STOCK = [
    ["Item", "Stock", "Price"],
    ["bolt", 120.0, 0.25],
    ["nut", 80.0, 0.1],
    ["screw", 300.0, 0.05],
    ["washer", 150.0, 0.02],
    ["rivet", 90.0, 0.03],
]


def names(table):
    return [column.name for column in table.columns]


def beside(left, right, gap=1):
    height = max(len(left), len(right))
    left = [*left, *([[None] * len(left[0])] * (height - len(left)))]
    right = [*right, *([[None] * len(right[0])] * (height - len(right)))]
    return [[*a, *[None] * gap, *b] for a, b in zip(left, right, strict=True)]


def only(rows, **options):
    (table,) = find_tables(Grid(rows), **options)
    return table


def without_numbers(sheet):
    """A made sheet whose numbers below the headers are formulas that nobody calculated."""
    grid, formulas = sheet.grid(), []
    for truth in sheet.tables:
        area, height = truth.area, truth.header_height
        top = area.top if truth.transposed else area.top + height
        left = area.left + 1 if truth.transposed else area.left
        for row in range(top, area.bottom + 1):
            line = grid.rows[row - grid.first_row]
            for col in range(left, area.right + 1):
                if type(line[col - grid.first_col]) in (int, float):
                    line[col - grid.first_col] = None
                    formulas.append((row, col))
    return replace(grid, unsaved=Places(len(formulas), formulas))


def test_made_sheets_have_the_same_tables_when_their_numbers_are_not_calculated():
    sheets = make_sheets("tuning", 1, 3)
    right = [(sheet.tables[0].area.a1(), sheet.tables[0].header_row) for sheet in sheets]
    found = [
        find_tables(without_numbers(sheet), sheet.merges, sheet.objects)[0] for sheet in sheets
    ]
    assert [(table.range, table.header_row) for table in found] == right


def test_an_empty_grid_has_no_tables():
    assert find_tables(Grid([])) == ()
    assert find_tables(Grid([[None, None], []])) == ()


def test_a_plain_table_has_its_first_row_as_header():
    table = only(PEOPLE)
    assert (table.range, table.header_row, table.header_height) == ("A1:C4", 1, 1)
    assert names(table) == ["Name", "Age", "Joined"]
    assert [column.type for column in table.columns] == [
        ColumnType.TEXT,
        ColumnType.INTEGER,
        ColumnType.DATE,
    ]
    assert [column.example for column in table.columns] == ["Ann Lee", "31", "2020-01-05"]
    assert table.num_rows == 3
    assert not table.transposed


def test_addresses_count_from_the_grid_origin():
    (table,) = find_tables(Grid(PEOPLE, first_row=7, first_col=3))
    assert (table.range, table.header_row) == ("C7:E10", 7)


def test_merged_headers_are_spread_and_joined_top_down():
    rows = [
        ["Region", "Sales", None, "Costs", None],
        [None, "2023", "2024", "2023", "2024"],
        ["north", 1.5, 2.5, 3.5, 4.5],
        ["south", 5.5, 6.5, 7.5, 8.5],
    ]
    merges = [Area(1, 1, 2, 1), Area(1, 2, 1, 3), Area(1, 4, 1, 5)]
    table = only(rows, merges=merges)
    assert (table.header_row, table.header_height, table.num_rows) == (1, 2, 2)
    assert names(table) == [
        "Region",
        "Sales / 2023",
        "Sales / 2024",
        "Costs / 2023",
        "Costs / 2024",
    ]


def test_a_title_merged_over_the_whole_table_is_no_header():
    table = only([["Quarterly report", None, None], *PEOPLE], merges=[Area(1, 1, 1, 3)])
    assert (table.header_row, table.header_height) == (2, 1)


def test_side_by_side_tables_are_told_apart_and_the_larger_comes_first():
    small, large = find_tables(Grid(beside(PEOPLE, STOCK)))[::-1]
    assert (large.range, small.range) == ("E1:G6", "A1:C4")
    assert names(large) == ["Item", "Stock", "Price"]
    assert names(small) == ["Name", "Age", "Joined"]


REPORT = [
    ["Point", None, None, "Gas", None, None, "Water", "Sand"],
    ["North", None, None, 10.5, None, None, 4.0, 0.5],
    ["South", None, None, 12.5, None, None, 3.0, 0.25],
    ["West", None, None, 8.5, None, None, 5.0, 0.75],
]


def test_columns_that_merged_cells_fill_do_not_cut_a_table():
    merges = [Area(row, left, row, left + 2) for row in range(1, 5) for left in (1, 4)]
    table = only(REPORT, merges=merges)
    assert (table.range, table.header_row, table.num_rows) == ("A1:H4", 1, 3)


def test_a_title_merged_over_two_tables_does_not_join_them():
    tables = find_tables(Grid([["Works"], *beside(PEOPLE, STOCK)]), [Area(1, 1, 1, 7)])
    assert {"E2:G7", "A2:C5"} <= {table.range for table in tables}


def test_numbers_without_keys_beside_a_table_belong_to_it():
    first = [["Year", "Mode"], *([f"{2000 + n} to date", "Paper"] for n in range(6))]
    rates = [["Share", "Error"], *([n / 8, n / 64] for n in range(6))]
    table = only(beside(beside(first, rates), [["Seen", "Sent"], *rates[1:]]))
    assert (table.range, table.header_row, table.num_rows) == ("A1:H7", 1, 6)
    assert len(find_tables(Grid(beside(first, rates[:3])))) == 2


def test_a_header_apart_from_its_data_may_be_narrower_than_what_follows_these():
    rows = [[None, *row] for row in STOCK]
    table = only([rows[0], [], *rows[1:], ["<end>"]])
    assert (table.range, table.header_row, table.num_rows) == ("B1:D7", 1, 5)


def test_a_header_apart_from_its_data_may_end_with_a_lone_text_and_a_merged_cell():
    rows = [*STOCK[:1], [None, "(a)"], [], *([*row, "each"] for row in STOCK[1:])]
    table = only(rows, merges=[Area(1, 3, 1, 4)])
    assert (table.range, table.header_row, table.num_rows) == ("A1:D8", 1, 5)


def test_keys_beside_their_values_are_read_as_a_transposed_table():
    rows = [
        ["Title:", "Bridge"],
        ["Start:", dt.datetime(2024, 5, 1)],
        ["Budget:", 5000.0],
        ["Open:", True],
    ]
    table = only(rows)
    assert table.transposed
    assert table.header_row is None
    assert names(table) == ["Title:", "Start:", "Budget:", "Open:"]
    assert [column.type for column in table.columns] == [
        ColumnType.TEXT,
        ColumnType.DATE,
        ColumnType.INTEGER,
        ColumnType.BOOLEAN,
    ]
    assert table.num_rows == 1


def test_records_laid_out_in_columns_are_read_as_a_transposed_table():
    table = only([list(line) for line in zip(*PEOPLE, strict=True)])
    assert table.transposed
    assert names(table) == ["Name", "Age", "Joined"]
    assert (table.num_rows, table.range) == (3, "A1:D3")
    assert table.columns[1].example == "31"


def test_dates_across_are_headers_in_iso_form():
    months = [dt.datetime(2024, month, 1) for month in range(1, 5)]
    rows = [["Account", *months], ["rent", 1.0, 2.0, 3.0, 4.0], ["power", 5.0, 6.0, 7.0, 8.0]]
    assert names(only(rows)) == ["Account", "2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"]


def test_data_from_the_first_row_on_has_no_header():
    table = only([[1.0, "x7", 2.5], [2.0, "y8", 3.5], [3.0, "z9", 0.5]])
    assert (table.header_row, table.header_height, table.transposed) == (None, 0, False)
    assert names(table) == ["", "", ""]
    assert (table.range, table.num_rows) == ("A1:C3", 3)


def test_texts_that_come_again_below_are_data_and_no_header():
    rows = [["ann@x.org", "North"], ["bo@x.org", "South"], ["cy@x.org", "North"]] * 2
    assert only(rows).header_row is None


def test_a_row_of_units_becomes_the_columns_units():
    rows = [["Pipe", "Length", "Mass"], [None, "m", "(kg)"], ["a", 1.5, 2.5], ["b", 3.5, 4.5]]
    table = only(rows)
    assert [column.unit for column in table.columns] == [None, "m", "(kg)"]
    assert (table.header_height, table.num_rows) == (1, 2)
    assert table.columns[1].example == "1.5"


def test_declared_tables_are_trusted():
    rows = [["alpha", "beta"], ["one", "two"], ["one", "three"], ["all", "all"]]
    item = TableObject("Words", Area(1, 1, 4, 2), 1, 1, ("alpha", "beta"))
    table = only(rows, table_objects=[item])
    assert (table.name, table.range, table.header_row, table.num_rows) == ("Words", "A1:B4", 1, 2)
    headless = TableObject("Words", Area(1, 1, 4, 2), header_rows=0)
    assert only(rows, table_objects=[headless]).header_row is None


def test_a_declared_table_has_the_names_of_its_cells_and_declared_ones_where_there_are_none():
    rows = [["Handle\nBars", None, 2024.0], [3.0, 4.0, 5.0]]
    declared = ("Handle_x000a_Bars", "Seat", "2024")
    table = only(rows, table_objects=[TableObject("Bikes", Area(1, 1, 2, 3), 1, 0, declared)])
    assert names(table) == ["Handle Bars", "Seat", "2024"]
    headless = TableObject("Bikes", Area(2, 1, 2, 3), 0, 0, ("Bars", "Seat", "Year"))
    assert names(find_tables(Grid(rows), table_objects=[headless])[0]) == ["Bars", "Seat", "Year"]


def test_a_declared_table_does_not_hide_the_others():
    item = TableObject("People", Area(1, 1, 4, 3))
    tables = find_tables(Grid(beside(PEOPLE, STOCK)), table_objects=[item])
    assert [(table.range, table.name) for table in tables] == [("E1:G6", None), ("A1:C4", "People")]


def test_a_declared_table_outside_the_grid_is_left_out():
    item = TableObject("Gone", Area(50, 1, 60, 3))
    assert [table.name for table in find_tables(Grid(PEOPLE), table_objects=[item])] == [None]


def test_a_row_of_names_alone_is_a_header_without_records():
    table = only([["Invoice", "Vendor", "Amount"]])
    assert (table.header_row, table.num_rows) == (1, 0)
    assert names(table) == ["Invoice", "Vendor", "Amount"]
    assert {column.type for column in table.columns} == {ColumnType.EMPTY}


def test_a_single_row_of_values_has_no_header():
    assert only([["x", 1.0, 2.5, 3.5]]).header_row is None


def test_a_single_column_can_have_a_header():
    table = only([["Reading"], [1.5], [2.5], [3.5]])
    assert (table.header_row, table.range, table.num_rows) == (1, "A1:A4", 3)
    assert only([[1.5], [2.5], [3.5]]).header_row is None
    assert only([["Fruit"], ["apple"], ["plum"], ["apple"]]).header_row == 1
    assert only([["apple"], ["plum"], ["cherry"]]).header_row is None


def test_a_key_without_colon_over_texts_only_is_read_as_a_form():
    rows = [["Company", "ACME"], ["Street", "1 Main St"], ["City", "Rome"], ["Phone", "555-1234"]]
    table = only(rows)
    assert table.transposed
    assert names(table) == ["Company", "Street", "City", "Phone"]


def test_keys_with_colons_are_a_form_even_over_texts_only():
    table = only([["Name:", "Ann"], ["City:", "Rome"], ["Team:", "Blue"]])
    assert (table.transposed, names(table)) == (True, ["Name:", "City:", "Team:"])


def test_names_beside_categories_are_records_and_no_form():
    people = ["Ann Lee", "Bo Chan", "Cy Diaz", "Di Ek", "Ed Fox", "Fay Gao"]
    rows = [[name, ("North", "South")[i % 2]] for i, name in enumerate(people)]
    table = only(rows)
    assert (table.transposed, table.header_row, table.num_rows) == (False, None, 6)


def test_a_table_with_a_header_is_the_main_one_before_slightly_more_bare_numbers():
    numbers = [[float(i * j + i) for j in range(4)] for i in range(6)]
    main, other = find_tables(Grid([*STOCK, *[[]] * 6, *numbers]))
    assert (main.range, main.header_row) == ("A1:C6", 1)
    assert (other.range, other.header_row) == ("A13:D18", None)


def test_a_table_is_the_main_one_before_a_somewhat_longer_list_of_keys_and_values():
    codes = [
        [f"Branch {letter}", f"{letter} works of the {letter} kind"] for letter in "ABCDEFGHIJK"
    ]
    found = find_tables(Grid([*STOCK, [], [], *codes]))
    assert [table.range for table in found] == ["A1:C6", "A9:B19"]


def test_much_prose_beside_a_table_stays_one_block():
    notes = [[f"This is remark number {n} about the list.", None] for n in range(6)]
    notes += [[None, None], ["Source:", "National statistics office"]]
    notes += [[None, "Table 3 of the yearbook"], ["One last remark stands here.", None]]
    table = [row[:2] for row in [*STOCK, *STOCK[1:]]]
    tables = find_tables(Grid(beside(notes, table, gap=2)))
    assert [table.range for table in tables] == ["E1:F11", "A1:B10"]


def test_prose_beside_a_larger_table_gives_no_tables():
    notes = [
        ["About the list of items at the right", None],
        ["Source:", "National statistics office"],
        [None, "Table 3 of the yearbook, page 17"],
        [None, None],
        ["The figures were converted by hand to other units.", None],
        ["Rows that were empty in the source were left out.", None],
    ]
    tables = find_tables(Grid(beside(notes, STOCK, gap=2)))
    assert [(table.range, table.header_row) for table in tables] == [("E1:G6", 1)]


def test_a_page_of_prose_is_one_table_without_header():
    rows = [
        ["About this workbook"],
        [],
        ["Source:", "National statistics office"],
        [None, "Table 3 of the yearbook"],
        [],
        ["The figures were converted from the original units by hand."],
        ["Rows that were empty in the source have been left out here."],
    ]
    table = only(rows)
    assert (table.range, table.header_row) == ("A1:B7", None)
    assert table.columns[0].example == "About this workbook"


def test_headers_are_one_line_without_errors_and_at_most_120_characters():
    rows = [[" Unit\n  price ", CellError("#REF!"), "x" * 200, 7.0]]
    rows += [[0.5, 1.5, 2.5, 3.5], [4.5, 5.5, 6.5, 7.5]]
    item = TableObject("T", Area(1, 1, 3, 4))
    assert names(only(rows, table_objects=[item])) == ["Unit price", "", "x" * 120, "7"]


def test_without_examples_no_value_of_a_data_cell_is_kept():
    rows = [
        ["Name", "Spend", "Note"],
        *[[f"secret {n}", 777000.5 + n, f"hidden text {n}"] for n in range(9)],
    ]
    kept = json.dumps(to_json(find_tables(Grid(rows), privacy=Privacy(ContentsPolicy.NAMES))))
    assert "Spend" in kept
    for trace in ("secret", "777", "hidden"):
        assert trace not in kept
        assert trace in json.dumps(to_json(find_tables(Grid(rows)))) or trace != "777"


def test_of_free_text_an_encoder_reads_a_typed_placeholder():
    rows = [["Author", "Pages"], *[[f"Alan Smithee the {n}th", 10.0 + n] for n in range(12)]]
    columns = only(rows).columns
    assert [column.example for column in columns] == ["Alan Smithee the 0th", "10"]
    assert [column.encoded for column in columns] == ["Author_0001", None]


def test_no_more_than_64_tables_are_kept():
    rows = [row for _ in range(80) for row in [*STOCK, *[[]] * 6]]
    assert len(find_tables(Grid(rows))) == MAX_TABLES


def test_one_very_wide_row_does_not_cost_the_other_rows():
    rows = [["Reading"], *[[float(n)] for n in range(4_000)], [1.0] * 16_000]
    assert max(table.num_rows for table in find_tables(Grid(rows))) >= 4_000


VALUES = st.one_of(
    st.none(),
    st.text(max_size=12),
    st.sampled_from(["Total", "kg", "Name", "#", "2020", "a b c", " "]),
    st.floats(),
    st.integers(-3000, 3000),
    st.booleans(),
    st.datetimes(),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.sampled_from([CellError("#DIV/0!"), CellError("#N/A")]),
)


@settings(max_examples=150)
@given(
    st.lists(st.lists(VALUES, max_size=7), max_size=12),
    st.sampled_from(ContentsPolicy),
    st.lists(st.tuples(st.integers(1, 20), st.integers(1, 12)), max_size=9),
)
def test_any_grid_gives_the_same_sound_tables_twice(rows, kept, formulas):
    rows = [[None if value == "" else value for value in row] for row in rows]
    merges = [Area(1, 1, 1, 3), Area(2, 2, 4, 2)]
    grid = Grid(rows, 5, 2, Places(99, formulas))
    privacy = Privacy(kept)
    tables = find_tables(grid, merges, privacy=privacy)
    assert tables == find_tables(grid, merges, privacy=privacy)
    held = any(value is not None for row in rows for value in row)
    assert bool(tables) == (held or bool(formulas))
    for table in tables:
        assert table.columns
        assert table.num_rows >= 0
        assert (table.header_row is None) == (table.header_height == 0)
        last = max([4 + len(rows), *(row for row, _col in formulas)])
        assert table.header_row is None or 1 <= table.header_row <= last
        assert privacy.examples or all(column.example is None for column in table.columns)
    json.dumps(to_json(tables))
