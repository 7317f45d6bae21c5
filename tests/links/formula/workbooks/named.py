"""Defined names and tables."""

from __future__ import annotations

from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.table import Table

from tests.links.formula.workbooks.case import DATA, Case, book

_F, _FA = "formula_reference", "formula_reference aggregation"


def _names(*names: tuple[str, str], **local: tuple[str, str]):
    """Adds names to the workbook, and one to each sheet named."""

    def finish(made) -> None:
        for name, text in names:
            made.defined_names.add(DefinedName(name, attr_text=text))
        for sheet, (name, text) in local.items():
            made[sheet].defined_names.add(DefinedName(name, attr_text=text))

    return finish


def _table(made) -> None:
    made["Data"].add_table(Table(displayName="Sales", ref="A1:C4"))


def _reports(*formulas: str, **more):
    cells = {f"B{row}": formula for row, formula in enumerate(formulas, 1)}
    return {"Report": {"A1": "total", **cells}, "Data": DATA, **more}


NAMED_CASES = [
    Case(
        "a name of the workbook",
        book(_reports("=Rate*2"), _names(("rate", "Data!$B$2"))),
        (("Report", "Data", _F, "Report!B1 =Rate*2"),),
    ),
    Case(
        "a name of a sheet before the workbook's",
        book(
            {
                "Report": {"A1": "=rate*2"},
                "Other": {"A1": "=rate*2"},
                "Local": DATA,
                "Global": DATA,
            },
            _names(("rate", "Global!$B$2"), Report=("rate", "Local!$B$2")),
        ),
        (
            ("Report", "Local", _F, "Report!A1 =rate*2"),
            ("Other", "Global", _F, "Other!A1 =rate*2"),
        ),
    ),
    Case(
        "a name with its sheet before it",
        book(
            {"Report": {"A1": "=Settings!rate*2"}, "Settings": {"A1": "x"}, "Data": DATA},
            _names(Settings=("rate", "Data!$B$2")),
        ),
        (("Report", "Data", _F, "Report!A1 =Settings!rate*2"),),
    ),
    Case(
        "a name that stands for another name",
        book(_reports("=SUM(total)"), _names(("total", "amounts"), ("amounts", "Data!$B$2:$B$4"))),
        (("Report", "Data", _FA, "Report!B1 =SUM(total)"),),
    ),
    Case(
        "names that stand for each other",
        book(_reports("=first+second"), _names(("first", "second"), ("second", "first"))),
    ),
    Case(
        "a name that grows with its list",
        book(
            _reports("=MAX(items)"),
            _names(("items", "OFFSET(Data!$B$2,0,0,COUNTA(Data!$B:$B)-1,1)")),
        ),
        (("Report", "Data", _FA, "Report!B1 =MAX(items)"),),
    ),
    Case(
        "a name that totals",
        book(_reports("=all_of_it*2"), _names(("all_of_it", "SUM(Data!$B$2:$B$4)"))),
        (("Report", "Data", _FA, "Report!B1 =all_of_it*2"),),
    ),
    Case(
        "a name over several sheets",
        book(_reports("=SUM(both)", More=DATA), _names(("both", "Data!$B$2,More!$B$2"))),
        (
            ("Report", "Data", f"{_FA} summary_source", "Report!B1 =SUM(both)"),
            ("Report", "More", f"{_FA} summary_source", "Report!B1 =SUM(both)"),
        ),
    ),
    Case("a name of a constant", book(_reports("=vat*2"), _names(("vat", "0.19")))),
    Case("a name that broke", book(_reports("=gone*2"), _names(("gone", "Data!#REF!")))),
    Case("a name that is not there", book(_reports("=missing*2", "=Data!missing"))),
    Case(
        "a name in a text of the same letters",
        book(_reports('="rate"', "=rates(1)"), _names(("rate", "Data!$B$2"))),
    ),
    Case(
        "a column of a table",
        book(_reports("=SUM(Sales[amount])"), _table),
        (("Report", "Data", _FA, "Report!B1 =SUM(Sales[amount])"),),
    ),
    Case(
        "columns and parts of a table",
        book(_reports("=COUNTA(Sales[[#Headers],[item]:[amount]])"), _table),
        (("Report", "Data", _FA, "Report!B1 =COUNTA(Sales[[#Headers],[item]:[amount]])"),),
    ),
    Case(
        "a whole table by its name",
        book(_reports("=ROWS(Sales)*2"), _table),
        (("Report", "Data", _F, "Report!B1 =ROWS(Sales)*2"),),
    ),
    Case(
        "a table's formulas on itself",
        book(
            {
                "Data": {**DATA, "D2": "=Sales[[#This Row],[amount]]*2", "E2": "=[@amount]*2"},
                "Other": DATA,
            },
            _table,
        ),
    ),
    Case(
        "a name that stands for a table's column",
        book(
            _reports("=SUM(amounts)"),
            lambda made: (_table(made), _names(("amounts", "Sales[amount]"))(made)),
        ),
        (("Report", "Data", _FA, "Report!B1 =SUM(amounts)"),),
    ),
    Case(
        "a name of the own workbook through [0]",
        book(_reports("=[0]!rate*2"), _names(("rate", "Data!$B$2"))),
        (("Report", "Data", _F, "Report!B1 =[0]!rate*2"),),
    ),
    Case(
        "INDIRECT of a name",
        book(_reports('=SUM(INDIRECT("amounts"))'), _names(("amounts", "Data!$B$2:$B$4"))),
        (("Report", "Data", _FA, 'Report!B1 =SUM(INDIRECT("amounts"))'),),
    ),
]
