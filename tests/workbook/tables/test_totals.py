"""Rows that sum up others are told and left out; rows that only look so are records."""

from __future__ import annotations

import math

import pytest

from sat_retriever.workbook.values.grid import Grid
from tests.workbook.tables.grids import DOUBTFUL, remarks, told, written

TOTALS = {
    "last": """
Item   | Stock | Price
bolt   | 120   | 3.25
nut    | 80    | 4.5
screw  | 305   | 2.75
Total  | 505   | 10.5  # total
""",
    "last, in words that nobody knows": """
Item   | Town   | Stock | Price
bolt   | Rome   | 1214  | 3.25
nut    | Oslo   | 807   | 4.5
screw  | Lima   | 3051  | 2.75
Zuzzam |        | 5072  | 10.5  # total
""",
    "of one column, below a blank row": """
Item  | Town | Price | Paid
bolt  | Rome | 120   | 14
nut   | Oslo | 35    | 77
screw | Lima | 60    | 8

      |      |       | 99  # total
""",
    "of one column, below blank rows, subtotals and headings": """
Item  | Town | Paid
North # section
bolt  | Rome | 14
nut   | Oslo | 77
South # section
screw | Lima | 8
rivet | Bern | 9


      |      | 108  # total
""",
    "of two columns beside years, below a blank row, above a remark": """
Item  | 2023 | 2024
bolt  | 120  | 14
nut   | 35   | 77
screw | 60   | 8

      | 215  | 99  # total
as of May
""",
    "last, without any word": """
Item   | Stock | Price
bolt   | 1214  | 3.25
nut    | 807   | 4.5
screw  | 3051  | 2.75
       | 5072  | 10.5  # total
""",
    "last, without a word, a gap or a name, but in digits beyond chance": """
Region | Births | Deaths
North  | 12145  | 11038
South  | 8072   | 9411
East   | 30519  | 8725
Arcady | 50736  | 29174  # total
""",
    "first": """
Region | Births | Deaths
Total  | 50736  | 29174  # total
North  | 12145  | 11038
South  | 8072   | 9411
East   | 30519  | 8725
""",
    "first, and again last": """
Region | Births | Deaths
Total  | 50736  | 29174  # total
North  | 12145  | 11038
South  | 8072   | 9411
East   | 30519  | 8725
Total  | 50736  | 29174  # total
""",
    "of each group, below it": """
Region         | Product | Units
North          | nut     | 120
North          | bolt    | 35
Subtotal       |         | 155  # subtotal
South          | nut     | 60
South          | bolt    | 77
South          | rivet   | 8
Subtotal       |         | 145  # subtotal
Grand total    |         | 300  # total
""",
    "of each group, by its name": """
Region      | Product | Units
North       | nut     | 120
North       | bolt    | 35
North Total |         | 155  # subtotal
South       | nut     | 60
South Total |         | 60   # subtotal
Total       |         | 215  # total
""",
    "with records below it": """
Item   | Stock | Price
bolt   | 120   | 3.25
nut    | 80    | 4.5
Total  | 200   | 7.75  # total
screw  | 305   | 2.75
rivet  | 9     | 1.5
""",
    "with remarks below it": """
Item   | Stock | Price
bolt   | 120   | 3.25
nut    | 80    | 4.5
screw  | 305   | 2.75
Total  | 505   | 10.5  # total
Kim
checked
""",
    "with a tax and a total of both below it": """
Item        | Amount
Paint       | 1210.5
Work        | 830
Subtotal    | 2040.5   # subtotal
VAT         | 387.7
Grand total | 2428.2   # total
""",
    "rounded": """
Item   | Share | Mass
bolt   | 33.3  | 1.1
nut    | 33.3  | 1.1
screw  | 33.3  | 1.1
Total  | 100   | 3.4  # total
""",
    "rounded, with records below it": """
Item   | Share | Mass
bolt   | 33.3  | 1.1
nut    | 33.3  | 1.1
screw  | 33.3  | 1.1
Total  | 100   | 3.4  # total
rivet  | 12.5  | 2.6
washer | 7     | 4.9
""",
    "of the last section alone, without a word": """
No      | Item  | Stock
Metal   |       |       # section
1       | bolt  | 121
2       | nut   | 83
Wood    |       |       # section
3       | plank | 305.25
4       | pole  | 17
5       | door  | 88
        |       | 410.25  # subtotal
Glass   |       |       # section
6       | pane  | 7
7       | vase  | 2.5
""",
    "of durations": """
Task  | Spent
plan  | 1:30h
build | 12:45h
test  | 3:05h
Total | 17:20h  # total
plan  | 2:15h
build | 7:05h
""",
    "of numbers that are texts": """
Item  | Price
bolt  | "1,200.50"
nut   | "80.25"
screw | "305.00"
Total | "1,585.75"  # total
""",
    "of zeros too": """
Item  | Jan | Feb | Mar
bolt  | 12  | 0   | 0
nut   | 30  | 0   | 5
screw | 7   | 0   | 0
Total | 49  | 0   | 5  # total
rivet | 8   | 0   | 0
nail  | 2   | 0   | 9
""",
    "of some columns, beside a mean": """
Item  | Stock | Price | Rate
bolt  | 120   | 3.25  | 0.25
nut   | 80    | 4.5   | 0.5
screw | 305   | 2.75  | 0.3
Total | 505   | 10.5  | 0.35  # total
""",
    "of negative numbers": """
Day   | In   | Out
Mon   | 120  | -75.5
Tue   | 33   | -18
Wed   | 8    | -92.25
Total | 161  | -185.75  # total
""",
    "in the second column": """
No | Item  | Stock
1  | bolt  | 120
2  | nut   | 80
3  | screw | 305
   | Total | 505  # total
""",
    "that does not add up, as the last row": """
Item  | Town | Stock
bolt  | Rome | 120
nut   | Oslo | 80
screw | Lima | 305
Total |      | 517  # total ?
""",
    "that does not add up, in words of another language": """
Item     | Stock | Price | Weight
bolt     | 120   | 3.25  | 7
nut      | 80    | 4.5   | 3
screw    | 305   | 2.75  | 2.5
Yhteensä | 505   | 3.5   | 99  # total ?
""",
    "of zeros alone": """
Item  | Stock | Sold
bolt  | 0     | 0
nut   | 0     | 0
screw | 0     | 0
Total | 0     | 0  # total
""",
    "of zero below numbers": """
Item  | Stock
bolt  | 10
nut   | 20
screw | 30
Total | 0  # total ?
""",
    "that does not add up, further up": """
Item  | Town | Stock
bolt  | Rome | 120
nut   | Oslo | 80
Total |      | 517   # ?
screw | Lima | 305
rivet | Bern | 41
""",
}
STATISTICS = {
    "a mean below a total": """
City  | Rain  | Snow
Bern  | 101.5 | 30
Lima  | 12    | 0
Oslo  | 76.5  | 96
Total | 190   | 126   # total
Mean  | 63.33 | 42    # total
""",
    "mean, largest, smallest, count and deviation": """
City      | Rain  | Snow
Bern      | 101.5 | 30
Lima      | 12    | 0
Oslo      | 76.5  | 96
Average   | 63.33 | 42      # total
Max       | 101.5 | 96      # total
Min       | 12    | 0       # total
Count     | 3     | 3       # total
Std. dev. | 46.18 | 49.11   # total
""",
    "a record that is called Max": """
Player | Goals | Games
Ann    | 12    | 30
Bo     | 7     | 28
Cy     | 9     | 31
Max    | 4     | 11  # ?
""",
    "a record that is called Max and has the most goals": """
Player | Goals
Ann    | 12
Bo     | 7
Cy     | 9
Max    | 12  # ?
""",
}
RECORDS = {
    "a customer named Total among numbered rows": """
No | Customer | Orders | Amount
1  | Shell    | 14     | 1200.5
2  | Esso     | 9      | 830
3  | Total    | 23     | 2030.5
4  | Aral     | 31     | 91.25
""",
    "a customer named Total as the last of numbered rows": """
No | Customer | Orders | Amount
1  | Shell    | 14     | 1200.5
2  | Esso     | 9      | 830
3  | Aral     | 31     | 91.25
4  | Total    | 2      | 17
""",
    "a category Total that recurs": """
Year | Sex   | Deaths | Births
1990 | Men   | 120    | 301
1990 | Women | 118    | 290
1990 | Total | 251    | 640
1991 | Men   | 131    | 312
1991 | Women | 117    | 295
1991 | Total | 260    | 655
1992 | Total | 270    | 621
""",
    "a category Total in all rows": """
Year | Sex   | Deaths
1990 | Total | 120
1991 | Total | 118
1992 | Total | 131
""",
    "a value that is the sum of two others": """
Item  | Stock
bolt  | 1
nut   | 2
screw | 3
rivet | 6
""",
    "values of two columns that are sums, in few digits": """
Item  | Stock | Sold
bolt  | 10    | 1
nut   | 20    | 2
screw | 30    | 3
rivet | 7     | 9
""",
    "values that are sums of three, in few digits": """
Item  | Stock | Sold
bolt  | 1     | 2
nut   | 2     | 1
screw | 3     | 4
rivet | 6     | 7
nail  | 5     | 5
""",
    "a customer named Total as the first of numbered rows": """
No | Customer | Orders | Amount
1  | Total    | 23     | 2030.5
2  | Shell    | 14     | 1200.5
3  | Esso     | 9      | 830
""",
    "a list of totals by year": """
Kind       | Stock | Sold
Total 2022 | 9120  | 31
Total 2023 | 3100  | 40
Total 2024 | 6020  | 17
""",
    "values close to sums": """
Item  | Stock | Sold
bolt  | 12145 | 11038
nut   | 8072  | 9411
screw | 30519 | 8725
rivet | 50737 | 29175
""",
    "values of one record among zeros": """
Item  | Town | Jan  | Feb
bolt  | Rome | 1214 | 8072.5
nut   | Oslo | 0    | 0
screw | Lima | 0    | 0
rivet | Bern | 1214 | 8072.5
nail  | Kyiv | 7    | 12
""",
    "values that double": """
Day | Grains | Cells
1   | 1      | 4
2   | 1      | 4
3   | 2      | 8
4   | 4      | 16
5   | 8      | 32
6   | 16     | 64
""",
    "running sums": """
Day | Sales | "To date"
Mon | 120   | 120
Tue | 33    | 153
Wed | 8     | 161
Thu | 71    | 232
""",
    "words that begin as those of totals do": """
Item            | Stock | Price
Totality film   | 120   | 3.25
Summer hat      | 80    | 4.5
Summary report  | 305   | 2.75
Summit boots    | 41    | 99
""",
    "a list of totals": """
Kind            | 2023 | 2024
Total assets    | 9120 | 9411
Total debts     | 3100 | 2950
Total equity    | 6020 | 6461
""",
    "nothing but zeros": """
Item  | Jan | Feb
bolt  | 0   | 0
nut   | 0   | 0
screw | 0   | 0
""",
    "a line of a statement with its name": """
Position        | 2024 | 2023
Buildings       | 40   | 38
Machines        | 20   | 21
Total cash flow | 9    | 8
Opening cash    | 3    | 4
Closing         | 12   | 12
""",
}


