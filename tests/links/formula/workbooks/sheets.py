"""Formulas and sheets that are more than a line of `cases.txt`."""

from __future__ import annotations

from openpyxl.worksheet.formula import ArrayFormula

from tests.links.formula.workbooks.case import (
    DATA,
    RAW_DATA,
    Case,
    RawSheet,
    book,
    cell,
    raw,
    report,
    row,
)

_F, _FA = "formula_reference", "formula_reference aggregation"


def _hide(made) -> None:
    made["Report"].sheet_state = "hidden"
    made["Data"].sheet_state = "veryHidden"


def _chart_sheet(made) -> None:
    made.create_chartsheet("Picture")


def _shared(path) -> None:
    first = row(1, cell("A1", "twice"))
    master = row(2, cell("A2", "", "SUM(Data!B2:B3)*2", ' t="shared" ref="A2:A40" si="0"'))
    rest = "".join(row(n, cell(f"A{n}", "", "", ' t="shared" si="0"')) for n in range(3, 41))
    raw({"Report": RawSheet(first + master + rest), "Data": RAW_DATA})(path)


def _dynamic(path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(path) as made:
        sheet, data = made.add_worksheet("Report"), made.add_worksheet("Data")
        sheet.write("A1", "items")
        sheet.write_dynamic_array_formula("A2:A4", "=UNIQUE(Data!A2:A4)", None, "bolt")
        sheet.write_dynamic_array_formula("C2:D4", "=SORT(FILTER(Data!A2:B4,Data!B2:B4>3))")
        for number, line in enumerate([("item", "amount"), ("bolt", 3), ("nut", 4), ("cog", 5)]):
            data.write_row(number, 0, line)


SHEET_CASES = [
    Case(
        "a reference to a chart sheet",
        book({"Report": {"A1": "=Picture!A1+Data!B2*2"}, "Data": DATA}, _chart_sheet),
        (("Report", "Data", _F, "Report!A1 =Picture!A1+Data!B2*2"),),
    ),
    Case(
        "hidden sheets",
        book({"Shown": DATA, "Report": {"A1": "=SUM(Data!B2:B4)"}, "Data": DATA}, _hide),
        (("Report", "Data", _FA, "Report!A1 =SUM(Data!B2:B4)"),),
    ),
    Case("a shared formula", _shared, (("Report", "Data", _FA, "Report!A2 =SUM(Data!B2:B3)*2"),)),
    Case(
        "an array formula",
        book({"Report": {"A2": ArrayFormula("A2:A4", "=Data!B2:B4*Data!C2:C4")}, "Data": DATA}),
        (("Report", "Data", _F, "Report!A2 =Data!B2:B4*Data!C2:C4"),),
    ),
    Case(
        "dynamic array formulas",
        _dynamic,
        (
            (
                "Report",
                "Data",
                "formula_reference join_key",
                "Report!C2 =_xlfn._xlws.SORT(_xlfn._xlws.FILTER(Data!A2:B4",
            ),
        ),
    ),
    Case(
        "a formula over several lines",
        report("=SUM(Data!B2,\n  Data!B3,\n\t'Data'!B4)"),
        (("Report", "Data", _FA, "Report!B1 =SUM(Data!B2, Data!B3, 'Data'!B4)"),),
    ),
]
