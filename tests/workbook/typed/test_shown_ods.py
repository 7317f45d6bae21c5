"""Percents and currencies of an ods: what its cells show."""

import pytest

from sat_retriever.workbook.values.numberformat import FRACTION
from tests.builders import indexed

opendocument = pytest.importorskip("odf.opendocument")
from odf.table import Table, TableCell, TableRow  # noqa: E402
from odf.text import P  # noqa: E402


def cell(value, kind, **more):
    made = TableCell(valuetype=kind, **({} if kind == "string" else {"value": value}), **more)
    made.addElement(P(text=str(value)))
    return made


def line(*cells):
    row = TableRow()
    for each in cells:
        row.addElement(each)
    return row


def test_percents_and_currencies_of_an_ods_are_told(tmp_path):
    book = opendocument.OpenDocumentSpreadsheet()
    sheet = Table(name="Shops")
    sheet.addElement(line(*(cell(name, "string") for name in ("Shop", "Margin", "Sales"))))
    for shop, margin in (("Bonn", 0.19), ("Kiel", 0.07), ("Ulm", 0.25)):
        money = cell(1200, "currency", currency="EUR")
        sheet.addElement(line(cell(shop, "string"), cell(margin, "percentage"), money))
    jena = (cell("Jena", "string"), cell("12.5%", "string"), cell(80, "currency", currency="EUR"))
    sheet.addElement(line(*jena))
    book.spreadsheet.addElement(sheet)
    book.save(str(tmp_path / "a.ods"))
    with indexed(tmp_path, tmp_path / "x.sat") as index:
        margin, sales = index.table("a.ods#Shops").columns[1:]
        shown = index.records(["a.ods#Shops"])["a.ods#Shops"].columns[1:]
    assert (list(margin.values), margin.unit) == ([0.19, 0.07, 0.25, 0.125], FRACTION)
    assert (list(sales.values), sales.unit) == ([1200, 1200, 1200, 80], "EUR")
    assert [column.unit for column in shown] == [FRACTION, "EUR"]
