"""The months that sheets are about, as their names say them."""

import pytest

from sat_retriever import SheetRecord
from sat_retriever.text.period.relation import months_of, unpacked


def months(sheet, path="book.xlsx"):
    """A sheet's months as text, "-" for none, with "fiscal" behind if they are."""
    record = SheetRecord("", sheet, workbook=path.rpartition("/")[2], path=path)
    [[first, last, begin, end, fiscal]] = unpacked([months_of(record)]).tolist()
    if not end:
        return "-"
    return f"{first}-{last} {begin}-{end}" + " fiscal" * fiscal


@pytest.mark.parametrize(
    ("sheet", "found"),
    [
        ("Sales 2024", "2024-2024 1-12"),
        ("Sales Q3 2024", "2024-2024 7-9"),
        ("2024-03-31", "2024-2024 3-3"),
        ("W12 2024", "2024-2024 3-3"),
        ("Sales 2022 vs 2023", "2022-2023 1-12"),
        ("Sales 2022 and 2023", "2022-2023 1-12"),
        ("2019-2023", "2019-2023 1-12"),
        ("Q1-Q3 2024", "2024-2024 1-9"),
        ("Q1 + Q3 2024", "2024-2024 1-9"),
        ("Jan, Feb, Mar 2024", "2024-2024 1-3"),
        ("YTD Mar 2024", "2024-2024 1-3"),
        ("2024_03", "2024-2024 3-3"),
        ("Sales_2024_03", "2024-2024 3-3"),
        ("03_2024", "2024-2024 3-3"),
        ("T1 2024", "2024-2024 1-3"),
        ("1T 2024", "2024-2024 1-3"),
        ("S2 2024", "2024-2024 7-12"),
        ("Halbjahr 1 2024", "2024-2024 1-6"),
        ("Qtr1_2024", "2024-2024 1-3"),
        ("2024\u5e743\u6708", "2024-2024 3-3"),
        ("2024\u5e74\u4e0a\u534a\u5e74", "2024-2024 1-6"),
        ("2024_03 vs 2023", "2023-2024 1-12"),
        ("FY2024", "2024-2024 1-12 fiscal"),
        ("Budget 2023-24", "2023-2024 1-12 fiscal"),
        ("Notes", "-"),
        ("Form 2000", "-"),
    ],
)
def test_what_a_sheets_name_says(sheet, found):
    assert months(sheet) == found


def test_the_names_of_file_and_folder_count_too():
    assert months("Jan", "payroll/2024.xlsx") == "2024-2024 1-1"
    assert months("Summary", "2023/Q2/sales.xlsx") == "2023-2023 4-6"
    assert months("March", "sales.xlsx") == "0-0 3-3"
