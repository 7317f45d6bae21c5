"""Layouts as workbooks have them, read from real files."""

import datetime as dt

import openpyxl
import pytest
import xlsxwriter
from openpyxl.worksheet.formula import ArrayFormula

from sat_retriever import read_workbook
from sat_retriever.records.sheets import ColumnType


def read(path, rows, table=None):
    """The record of a written sheet with these rows; `table` is the range of a table object."""
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet("Sheet")
        for row, line in enumerate(rows):
            for col, value in enumerate(line):
                if value is not None:
                    page.write(row, col, value)
        if table:
            header = next(row for row in rows if len(row) > 1)
            page.add_table(table, {"columns": [{"header": text} for text in header]})
    (record,) = read_workbook(path, root=path.parent).records
    return record


STOCK = [["Item", "Stock", "Price"], ["bolt", 12, 0.25], ["nut", 8, 0.5], ["screw", 30, 0.75]]


@pytest.mark.parametrize("gap", [[], [[]], [[], []]])
def test_lines_above_a_declared_table_are_its_titles_and_no_table(gap, tmp_path):
    rows = [["Stock of the north depot"], ["All figures as booked"], *gap, *STOCK]
    area = f"A{3 + len(gap)}:C{6 + len(gap)}"
    record = read(tmp_path / "stock.xlsx", rows, area)
    assert [(table.range, table.num_rows) for table in record.tables] == [(area, 3)]


def test_a_table_beside_a_declared_one_stays_a_table(tmp_path):
    rows = [[*line, None, *other] for line, other in zip(STOCK, STOCK, strict=True)]
    with xlsxwriter.Workbook(tmp_path / "two.xlsx") as book:
        page = book.add_worksheet()
        for row, line in enumerate(rows):
            page.write_row(row, 0, line)
        page.add_table("A1:C4", {"columns": [{"header": text} for text in STOCK[0]]})
    (record,) = read_workbook(tmp_path / "two.xlsx", root=tmp_path).records
    assert [table.range for table in record.tables] == ["A1:C4", "E1:G4"]


STATEMENT = [
    ["Position", "2024", "2023"],
    ["Buildings", 40, 38],
    ["Machines", 20, 21],
    ["Total fixed assets", 60, 59],
    ["Cash", 15, 12],
    ["Balance total", 75, 71],
    ["Capital", 50, 50],
    ["Loans", 20, 16],
    ["Invoices", 5, 5],
    ["Total liabilities", 25, 21],
    ["Total capital and liabilities", 75, 71],
]


def test_totals_among_the_lines_of_a_statement_are_left_out_if_they_add_up(tmp_path):
    (table,) = read(tmp_path / "balance.xlsx", STATEMENT).tables
    assert (table.range, table.num_rows) == ("A1:C11", 6)
    assert [each.row for each in table.left_out] == [4, 6, 10, 11]


def test_a_named_total_with_lines_below_it_is_a_line(tmp_path):
    rows = [*STATEMENT[:3], ["Total cash flow", 9, 8], ["Opening cash", 3, 4], ["Closing", 12, 12]]
    assert read(tmp_path / "cash.xlsx", rows).tables[0].num_rows == 5


@pytest.mark.parametrize("last", ["Total", "Grand total", "Total 2024", "Sum:", "Total stock"])
def test_a_total_below_data_is_no_record(last, tmp_path):
    rows = [*STOCK, ["Subtotal", 50, 1.5], ["rivet", 9, 0.1], ["washer", 7, 0.2], [last, 66, 1.8]]
    (table,) = read(tmp_path / "stock.xlsx", rows).tables
    assert (table.num_rows, [each.row for each in table.left_out]) == (5, [5, 8])


@pytest.mark.parametrize(
    "unit",
    [
        *("EUR thousand", "kEUR", "k EUR", "EUR '000", "T€", "in USD millions", "Mio. EUR"),
        *("千欧元", "千欧", "亿元", "万人", "人民币", "百万円", "平方公里"),
    ],
)
def test_scaled_currencies_and_measures_in_a_row_below_the_header_are_units(unit, tmp_path):
    rows = [["Place", "Plan", "Actual"], [None, unit, unit], ["North", 5, 6], ["South", 7, 8]]
    (table,) = read(tmp_path / "plan.xlsx", rows).tables
    assert [column.unit for column in table.columns] == [None, unit, unit]
    assert (table.header_row, table.header_height, table.num_rows) == (1, 1, 2)


def test_chinese_words_below_a_header_are_no_units(tmp_path):
    rows = [
        ["地区", "甲", "乙"],
        ["北方", "元旦", "人口"],
        ["南方", "欧", "万科"],
        ["东方", "米饭", "家具"],
    ]
    (table,) = read(tmp_path / "words.xlsx", rows).tables
    assert [column.unit for column in table.columns] == [None, None, None]


