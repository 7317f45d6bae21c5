"""Sheets named in formulas in every way that there is."""

from __future__ import annotations

from openpyxl.workbook.defined_name import DefinedName
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

_F, _FA, _FS, _FAS = (
    "formula_reference",
    "formula_reference aggregation",
    "formula_reference summary_source",
    "formula_reference aggregation summary_source",
)
_MONTHS = {"Jan": DATA, "Feb": DATA, "Mar": DATA, "Apr": DATA}


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
        "one cell of another sheet",
        report("=Data!B2"),
        (("Report", "Data", _F, "Report!B1 =Data!B2"),),
    ),
    Case(
        "a total of another sheet",
        book({"Summary": {"A4": "first quarter", "B4": "=SUM(Q1!B2:B9)"}, "Q1": DATA}),
        (("Summary", "Q1", _FA, "Summary!B4 =SUM(Q1!B2:B9)"),),
    ),
    Case(
        "a 3-D range",
        report("=SUM(Jan:Mar!B2)", **_MONTHS),
        tuple(
            ("Report", month, _FAS, "Report!B1 =SUM(Jan:Mar!B2)") for month in ("Jan", "Feb", "Mar")
        ),
    ),
    Case(
        "a 3-D range with quotes, written backwards",
        book(
            {
                "Jan 1": DATA,
                "Feb 1": DATA,
                "Mar 31": DATA,
                "Rest": DATA,
                "Report": {"A1": "=SUM('Mar 31:Jan 1'!B2)"},
            }
        ),
        tuple(
            ("Report", month, _FAS, "Report!A1 =SUM('Mar 31:Jan 1'!B2)")
            for month in ("Jan 1", "Feb 1", "Mar 31")
        ),
    ),
    Case(
        "a 3-D range to an empty last sheet",
        report("=SUM(Jan:Last!B2)", Notes=DATA, Jan=DATA, Feb=DATA, Last={}),
        tuple(("Report", month, _FAS, "Report!B1 =SUM(Jan:Last!B2)") for month in ("Jan", "Feb")),
    ),
    Case(
        "a 3-D range between two empty sheets",
        report("=SUM(First:Last!B2)", Notes=DATA, First={}, Jan=DATA, Feb=DATA, Last={}, More=DATA),
        tuple(("Report", month, _FAS, "Report!B1 =SUM(First:Last!B2)") for month in ("Jan", "Feb")),
    ),
    Case("a 3-D range whose end is gone", report("=SUM(Jan:Gone!B2)", Jan=DATA, Feb=DATA)),
    Case(
        "an apostrophe in a sheet's name",
        book({"O'Brien": DATA, "Report": {"A1": "='O''Brien'!B2+1"}}),
        (("Report", "O'Brien", _F, "Report!A1 ='O''Brien'!B2+1"),),
    ),
    Case(
        "a sheet's name that begins with digits",
        book({"2019 Q1": DATA, "Report": {"A1": "='2019 Q1'!B2"}}),
        (("Report", "2019 Q1", _F, "Report!A1 ='2019 Q1'!B2"),),
    ),
    Case(
        "sheets' names beyond ASCII",
        book(
            {
                "Übersicht": {"A1": "=SUM(Данные!B2:B4)", "A2": "='数据 1'!B2*2"},
                "Данные": DATA,
                "数据 1": DATA,
            }
        ),
        (
            ("Übersicht", "Данные", _FA, "Übersicht!A1 =SUM(Данные!B2:B4)"),
            ("Übersicht", "数据 1", _F, "Übersicht!A2 ='数据 1'!B2*2"),
        ),
    ),
    Case(
        "markup in a sheet's name",
        book({"P&L <net>": DATA, "Report": {"A1": "='P&L <net>'!B2>1"}}),
        (("Report", "P&L <net>", _F, "Report!A1 ='P&L <net>'!B2>1"),),
    ),
    Case(
        "sheets named like a cell, a function and a truth value",
        book(
            {"Report": {"A1": "='A1'!B2*SUM!B2*'TRUE'!B3"}, "A1": DATA, "SUM": DATA, "TRUE": DATA}
        ),
        tuple(
            ("Report", name, _F, "Report!A1 ='A1'!B2*SUM!B2*'TRUE'!B3")
            for name in ("A1", "SUM", "TRUE")
        ),
    ),
    Case(
        "a sheet's name in another case",
        report("=SUM(dATA!B2:B4)"),
        (("Report", "Data", _FA, "Report!B1 =SUM(dATA!B2:B4)"),),
    ),
    Case(
        "whole columns and rows",
        report("=SUM(Data!B:B)", "=COUNTA(Keys!$1:$1)", Data=DATA, Keys=DATA),
        (
            ("Report", "Data", _FAS, "Report!B1 =SUM(Data!B:B)"),
            ("Report", "Keys", _FAS, "Report!B2 =COUNTA(Keys!$1:$1)"),
        ),
    ),
    Case(
        "union, intersection and parentheses",
        report("=SUM((Data!B2,Data!C2:C4))+MAX(Data!B:B Data!2:2)"),
        (("Report", "Data", _FA, "Report!B1 =SUM((Data!B2,"),),
    ),
    Case(
        "a range with its sheet at both ends, and one that ends in a function",
        report("=SUM(Data!B2:Data!B4)", "=SUM(Keys!B2:INDEX(Keys!B:B,3))", Data=DATA, Keys=DATA),
        (
            ("Report", "Data", _FAS, "Report!B1 =SUM(Data!B2:Data!B4)"),
            ("Report", "Keys", _FAS, "Report!B2 =SUM(Keys!B2:INDEX(Keys!B:B,3))"),
        ),
    ),
    Case("references that broke", report("=Data!#REF!+#REF!B2", "=SUM(#REF!)")),
    Case(
        "strings that only look like references",
        report('="see Data!B2"', "=\"it's 'Data'!B2\"&B1", '=IF(B1="Data!A1","""Data!A1""",2)'),
    ),
    Case("a link to click on", report('=HYPERLINK("#Data!A1","Data")')),
    Case(
        "a formula that names its own sheet", book({"Data": {**DATA, "D2": "=Data!B2*'data'!C2"}})
    ),
    Case(
        "sheets that refer to each other",
        book({"Left": {"A1": "=Right!A2", "A2": 1}, "Right": {"A1": "=Left!A2", "A2": 1}}),
        (("Left", "Right", _F, "Left!A1 =Right!A2"), ("Right", "Left", _F, "Right!A1 =Left!A2")),
    ),
    Case("a reference to an empty sheet", report("=Blank!A1", Blank={}, Data=DATA)),
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
        "a spilled range and an implicit intersection",
        report(
            "=SUM(_xlfn.ANCHORARRAY(Data!B2))", "=_xlfn.SINGLE(Keys!B:B)*2", Data=DATA, Keys=DATA
        ),
        (
            ("Report", "Data", _FA, "Report!B1 =SUM(_xlfn.ANCHORARRAY(Data!B2))"),
            ("Report", "Keys", _F, "Report!B2 =_xlfn.SINGLE(Keys!B:B)*2"),
        ),
    ),
    Case(
        "INDIRECT with constant text",
        report(
            '=SUM(INDIRECT("Data!B2:B4"))',
            '=INDIRECT("\'"&"My keys"&"\'!B2")*2',
            **{"Data": DATA, "My keys": DATA},
        ),
        (
            ("Report", "Data", _FA, 'Report!B1 =SUM(INDIRECT("Data!B2:B4"))'),
            ("Report", "My keys", _F, "Report!B2 =INDIRECT("),
        ),
    ),
    Case(
        "INDIRECT with a constant sheet and a computed row",
        report('=INDIRECT("Data!B"&ROW()+1)/2'),
        (("Report", "Data", _F, 'Report!B1 =INDIRECT("Data!B"&ROW()+1)/2'),),
    ),
    Case(
        "INDIRECT with a computed sheet",
        report('=INDIRECT("\'"&A1&"\'!B2")', '=INDIRECT(A1&"!B2")'),
    ),
    Case(
        "parts of LET and LAMBDA",
        report("=_xlfn.LET(_xlpm.x,SUM(Data!B2:B4),_xlpm.x*2)"),
        (("Report", "Data", _FA, "Report!B1 =_xlfn.LET("),),
    ),
    Case("a sheet with headers in common and no formulas", book({"Orders": DATA, "Stock": DATA})),
    Case(
        "a formula over several lines",
        report("=SUM(Data!B2,\n  Data!B3,\n\t'Data'!B4)"),
        (("Report", "Data", _FA, "Report!B1 =SUM(Data!B2, Data!B3, 'Data'!B4)"),),
    ),
    Case(
        "a print area and a filter, which are names that nothing uses",
        book(
            {"Report": {"A1": 1}, "Data": DATA},
            lambda made: made.defined_names.add(DefinedName("Area", attr_text="Data!$A$1:$B$4")),
        ),
    ),
]
