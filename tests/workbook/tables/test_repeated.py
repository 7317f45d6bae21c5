"""Headers that a table repeats, on each page or by joining files."""

from __future__ import annotations

import pytest

from sat_retriever.records.area import Area
from sat_retriever.workbook.typed import read_table_data
from sat_retriever.workbook.values.grid import Grid
from tests.workbook.tables.grids import remarks, told, written

REPEATED = {
    "words": """
Name | Town | Role
Ann  | Rome | cook
Bo   | Oslo | guard
Name | Town | Role   # repeated_header
Cy   | Lima | cook
Di   | Bern | pilot
""",
    "over numbers": """
Item  | Stock | Price
bolt  | 120   | 3.25
nut   | 80    | 4.5
Item  | Stock | Price  # repeated_header
screw | 305   | 2.75
Item  | Stock | Price  # repeated_header
rivet | 9     | 1
""",
    "in other letters": """
Item  | Stock | Price
bolt  | 120   | 3.25
nut   | 80    | 4.5
ITEM  | stock | "Price "  # repeated_header
screw | 305   | 2.75
""",
    "after a blank row": """
Item  | Stock | Price
bolt  | 120   | 3.25
nut   | 80    | 4.5

Item  | Stock | Price  # repeated_header
screw | 305   | 2.75
rivet | 9     | 1
""",
    "of two rows": """
      | Sales | Sales | Costs | Costs
Place | low   | high  | low   | high
north | 1.5   | 2.5   | 3.5   | 4.5
south | 5.5   | 6.5   | 7.5   | 8.5
      | Sales | Sales | Costs | Costs  # repeated_header
Place | low   | high  | low   | high   # repeated_header
east  | 1.25  | 2.25  | 3.25  | 4.25
""",
    "below another name in its empty corner": """
      | low  | high | mean
north | 1.5  | 2.5  | 2
south | 5.5  | 6.5  | 6
Tax   | low  | high | mean  # repeated_header
north | 0.25 | 0.5  | 0.4
south | 0.75 | 1    | 0.9
""",
    "with its units": """
Pipe | Length | Mass
     | m      | kg    # units
a    | 1.5    | 2.5
b    | 3.5    | 4.5
Pipe | Length | Mass  # repeated_header
     | m      | kg    # units
c    | 5.5    | 6.5
""",
    "as the last row": """
Item  | Stock | Price
bolt  | 120   | 3.25
nut   | 80    | 4.5
screw | 305   | 2.75
Item  | Stock | Price  # repeated_header
""",
    "below a total": """
Item  | Stock | Price
bolt  | 120   | 3.25
nut   | 80    | 4.5
Sum   | 200   | 7.75   # total
Item  | Stock | Price  # repeated_header
screw | 305   | 2.75
rivet | 9     | 1
""",
}
RECORDS = {
    "shares a text with the header": """
Name | Town | Points
Ann  | Rome | 12
Bo   | Bern | 31
Name | Oslo | 7
Cy   | Lima | 9
Di   | Rome | 14
Ed   | Lima | 22
""",
    "is the same as another": """
Name | Town | Role
Ann  | Rome | cook
Ann  | Rome | cook
Cy   | Lima | pilot
""",
}


@pytest.mark.parametrize("table", REPEATED.values(), ids=list(REPEATED))
def test_a_repeated_header_is_no_record(table):
    rows, said = written(table)
    (found,) = told(Grid(rows))
    assert {row: why.replace("subtotal", "total") for row, why in remarks([found]).items()} == said


@pytest.mark.parametrize("table", RECORDS.values(), ids=list(RECORDS))
def test_a_record_that_is_no_repeated_header_stays(table):
    rows, _ = written(table)
    (found,) = told(Grid(rows))
    assert found.left_out == {}
    assert found.records == list(range(2, len(rows) + 1))


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


@pytest.mark.parametrize("blank", ["", "\n"])
def test_files_that_were_joined_are_one_table(blank, tmp_path):
    part = "id,day,amount\n{0},2024-01-02,12.5\n{1},2024-01-03,7.25\n"
    text = blank.join(part.format(n, n + 1) for n in (1, 3, 5))
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    data = read_table_data(tmp_path / "a.csv", "a")
    assert {str(each.reason) for each in data.left_out} == {"repeated_header"}
    assert data.columns[0] == [1, 2, 3, 4, 5, 6]
    assert data.columns[2] == [12.5, 7.25] * 3
