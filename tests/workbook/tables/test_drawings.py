"""What is told of each row of a drawn table, and of rows that are hard to draw."""

from __future__ import annotations

import math

import pytest

from sat_retriever.records.area import Area
from sat_retriever.workbook.tables.records import find_tables
from sat_retriever.workbook.values.grid import Grid
from tests.workbook.tables.grids import drawings, drawn, remarks, told, written

DRAWINGS = drawings()
ACROSS = [name for name in DRAWINGS if name.startswith("fields in rows")]


@pytest.mark.parametrize("name", [name for name in DRAWINGS if name not in ACROSS])
def test_of_each_row_is_told_what_is_drawn(name):
    grid, merges, said = drawn(DRAWINGS[name])
    tables = told(grid, merges)
    assert remarks(grid, tables) == said
    heads = [row for row, why in said.items() if why == "header"]
    assert len(tables) == sum(row - 1 not in heads for row in heads)
    if len(heads) == len(tables):
        headers = [[str(cell or "") for cell in grid.rows[row - 1]] for row in heads]
        names = [[name + ".0" * name.isdigit() for name in table.names] for table in tables]
        assert sorted(names) == sorted(headers)


@pytest.mark.parametrize("name", ACROSS)
def test_a_table_with_fields_in_rows_is_read_across_and_keeps_all_of_them(name):
    grid, _, _ = drawn(DRAWINGS[name])
    (found,) = find_tables(grid)
    assert found.transposed
    assert [column.name for column in found.columns] == [row[0] for row in grid.rows]
    assert (found.num_rows, found.left_out) == (len(grid.rows[0]) - 1, ())


def test_the_title_of_a_header_is_no_record_where_it_comes_again():
    rows = [
        ["Region", "Sales", None, "Costs", None],
        [None, "2023", "2024", "2023", "2024"],
        ["north", 1.5, 2.5, 3.5, 4.5],
        ["Region", "Sales", None, "Costs", None],
        [None, "2023", "2024", "2023", "2024"],
        ["south", 5.5, 6.5, 7.5, 8.5],
    ]
    merges = [Area(1, 1, 2, 1), Area(1, 2, 1, 3), Area(1, 4, 1, 5)]
    merges += [Area(4, 1, 5, 1), Area(4, 2, 4, 3), Area(4, 4, 4, 5)]
    (found,) = told(Grid(rows), merges)
    assert found.left_out == {4: "repeated_header", 5: "repeated_header"}
    assert found.records == [3, 6]


@pytest.mark.parametrize("below", ["2024", "98", "98 | 1", "note | 99", "99\n | | 99"])
def test_numbers_below_a_table_that_do_not_sum_it_up_stay_outside(below):
    table = """
Item  | Town | Paid | Left
bolt  | Rome | 14   | yes
nut   | Oslo | 77   | no
screw | Lima | 8    | no
"""
    rows = written(f"{table}\n\n | | {below}")
    assert told(Grid(rows))[0].range == "A1:D4"
    rows = written(f"{table}\n\nin euros\n\n | | 99")
    assert told(Grid(rows))[0].range == "A1:D4"


@pytest.mark.parametrize("huge", [1e308, -1e308, math.inf, math.nan])
def test_huge_numbers_are_added_up_by_nobody(huge):
    rows = [["Item", "Stock", "Size"], *([f"bolt {n}", 100.5 + n, huge] for n in range(4))]
    (found,) = told(Grid([*rows, ["Total", 408.0, huge]]))
    assert found.left_out == {6: "total"}
    (found,) = told(Grid(rows))
    assert found.left_out == {}