def test_lists_of_unequal_length_have_their_first_row_as_header(tmp_path):
    rows = [
        ["Dept", "Type", "Course", "Contract"],
        ["Quality Assurance", "Annual", "Forklift Licence", "Permanent"],
        ["Human Resources", "Sick", "Negotiation", "Fixed term"],
        ["Finance", "Parental", "Working at Height", "Part-time"],
        ["Planning", "Unpaid", "Data Protection", "Apprentice"],
        ["Logistics", "Study", "Chemical Handling", "Freelance"],
        ["Maintenance", "Bereavement", "Project Planning"],
        [None, None, "Cyber Security"],
        [None, None, "English for Work"],
    ]
    (table,) = read(tmp_path / "lists.xlsx", rows).tables
    assert (table.range, table.header_row, table.num_rows) == ("A1:D9", 1, 8)


def test_the_last_entry_of_the_longest_list_is_no_header(tmp_path):
    rows = [
        ["Org Unit", "Absence Reason", "Module", "Terms"],
        ["Human Resources", "Annual", "Cyber Security", "Permanent"],
        ["Sales", "Sick", "Quality Audits", "Fixed term"],
        ["Customer Service", "Parental", "Customer Care", "Part-time"],
        ["Marketing", "Unpaid", "Fire Safety", "Apprentice"],
        ["Facilities", "Study", "Negotiation", "Freelance"],
        ["Planning", "Bereavement", "Forklift Licence"],
        [None, None, "Leadership"],
        [None, None, "Spreadsheet Basics"],
    ]
    (table,) = read(tmp_path / "lists.xlsx", rows).tables
    assert (table.range, table.header_row, table.num_rows) == ("A1:D9", 1, 8)


def test_titles_above_columns_of_texts_are_not_taken_for_their_header(tmp_path):
    rows = [
        ["Choices"],
        ["Please ask before you edit"],
        ["dept_code", "leave_type"],
        ["Human Resources", "Annual Leave"],
        ["Quality Assurance", "Sick Leave"],
        ["Customer Service", "Parental Leave"],
    ]
    (table,) = read(tmp_path / "lists.xlsx", rows).tables
    assert (table.range, table.header_row) == ("A3:B6", 3)


def uncalculated(path, rows, refs=(), merges=()):
    """The records of a workbook as openpyxl writes it: formulas without values."""
    book = openpyxl.Workbook()
    page = book.active
    for line in rows:
        page.append(line)
    for ref, text in refs:
        page[ref.split(":")[0]] = ArrayFormula(ref, text)
    for merge in merges:
        page.merge_cells(merge)
    book.save(path)
    return read_workbook(path, root=path.parent).records


PLACES = ["North", "South", "East", "West", "Centre"]


def test_formulas_that_were_never_calculated_belong_to_their_table(tmp_path):
    rows = [[place, *(f"=Data!{col}{n}*2" for col in "BCD")] for n, place in enumerate(PLACES, 2)]
    (record,) = uncalculated(tmp_path / "a.xlsx", [["Region", 2020, 2021, 2022], *rows])
    (table,) = record.tables
    assert (table.range, table.header_row, table.num_rows) == ("A1:D6", 1, 5)
    assert [(each.name, each.type, each.example) for each in table.columns] == [
        ("Region", ColumnType.TEXT, "North"),
        *((year, ColumnType.UNKNOWN, None) for year in ("2020", "2021", "2022")),
    ]


def test_years_that_are_formulas_from_the_second_on_are_a_header(tmp_path):
    rows = [[place, *(f"=Data!{col}{n}*2" for col in "BCD")] for n, place in enumerate(PLACES, 2)]
    (record,) = uncalculated(tmp_path / "a.xlsx", [["Region", 2020, "=B1+1", "=C1+1"], *rows])
    (table,) = record.tables
    assert (table.range, table.header_row, table.num_rows) == ("A1:D6", 1, 5)
    assert [each.name for each in table.columns] == ["Region", "2020", "", ""]


def test_years_that_are_formulas_throughout_are_a_header(tmp_path):
    years = [None, *(f"=Data!{col}1" for col in "BCD")]
    rows = [[place, *(f"=Data!{col}{n}*2" for col in "BCD")] for n, place in enumerate(PLACES, 2)]
    sheet = [["Shares"], years, *rows[:3], [], ["Ratios"], years, *rows[3:]]
    (record,) = uncalculated(tmp_path / "a.xlsx", sheet)
    assert [(t.range, t.header_row) for t in record.tables] == [("A2:D5", 2), ("A8:D10", 8)]


def test_rows_of_formulas_alone_are_in_the_range_of_table_and_sheet(tmp_path):
    rows = [["Region", "Sales"], ["North", 3], ["South", 4], *[["=A2", "=B2"]] * 3]
    (record,) = uncalculated(tmp_path / "a.xlsx", rows)
    assert (record.range, record.tables[0].range) == ("A1:B6", "A1:B6")
    assert [each.type for each in record.tables[0].columns] == [ColumnType.TEXT, ColumnType.INTEGER]


def test_an_array_formula_without_values_fills_its_range(tmp_path):
    rows = [["Region", "Sales", "Share"], *([place, 4.5] for place in PLACES)]
    (record,) = uncalculated(tmp_path / "a.xlsx", rows, [("C2:C6", "=B2:B6/SUM(B2:B6)")])
    (table,) = record.tables
    assert (table.range, table.header_row) == ("A1:C6", 1)
    assert table.columns[2].type is ColumnType.UNKNOWN


