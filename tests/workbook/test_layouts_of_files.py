"""Layouts as workbooks have them, read from real files."""

import pytest
import xlsxwriter

from sat_retriever.workbook.read import read_workbook


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


def test_totals_among_the_lines_of_a_statement_are_lines(tmp_path):
    record = read(tmp_path / "balance.xlsx", STATEMENT)
    assert (record.tables[0].range, record.tables[0].num_rows) == ("A1:C11", 10)


def test_a_named_total_with_lines_below_it_is_a_line(tmp_path):
    rows = [*STATEMENT[:3], ["Total cash flow", 9, 8], ["Opening cash", 3, 4], ["Closing", 12, 12]]
    assert read(tmp_path / "cash.xlsx", rows).tables[0].num_rows == 5


@pytest.mark.parametrize("last", ["Total", "Grand total", "Total 2024", "Sum:", "Total stock"])
def test_a_total_below_data_is_no_record(last, tmp_path):
    rows = [*STOCK, ["Subtotal", 50, 1.5], ["rivet", 9, 0.1], ["washer", 7, 0.2], [last, 66, 1.8]]
    assert read(tmp_path / "stock.xlsx", rows).tables[0].num_rows == 6


@pytest.mark.parametrize(
    "unit", ["EUR thousand", "kEUR", "k EUR", "EUR '000", "T€", "in USD millions", "Mio. EUR"]
)
def test_scaled_currencies_in_a_row_below_the_header_are_units(unit, tmp_path):
    rows = [["Place", "Plan", "Actual"], [None, unit, unit], ["North", 5, 6], ["South", 7, 8]]
    (table,) = read(tmp_path / "plan.xlsx", rows).tables
    assert [column.unit for column in table.columns] == [None, unit, unit]
    assert (table.header_row, table.header_height, table.num_rows) == (1, 1, 2)


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
