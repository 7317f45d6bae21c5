"""Headings of records between the rows of a table, and the section of each record."""

from __future__ import annotations

import pytest
import xlsxwriter

from sat_retriever.records.area import Area
from sat_retriever.workbook.typed import read_table_data
from sat_retriever.workbook.values.grid import Grid
from tests.workbook.tables.grids import remarks, told, written

SECTIONS = {
    "merged across": """
Item   | Stock | Price
Metal  |       |       # section
bolt   | 120   | 3.25
nut    | 80    | 4.5
Wood   |       |       # section
plank  | 305   | 2.75
""",
    "above the first record, and each with records": """
Name   | Town | Role
Retail |      |       # section
Ann    | Rome | cook
Bo     | Oslo | guard
Depot  |      |       # section
Cy     | Lima | cook
""",
    "in a column of numbers": """
No      | Text         | Owner
General |              |       # section
1       | is quick     | Ann
2       | is safe      | Bo
Screens |              |       # section
3       | has a button | Ann
4       | has a menu   | Cy
""",
    "alone in a column of numbers": """
No      | Text         | Owner
1       | is quick     | Ann
2       | is safe      | Bo
Screens |              |       # section
3       | has a button | Ann
4       | has a menu   | Cy
""",
    "alone in a column that records leave empty": """
Group | Item  | Stock
      | bolt  | 120
      | nut   | 80
Wood  |       |        # section
      | plank | 305
""",
    "in a column that records leave empty": """
Group | Item  | Stock
Metal |       |        # section
      | bolt  | 120
      | nut   | 80
Wood  |       |        # section
      | plank | 305
""",
    "in the middle only, over indented records": """
Account    | 2023 | 2024
"  rent"   | 12   | 13
"  power"  | 5    | 6
Staff      |      |       # section
"  wages"  | 77   | 78
"  travel" | 3    | 2
""",
    "with a subtotal each": """
No      | Item  | Stock
Metal   |       |       # section
1       | bolt  | 120
2       | nut   | 80
Sum     |       | 200   # total
Wood    |       |       # section
3       | plank | 305
4       | pole  | 17
Sum     |       | 322   # total
""",
}
MERGED = {"merged across": [Area(2, 1, 2, 3), Area(5, 1, 5, 3)]}
RECORDS = {
    "a record of which only the name is known": """
Name | Age | Town
Ann  | 31  | Rome
Bo   |     |
Cy   | 28  | Oslo
Di   | 40  | Lima
""",
    "names alone in the first and the last record": """
Name | Age | Town
Ann  |     |
Bo   | 45  | Rome
Cy   | 28  | Oslo
Di   |     |
""",
    "names alone between records": """
Name | Age | Town
Ann  | 31  | Rome
Bo   |     |
Cy   | 28  | Oslo
Di   |     |
Ed   | 40  | Lima
""",
    "two names alone below each other": """
Name | Age | Town
Ann  | 31  | Rome
Bo   |     |
Cy   |     |
Di   | 40  | Lima
""",
    "a lone number": """
No | Age | Town
1  | 31  | Rome
2  |     |
3  | 28  | Oslo
""",
    "one column": """
Fruit
apple
plum
apple
""",
}


@pytest.mark.parametrize("kind", SECTIONS)
def test_a_heading_is_a_section_and_no_record(kind):
    rows, said = written(SECTIONS[kind])
    (found,) = told(Grid(rows), MERGED.get(kind, ()))
    assert {row: why.replace("subtotal", "total") for row, why in remarks([found]).items()} == said


@pytest.mark.parametrize("table", RECORDS.values(), ids=list(RECORDS))
def test_a_record_of_a_name_alone_stays_a_record(table):
    rows, _ = written(table)
    (found,) = told(Grid(rows))
    assert found.left_out == {}
    assert len(found.records) == len(rows) - 1


def save(path, rows, merges=()):
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet("Sheet")
        for row, line in enumerate(rows):
            for col, value in enumerate(line):
                if value is not None:
                    page.write(row, col, value)
        for area, value in merges:
            page.merge_range(area, value)
    return read_table_data(path, "Sheet")


def test_each_record_has_the_heading_above_it_and_the_first_ones_may_have_none(tmp_path):
    rows = [
        ["Item", "Stock", "Price"],
        ["glue", 7, 1.5],
        ["Metal"],
        ["bolt", 120, 3.25],
        ["nut", 80, 4.5],
        [],
        ["Wood"],
        ["Long"],
        ["plank", 305, 2.75],
        ["Total", 512, 12],
    ]
    merges = [("A3:C3", "Metal"), ("A7:C7", " Wood\n and more "), ("A8:C8", "Long")]
    data = save(tmp_path / "a.xlsx", rows, merges)
    assert data.sections == (None, "Metal", "Metal", "Wood and more / Long")
    assert data.records == (2, 4, 5, 9)
    reasons = [(each.row, str(each.reason)) for each in data.left_out]
    assert reasons == [(3, "section"), (7, "section"), (8, "section"), (10, "total")]


def test_a_table_without_headings_tells_no_sections(tmp_path):
    assert save(tmp_path / "a.xlsx", [["Item", "Stock"], ["bolt", 1], ["nut", 5]]).sections is None


def test_a_label_merged_over_the_rows_of_records_is_no_heading(tmp_path):
    rows = [["Region", "Town", "Stock"], ["North", "a", 1], [None, "b", 9], [None, "c", 4]]
    rows += [["South", "d", 1], [None, "e", 3], [None, None, None]]
    data = save(tmp_path / "a.xlsx", rows, [("A2:A4", "North"), ("A5:A6", "South")])
    assert (data.left_out, data.sections) == ((), None)
    assert data.columns[0] == ["North"] * 3 + ["South"] * 2


def test_a_text_beside_a_merged_label_is_no_heading(tmp_path):
    rows = [["Region", "Town", "Stock"], ["North", "  a", 1], [None, "b"], [None, "  c", 4]]
    rows += [["South", "  d", 1], ["East", "  e", 3]]
    data = save(tmp_path / "a.xlsx", rows, [("A2:A4", "North")])
    assert (data.left_out, data.records) == ((), (2, 3, 4, 5, 6))
