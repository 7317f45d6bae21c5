"""Where tables are cut, and where words among numbers or texts among texts cut none."""

from __future__ import annotations

import pytest

from sat_retriever.workbook.values.grid import Grid
from tests.workbook.tables.grids import told, written

WHOLE = {
    "no value in all columns": """
Site | Lead | Zinc
A1   | 0.5  | 12
A2   | 0.7  | 14
A3   | n.d. | n.d.
A4   | 0.4  | 11
A5   | 0.9  | 10
""",
    "closed for all days": """
Shop  | Mon    | Tue    | Wed
North | 120    | 80     | 45
South | 33     | 71     | 12
East  | closed | closed | closed
West  | 66     | 91     | 87
Mid   | 12     | 34     | 56
""",
    "several words, written small": """
Shop  | Mon      | Tue
North | 120      | 80
South | 33       | 71
East  | sold out | closed
West  | 66       | 91
Mid   | 12       | 34
""",
    "words in the first record": """
Shop  | Mon    | Tue    | Wed
North | closed | closed | closed
South | 33     | 71     | 12
East  | 120    | 80     | 45
West  | 66     | 91     | 87
""",
    "words that recur": """
Lab | First | Second
a   | 1.5   | 2.5
b   | Weak  | Strong
c   | 3.5   | 4.5
d   | 0.5   | 7.5
e   | 2.25  | 1.75
f   | 6.5   | 8.5
g   | 1.25  | 3.25
h   | 5.5   | 9.5
i   | Weak  | Strong
j   | 9.25  | 0.75
""",
    "several words below the heading of a section": """
Shop  | Mon      | Tue
North | 120      | 80
South | 33       | 71
Depots of the west
East  | sold out | closed
West  | 66       | 91
Mid   | 12       | 34
""",
    "one row of words that stand nowhere else": """
Lab | First | Second
a   | 1.5   | 2.5
b   | Weak  | Strong
c   | 3.5   | 4.5
d   | 0.5   | 7.5
e   | 2.25  | 1.75
""",
    "below a limit": """
Well | Lead  | Zinc
W1   | 0.07  | 1.2
W2   | <0.05 | <0.5
W3   | 0.09  | 1.4
W4   | 0.06  | 1.1
""",
    "closed in two of five rows": """
Shop  | Mon    | Tue    | Wed
North | 120    | 80     | 45
South | closed | closed | closed
East  | closed | closed | closed
West  | 66     | 91     | 87
Mid   | 12     | 34     | 56
""",
    "a text table that goes on with a known town": """
Name | Town | Team
Ann  | Rome | Red
Bo   | Oslo | Blue
Cy   | Bern | Red

Di   | Oslo | Green
Ed   | Lima | Gold
Flo  | Kyiv | Teal
""",
    "a table of texts with a blank row": """
Name | Town | Team
Ann  | Rome | Red
Bo   | Oslo | Blue
Cy   | Rome | Red

Di   | Oslo | Red
Ed   | Rome | Blue
""",
}
CUT = {
    "another header over other kinds": (
        """
Item  | Stock | Price
bolt  | 120   | 3.25
nut   | 80    | 4.5
screw | 305   | 2.75
Depot | Floor | Doors
A     | 1     | 4
B     | 2     | 6
""",
        ["A1:C4", "A5:C7"],
    ),
    "a title in between": (
        """
Item  | Stock | Price
bolt  | 120   | 3.25
nut   | 80    | 4.5
screw | 305   | 2.75
Depots of the north
Depot | Floor | Doors
A     | 1     | 4
B     | 2     | 6
""",
        ["A1:C4", "A6:C8"],
    ),
    "a total in between": (
        """
item  | stock | price
bolt  | 120   | 3.25
nut   | 80    | 4.5
total | 200   | 7.75
depot | floor | doors
attic | 1     | 4
barn  | 2     | 6
""",
        ["A1:C4", "A5:C7"],
    ),
    "tables of texts after a blank row": (
        """
Term  | Meaning
bolt  | a long screw
nut   | sits on a bolt
rivet | holds plates

Person | Role
Ann    | wrote it
Bo     | read it
Cy     | printed it
""",
        ["A1:B4", "A6:B9"],
    ),
    "tables of single words after a blank row": (
        """
Team | Captain
red  | ann
blue | bo
teal | cy

Fruit  | Colour
plum   | violet
lemon  | yellow
cherry | crimson
""",
        ["A1:B4", "A6:B9"],
    ),
    "a narrower table that shares a name": (
        """
Name | Team | Role
Ann  | Red  | Lead
Bob  | Blue | Dev
Cy   | Red  | Dev

Team | Coach
Red  | Eve
Blue | Max
""",
        ["A1:C4", "A6:B8"],
    ),
    "a table of the same width with a longer one above": (
        """
Name | Team | Role
Ann  | Red  | Lead
Bob  | Blue | Dev
Cy   | Red  | Dev
Di   | Teal | Dev
Ed   | Blue | Dev
Flo  | Red  | Test
Gil  | Teal | Test

Team | Coach | City
Red  | Eve   | Rome
Blue | Max   | Oslo
""",
        ["A1:C8", "A10:C12"],
    ),
    "a narrower table of texts after a blank row": (
        """
Code | Name | Place
X    | Ann  | Rome
Y    | Bo   | Oslo
Z    | Cy   | Lima

Colour | Sense
red    | stop
green  | go
blue   | wait
""",
        ["A1:C4", "A6:B9"],
    ),
}


@pytest.mark.parametrize("table", WHOLE.values(), ids=list(WHOLE))
def test_words_in_place_of_values_cut_no_table(table):
    rows, _ = written(table)
    (found,) = told(Grid(rows))
    filled = [number for number, row in enumerate(rows, start=1) if any(row)]
    assert (found.records, found.left_out) == (filled[1:], {})
    assert found.names == rows[0]


@pytest.mark.parametrize(("table", "ranges"), CUT.values(), ids=list(CUT))
def test_tables_below_each_other_are_told_apart(table, ranges):
    rows, _ = written(table)
    found = sorted(told(Grid(rows)), key=lambda each: each.records)
    assert [each.range for each in found] == ranges
