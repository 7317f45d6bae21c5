"""Rows of units below a header, and first records that look like one."""

from __future__ import annotations

import pytest

from sat_retriever.workbook.values.grid import Grid
from tests.workbook.tables.grids import told, written

UNITS = {
    "short": """
Pipe | Length | Mass
     | m      | kg     # units
a    | 1.5    | 2.5
b    | 3.5    | 4.5
""",
    "in brackets": """
Pipe | Length | Mass
     | (m)    | [kg]   # units
a    | 1.5    | 2.5
b    | 3.5    | 4.5
""",
    "with a label": """
Country | Area | Density
Unit    | km2  | persons/km2   # units
Chad    | 1284 | 14.2
Mali    | 1240 | 17.9
Niger   | 1267 | 19.1
""",
    "of parts": """
Food | Energy | Fat      | Protein
     | kcal   | g/100 g  | g/100 g   # units
oats | 372    | 7        | 13.5
rice | 349    | 0.6      | 7.1
""",
    "scaled": """
Year | Plan   | Actual
     | k EUR  | Mio. EUR  # units
2021 | 1200.5 | 1.3
2022 | 1300.5 | 1.4
2023 | 1317   | 1.5
""",
    "of a named substance": """
Plant | Heat  | Loss
      | MWh   | kg CO2   # units
North | 120.5 | 33
South | 98.25 | 29
""",
    "of one column only": """
Item  | Price | Sold
      | EUR   |        # units
bolt  | 3.25  | 12
nut   | 4.5   | 33
screw | 2.75  | 7
""",
}
RECORDS = {
    "dashes": """
Server | Backup | Owner | Cores
db1    | -      | -     | 4
db2    | -      | -     | 8
web1   | daily  | Ops   | 2
web2   | daily  | Ops   | 2
""",
    "not applicable": """
Ticket | Owner | Closed
T1     | n/a   | n/a
T2     | Ana   | Cy
T3     | Ben   | Cy
T4     | Ana   | Cy
""",
    "grades": """
Pupil | Maths | Art
Ann   | A     | B
Bo    | B     | A
Cy    | C     | B
Di    | A     | A
""",
    "grades above marks": """
Pupil | Maths | Art | Music
Ann   | A     | A   | V
Bo    | 12    | 14  | 9
Cy    | 11    | 13  | 8
Di    | 15    | 10  | 7
""",
    "currencies": """
Pair    | Base | Quote
EURUSD  | EUR  | USD
USDJPY  | USD  | JPY
GBPUSD  | GBP  | USD
""",
    "sizes": """
Shirt | Size | Fit
red   | M    | S
blue  | L    | M
green | S    | L
""",
    "negative numbers in brackets": """
Item | 2023      | 2024
cash | "(1,000)" | "(2,000)"
debt | 300       | 400
loan | 500       | 650
""",
    "hours of a rota": """
Name | Mon | Tue | Wed
Ann  | h   | h   | h
Bo   | 8   | 4   | 8
Cy   | h   | 8   | h
Di   | 4   | 4   | 8
""",
    "units that recur as words": """
Name | Mon | Tue | Wed
Ann  | day | day |
Bo   | 8   | 4   | 8
Cy   | day | 8   | 7
Di   | 7   | 5   | 4
""",
    "units beside a name with digits": """
Site | Mon | Tue
S1   | day | day
S2   | 8   | 4
S3   | 7   | 5
S4   | 6   | 9
""",
    "intervals": """
Range  | From | To
[0-10) | 0    | 10
[10-20) | 10  | 20
[20-30) | 20  | 30
""",
}


@pytest.mark.parametrize("table", UNITS.values(), ids=list(UNITS))
def test_a_row_of_units_is_left_out(table):
    rows, said = written(table)
    (found,) = told(Grid(rows))
    assert (found.left_out, said) == ({2: "units"}, {2: "units"})
    assert found.records == list(range(3, len(rows) + 1))
    assert found.names == rows[0]


@pytest.mark.parametrize("table", RECORDS.values(), ids=list(RECORDS))
def test_a_first_record_that_looks_like_units_stays(table):
    rows, _ = written(table)
    (found,) = told(Grid(rows))
    assert found.left_out == {}
    assert found.records == list(range(2, len(rows) + 1))