@pytest.mark.parametrize("table", [TOTALS[name] for name in TOTALS], ids=list(TOTALS))
def test_a_total_is_left_out_with_its_reason(table):
    rows, said = written(table)
    found = told(Grid(rows))
    assert remarks(found) == said
    filled = [sum(cell is not None for cell in row) for row in rows]
    full = [number for number, cells in enumerate(filled, start=1) if cells > 1]
    others = [row for row, why in said.items() if why != DOUBTFUL]
    assert [table.records for table in found] == [[row for row in full[1:] if row not in others]]


@pytest.mark.parametrize("table", STATISTICS.values(), ids=list(STATISTICS))
def test_a_statistic_is_left_out_if_the_records_have_it(table):
    rows, said = written(table)
    assert remarks(told(Grid(rows))) == said


@pytest.mark.parametrize("table", RECORDS.values(), ids=list(RECORDS))
def test_a_row_that_only_looks_like_a_total_is_a_record(table):
    rows, _ = written(table)
    (found,) = told(Grid(rows))
    assert found.left_out == {}
    assert found.records == list(range(2, len(rows) + 1))


@pytest.mark.parametrize("below", ["2024", "98", "98 | 1", "note | 99", "99\n | | 99"])
def test_numbers_below_a_table_that_do_not_sum_it_up_stay_outside(below):
    table = """
Item  | Town | Paid | Left
bolt  | Rome | 14   | yes
nut   | Oslo | 77   | no
screw | Lima | 8    | no
"""
    rows, _ = written(f"{table}\n\n | | {below}")
    assert told(Grid(rows))[0].range == "A1:D4"
    rows, _ = written(f"{table}\n\nin euros\n\n | | 99")
    assert told(Grid(rows))[0].range == "A1:D4"


@pytest.mark.parametrize("huge", [1e308, -1e308, math.inf, math.nan])
def test_huge_numbers_are_added_up_by_nobody(huge):
    rows = [["Item", "Stock", "Size"], *([f"bolt {n}", 100.5 + n, huge] for n in range(4))]
    (found,) = told(Grid([*rows, ["Total", 408.0, huge]]))
    assert found.left_out == {6: "total"}
    (found,) = told(Grid(rows))
    assert found.left_out == {}