def test_an_array_formula_over_a_whole_sheet_is_one_cell(tmp_path):
    rows = [["Region", "Sales"], *([place, 4.5] for place in PLACES)]
    (record,) = uncalculated(tmp_path / "a.xlsx", rows, [("D9:XFD1048576", "=B2:B6")])
    assert record.range == "A1:D9"


def test_formulas_with_saved_values_are_what_their_values_are(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page = book.add_worksheet()
        page.write_row(0, 0, ["Region", "Rank", "Sales"])
        for row, place in enumerate(PLACES, 1):
            page.write(row, 0, place)
            page.write_formula(row, 1, '="no. 1"', value="no. 1")
            page.write_formula(row, 2, "=1.5", value=1.5)
    (record,) = read_workbook(tmp_path / "a.xlsx", root=tmp_path).records
    types = [each.type for each in record.tables[0].columns]
    assert types == [ColumnType.TEXT, ColumnType.TEXT, ColumnType.NUMBER]


@pytest.mark.parametrize(
    "rows",
    [
        [["fuzzy whuzzy", dt.date(2014, 6, 6)], ["was a bear", 12.5], ["had no hair", 7]],
        [[dt.date(2011, 3, 25), "Date"], [40627.4, "As number"], [2011, "Year"], [3, "Month"]],
    ],
)
def test_a_row_with_a_date_among_rows_of_texts_and_numbers_is_data(rows, tmp_path):
    (record,) = uncalculated(tmp_path / "a.xlsx", rows)
    assert record.header_row is None


def test_dates_in_order_stay_a_header(tmp_path):
    months = [dt.date(2024, month, 1) for month in (1, 2, 3)]
    rows = [["Region", *months], *([place, 1.5, 2.5, 3.5] for place in PLACES)]
    (record,) = uncalculated(tmp_path / "a.xlsx", rows)
    assert [each.name for each in record.columns][1:] == ["2024-01-01", "2024-02-01", "2024-03-01"]


TITLED = [["Year", "Bus", "Rail", "Ferry"], *([year, 1.5, 2.5, 3.5] for year in range(1991, 2005))]


@pytest.mark.parametrize(
    ("titles", "merges"),
    [
        ([["Fares by mode"], ["Part A: road"]], ["A1:D1", "A2:D2"]),
        ([["Fares", None, "Fares"], ["A", None, "A"]], ["A1:B1", "C1:D1", "A2:B2", "C2:D2"]),
        ([["Fares by mode"], []], ["A1:D2"]),
        ([["Company: North", None, "Date: May 2017"]], ["A1:B1", "C1:D1"]),
    ],
)  # fmt: skip
def test_titles_and_facts_merged_over_a_table_are_no_header(titles, merges, tmp_path):
    (record,) = uncalculated(tmp_path / "a.xlsx", [*titles, *TITLED], merges=merges)
    (table,) = record.tables
    assert (table.header_row, table.header_height) == (len(titles) + 1, 1)
    assert [each.name for each in table.columns] == TITLED[0]


def test_a_second_header_row_that_leaves_out_the_keys_is_header_too(tmp_path):
    rows = [
        ["Code", "Place", "Deaths", "Deaths", "Cases", "Cases"],
        [None, None, "from PM", "from NO", "from PM", "from NO"],
        *([n, place, 1.5, 2.5, 3.5, 4.5] for n, place in enumerate(PLACES)),
    ]
    (record,) = uncalculated(tmp_path / "a.xlsx", rows)
    assert (record.tables[0].header_row, record.tables[0].header_height) == (1, 2)
    assert record.columns[2].name == "Deaths / from PM"


def test_a_few_figures_below_a_wide_table_are_no_part_of_it(tmp_path):
    wide = [["State", *range(2020, 2030)], *([place, *[1.5] * 10] for place in PLACES)]
    rows = [*wide, [], [], ["Inflation", 0.88], ["Exchange rate", 1.1], ["Discount", 0.03]]
    (record,) = uncalculated(tmp_path / "a.xlsx", rows)
    assert record.tables[0].range == "A1:K6"


def test_a_mark_in_a_column_of_its_own_below_a_table_is_no_part_of_it(tmp_path):
    rows = [[None, *line] for line in STOCK]
    (record,) = uncalculated(tmp_path / "a.xlsx", [*rows, ["<end>"]])
    assert record.tables[0].range == "B1:D4"


def test_a_declared_table_without_header_cells_has_its_declared_names(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        page = book.add_worksheet()
        page.write_row(0, 0, [3, 4])
        page.write_row(1, 0, [5, 6])
        columns = [{"header": "Handle\nBars"}, {"header": "Seat"}]
        page.add_table("A1:B2", {"header_row": False, "columns": columns})
    (record,) = read_workbook(tmp_path / "a.xlsx", root=tmp_path).records
    assert [each.name for each in record.columns] == ["Handle Bars", "Seat"]
    assert record.header_row is None
