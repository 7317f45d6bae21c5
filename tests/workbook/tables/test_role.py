"""Roles of sheets, by form first and by name second."""

import pytest

from sat_retriever.records.contents import Role
from sat_retriever.workbook.tables.header import find_layouts
from sat_retriever.workbook.tables.records import describe_tables
from sat_retriever.workbook.tables.role import Setting, form_of, role_of
from sat_retriever.workbook.values.cells import cells_of
from sat_retriever.workbook.values.grid import Grid

PAGE = [
    ["Budget of the works council"],
    [],
    ["This workbook holds the planned costs of every department."],
    ["Amounts are in thousands of euros, at prices of the year 2020."],
    ["Source: the annual plan, as the board decided on it in November."],
]
SALES = [["Region", "Units", "Price"], *([name, 7, 2.5] for name in "abcdef")]
CODES = [["Code", "Meaning"], ["A", "open"], ["B", "closed"], ["C", "lost"], ["D", "paid"]]
TABS = frozenset({"sales 2020", "sales 2021", "costs", "start", "codes"})


def role(rows, sheet="Sheet1", tabs=TABS, **known):
    setting = Setting(sheet, tabs, **known)
    cells = cells_of(Grid([list(row) for row in rows]), ())
    placed = find_layouts(cells, ())
    layouts = [layout for layout, _ in placed]
    return role_of(form_of(cells, layouts, describe_tables(cells, placed), setting), setting)


@pytest.mark.parametrize("sheet", ["Sheet1", "About", "Sales 2020"])
def test_a_page_of_prose_is_documentation_whatever_its_name(sheet):
    assert role(PAGE, sheet) is Role.DOCUMENTATION


def test_a_table_is_data_whatever_its_name():
    for sheet in ("Sheet1", "About", "Notes", "Index", "Calculations", "Codes"):
        assert role(SALES, sheet) is Role.DATA


def test_short_texts_are_documentation_where_the_name_says_so():
    rows = [["Owner", "Ada"], ["Version", "7"], ["Status", "final"]]
    assert role(rows, "Read me") is Role.DOCUMENTATION
    assert role(rows, "Info") is Role.DOCUMENTATION
    assert role(rows, "Informal prices") is not Role.DOCUMENTATION


def test_a_list_of_the_workbooks_sheets_is_a_cover():
    rows = [["Sheet", "Holds"], *([tab.title(), "data"] for tab in sorted(TABS - {"start"}))]
    assert role(rows, "Start") is Role.COVER
    assert role(rows, "Start", frozenset({"start", "x", "y", "z"})) is not Role.COVER


def test_a_title_page_is_a_cover_by_its_name():
    assert role([["ACME Ltd."], [], ["Annual report 2020"]], "Cover") is Role.COVER


def test_a_short_list_of_codes_is_a_lookup_beside_other_sheets_only():
    assert role(CODES) is Role.LOOKUP
    assert role(CODES, tabs=frozenset({"sheet1"})) is Role.DATA


def test_mostly_formulas_are_a_calculation_and_some_where_the_name_says_so():
    assert role(SALES, formulas=12) is Role.CALCULATION
    assert role(SALES, formulas=3) is Role.DATA
    assert role(SALES, "Calculations", formulas=3) is Role.CALCULATION


def test_charts_of_other_sheets_make_a_chart_sheet_unless_much_stands_around():
    assert role(SALES, charts=True) is Role.CHART
    assert role(SALES * 9, charts=True) is Role.DATA
    assert role(SALES * 9, pivots=True) is Role.CHART
