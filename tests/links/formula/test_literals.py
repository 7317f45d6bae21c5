"""Without examples, nothing that a cell or a formula says itself is kept in links or claims."""

from __future__ import annotations

import pytest
import xlsxwriter

from sat_retriever import read_workbook
from sat_retriever.links.claims import discover
from sat_retriever.links.formula.tokens import without_literals


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ('A!B1&"Miller"&"x""y"', "A!B1&…&…"),
        ('SUMPRODUCT(A!B1:B2*{4711;"b"})', "SUMPRODUCT(A!B1:B2*{…;…})"),
        ("SUM(A!2:3)+SUM(2:3)*-5.5E-3%", "SUM(A!2:3)+SUM(2:3)*-…%"),
        ("A!B1*4711_x+A!B2*1.5.6", "A!B1*…+A!B2*…"),
        ("A!B1&“Miller”", "A!B1&…"),
        ("2024!B1+'20 25'!B1", "2024!B1+'20 25'!B1"),
        ("Table1[[#This Row],[Q1 2024]]", "Table1[[#This Row],[Q1 2024]]"),
    ],
)
def test_literals_go_and_references_stay(formula, expected):
    assert without_literals(formula) == expected


def test_links_of_a_workbook_read_without_examples_hold_no_values(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "m.xlsx") as book:
        main, data = book.add_worksheet("Main"), book.add_worksheet("Data")
        data.write_row(0, 0, ["Name", "Amount"])
        for row in range(1, 12):
            data.write_row(row, 0, [f"Miller {row}", 918_273 + row])
        main.write_formula("A1", '=IF(Data!A1="Miller",SUM(Data!B2:B9)*918273,secret)')
        main.write_formula("A2", '=INDIRECT("Data!A1")&"Miller"')
        source = '=IF(A1="Miller",Data!$A$2:$A$9,918273)'
        main.data_validation("C1", {"validate": "list", "source": source})
        main.data_validation("C2", {"validate": "list", "source": ["Miller", "918273"]})
        book.define_name("secret", '=IF(Data!$A$1="Miller",Data!$A$2,918273)')
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=Data!$B$2:$B$9", "name": "Miller"})
        chart.set_title({"name": "Miller"})
        main.insert_chart("E1", chart)
    read = read_workbook(tmp_path / "m.xlsx", contents="names", formulas=False)
    found = discover(read.records, read.references, read.structure, read.profiles)
    assert {link.type for link in found.links} >= {"aggregation", "join_key"}
    kept = repr((found, read.records, read.references, read.profiles))
    assert "Miller" not in kept
    assert "918" not in kept
