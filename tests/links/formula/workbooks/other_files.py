"""Other workbooks, and other kinds of files."""

from __future__ import annotations

from pathlib import Path

from tests.links.formula.workbooks.case import (
    RAW_DATA,
    Case,
    RawSheet,
    Relation,
    cell,
    main_xml,
    raw,
    relationships,
    row,
)

_F, _FA, _FAS = (
    "formula_reference",
    "formula_reference aggregation",
    "formula_reference aggregation summary_source",
)


def _external(*formulas: str, targets: tuple[str, ...] = ("Rates%202024.xlsx",)):
    """A sheet Report with formulas from A2 down, which name workbooks by number."""
    lines = "".join(row(n, cell(f"A{n}", "", formula)) for n, formula in enumerate(formulas, 2))
    parts = {}
    for number, target in enumerate(targets, 1):
        part = f"xl/externalLinks/externalLink{number}.xml"
        parts[part] = main_xml("externalLink", "", '<externalBook r:id="p"/>')
        parts[f"xl/externalLinks/_rels/externalLink{number}.xml.rels"] = relationships(
            Relation("p", "externalLinkPath", target, external=True)
        )
    listed = "".join(f'<externalReference r:id="x{n}"/>' for n in range(1, len(targets) + 1))
    return raw(
        {"Report": RawSheet(row(1, cell("A1", "totals")) + lines), "Data": RAW_DATA},
        parts=parts,
        relations=tuple(
            Relation(f"x{n}", "externalLink", f"externalLinks/externalLink{n}.xml")
            for n in range(1, len(targets) + 1)
        ),
        in_workbook=f"<externalReferences>{listed}</externalReferences>",
    )


_OdsRows = list[list[str | float]]
_ODS_DATA: _OdsRows = [["item", "amount"], ["bolt", 3], ["nut", 4]]


def _ods(sheets: dict[str, _OdsRows]):
    """An OpenDocument workbook, in which "rate" stands for a cell of Rates."""

    def build(path: Path) -> None:
        from odf.opendocument import OpenDocumentSpreadsheet
        from odf.table import NamedExpressions, NamedRange

        made = OpenDocumentSpreadsheet()
        for name, rows in sheets.items():
            made.spreadsheet.addElement(_ods_table(name, rows))
        names = NamedExpressions()
        names.addElement(
            NamedRange(name="rate", cellrangeaddress="$Rates.$B$2", basecelladdress="$Report.$A$1")
        )
        made.spreadsheet.addElement(names)
        made.save(path)

    return build


def _ods_table(name: str, rows: _OdsRows):
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    table = Table(name=name)
    for values in rows:
        line = TableRow()
        for value in values:
            if isinstance(value, str) and value.startswith("of:="):
                line.addElement(TableCell(valuetype="float", value=1, formula=value))
            elif isinstance(value, str):
                text = TableCell(valuetype="string")
                text.addElement(P(text=value))
                line.addElement(text)
            else:
                line.addElement(TableCell(valuetype="float", value=value))
        table.addElement(line)
    return table


def _csv(path: Path) -> None:
    path.write_text("item,amount\nbolt,=Data!B2\nnut,4\n", encoding="utf-8")


def _literal(path: Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(path) as made:
        sheet = made.add_worksheet("Report")
        sheet.write("A1", "total")
        sheet.write_formula("A2", r"=SUM('C:\data\[Plan.xlsx]My year'!B2:B9)")


OTHER_FILE_CASES = [
    Case(
        "another workbook by number",
        _external("SUM([1]Rates!$B$2:$B$9)", "VLOOKUP(A1,'[1]My keys'!$A:$B,2,0)"),
        external=(
            ("Report", "Rates 2024.xlsx", "Rates", "aggregate"),
            ("Report", "Rates 2024.xlsx", "My keys", "lookup"),
        ),
    ),
    Case(
        "two other workbooks by path and address",
        _external(
            "[1]Rates!$B$2*2",
            "SUM([2]Jan:Mar!B2)",
            targets=("file:///C:\\data\\Old%20rates.xlsx", "https://example.org/a/Plan.xlsx?web=1"),
        ),
        external=(
            ("Report", "file:///C:\\data\\Old rates.xlsx", "Rates", "value"),
            ("Report", "https://example.org/a/Plan.xlsx", "Jan", "aggregate"),
        ),
    ),
    Case(
        "a name of another workbook",
        _external("[1]!vat*2", "SUM([1]Rates!amounts)"),
        external=(
            ("Report", "Rates 2024.xlsx", "vat", "value"),
            ("Report", "Rates 2024.xlsx", "amounts", "aggregate"),
        ),
    ),
    Case(
        "another workbook beside an own sheet",
        _external("SUM([1]Rates!B:B)+SUM(Data!B:B)"),
        (("Report", "Data", _FAS, "Report!A2 =SUM([1]Rates!B:B)+SUM(Data!B:B)"),),
        external=(("Report", "Rates 2024.xlsx", "Rates", "aggregate"),),
    ),
    Case(
        "another workbook written out",
        _literal,
        external=(("Report", "C:\\data\\Plan.xlsx", "My year", "aggregate"),),
    ),
    Case("another workbook that is not listed", _external("[9]Rates!$B$2*2")),
    Case(
        "an OpenDocument workbook",
        _ods(
            {
                "Report": [
                    ["what", "figure"],
                    ["total", "of:=SUM([Data.B2:.B3])"],
                    ["found", "of:=VLOOKUP([.A2];[$'My keys'.$A$1:.$B$3];2;0)"],
                    ["named", "of:=rate*2"],
                    ["own", "of:=[.B2]+[Report.B3]"],
                ],
                "Data": _ODS_DATA,
                "My keys": _ODS_DATA,
                "Rates": _ODS_DATA,
            }
        ),
        (
            ("Report", "Data", _FA, "Report!B2 =SUM(Data!"),
            ("Report", "My keys", "formula_reference join_key", "Report!B3 =VLOOKUP("),
            ("Report", "Rates", _F, "Report!B4 =rate*2"),
        ),
        suffix=".ods",
    ),
    Case(
        "a 3-D range and another workbook in OpenDocument",
        _ods(
            {
                "Report": [
                    ["what", "figure"],
                    ["year", "of:=SUM([Jan.B2:Mar.B3])"],
                    ["plan", "of:=['file:///data/My%20plan.ods'#$Year.B2]*2"],
                    ["text", 'of:="[Jan.B2]"'],
                ],
                "Jan": _ODS_DATA,
                "O'Feb": _ODS_DATA,
                "Mar": _ODS_DATA,
                "Apr": _ODS_DATA,
            }
        ),
        tuple(
            ("Report", month, _FAS, "Report!B2 =SUM(Jan:Mar!B2:B3)")
            for month in ("Jan", "O'Feb", "Mar")
        ),
        external=(("Report", "file:///data/My plan.ods", "Year", "value"),),
        suffix=".ods",
    ),
    Case("a text file", _csv, suffix=".csv"),
]
