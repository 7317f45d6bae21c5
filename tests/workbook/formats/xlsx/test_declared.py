import io
import zipfile

import openpyxl
import pytest
import xlsxwriter
from openpyxl.worksheet.datavalidation import DataValidation

from sat_retriever import Limits, read_workbook
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.sheets import SkipReason
from sat_retriever.records.structure import DataSource, SourceKind
from sat_retriever.workbook.formats.xlsx.declared import MAX_SOURCES, RawSource, data_sources
from sat_retriever.workbook.formats.xlsx.scan import parse_rows, scan_plain
from sat_retriever.workbook.opening.package import Relationship

LIMITS = Limits()
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
X14 = "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"
XM = "http://schemas.microsoft.com/office/excel/2006/main"
VALIDATION, CONSOLIDATION = SourceKind.VALIDATION, SourceKind.CONSOLIDATION


def part(after, rows='<row r="1"><c r="A1"><f>B1</f><v>1</v></c></row>'):
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<worksheet xmlns="{MAIN}" xmlns:r="{RELS}"'
        f' xmlns:x14="{X14}" xmlns:xm="{XM}"><sheetData>{rows}</sheetData>{after}</worksheet>'
    ).encode()


def both(xml):
    """What both readers find, which has to be the same."""
    plain = scan_plain(iter([xml[:200], xml[200:]]), LIMITS)
    assert plain == parse_rows(iter([xml]), LIMITS)
    return plain


def listed(cells, formula, kind="list"):
    return (
        f'<dataValidation type="{kind}" sqref="{cells}"><formula1>{formula}</formula1>'
        "<formula2>Never!A1</formula2></dataValidation>"
    )


def test_lists_of_choices_are_found_by_both_readers():
    xml = part(
        "<dataValidations>"
        + listed("B2:B9 D4", "Lists!$A$1:$A$5")
        + listed("C2", "'Q 1'!$A$1&amp;\"\"")
        + listed("C3", "prices")
        + listed("C4", '"yes,no"')
        + listed("C5", "$A$1:$A$5")
        + listed("C6", "Other!A1", kind="whole")
        + "</dataValidations>"
    )
    scan = both(xml)
    assert [(each.place, each.area) for each in scan.sources] == [
        ("B2:B9", "Lists!$A$1:$A$5"),
        ("C2", "'Q 1'!$A$1&\"\""),
        ("C3", "prices"),
    ]
    assert scan.formulas == [("A1", "B1", None, "normal")]


def test_lists_of_choices_of_the_later_form_are_found():
    xml = part(
        '<extLst><ext uri="{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}"><x14:dataValidations>'
        '<x14:dataValidation type="list"><x14:formula1>\n <xm:f>Lists!$A$1:$A$5</xm:f>\n'
        "</x14:formula1><xm:sqref>B2:B3</xm:sqref></x14:dataValidation>"
        "</x14:dataValidations></ext></extLst>"
    )
    assert both(xml).sources == [RawSource(VALIDATION, area="Lists!$A$1:$A$5", place="B2:B3")]


def test_consolidations_are_found():
    xml = part(
        '<dataConsolidate function="sum"><dataRefs count="3"><dataRef ref="A1:B5" sheet="Q 1"/>'
        '<dataRef name="costs"/><dataRef ref="A1:B2" sheet="S" r:id="rId1"/></dataRefs>'
        "</dataConsolidate>"
    )
    links = {"rId1": Relationship("rId1", "externalLinkPath", "file:///C:/my%20b.xlsx", True)}
    assert data_sources("T", both(xml).sources, links) == [
        DataSource("T", CONSOLIDATION, "'Q 1'!A1:B5"),
        DataSource("T", CONSOLIDATION, "costs"),
        DataSource("T", CONSOLIDATION, "'[file:///C:/my b.xlsx]S'!A1:B2"),
    ]
    assert len(data_sources("T", both(xml).sources, {})) == 2


def test_a_hundred_thousand_lists_of_choices_stay_bounded():
    same = "".join(listed(f"B{n}", "Lists!$A$1:$A$5") for n in range(50_000))
    others = "".join(listed(f"C{n}", f"Lists!$A${n + 1}") for n in range(50_000))
    found = both(part(f"<dataValidations>{same}{others}</dataValidations>")).sources
    assert len(found) == MAX_SOURCES
    assert found[0].place == "B0"


def test_an_endless_list_formula_is_left_out():
    found = both(part(listed("A1", "Lists!A1+" * 100_000) + listed("A2", "Lists!B1"))).sources
    assert [each.area for each in found] == ["Lists!B1"]


def test_lists_come_with_the_workbook(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "Form"
    book.active["A1"] = "x"
    book.create_sheet("Lists")["A1"] = "a"
    choices = DataValidation(type="list", formula1="Lists!$A$1:$A$3")
    choices.add("B2:B9")
    book.active.add_data_validation(choices)
    book.save(tmp_path / "a.xlsx")
    read = read_workbook(tmp_path / "a.xlsx")
    assert read.structure.sources == (DataSource("Form", VALIDATION, "Lists!$A$1:$A$3", "B2:B9"),)


def with_part(path, name, change):
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            new.writestr(info.filename, change(data) if info.filename == name else data)
    path.write_bytes(out.getvalue())
    return read_workbook(path)


@pytest.fixture
def simple(tmp_path):
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("One", "Two"):
            sheet = book.add_worksheet(name)
            sheet.write_column("A1", ["x", 1, 2])
            sheet.write_formula("B1", "=Two!A2")
    return path


def test_a_damaged_sheet_has_unread_formulas_and_the_others_do_not(simple):
    book = with_part(simple, "xl/worksheets/sheet1.xml", lambda xml: xml[:-40])
    states = {record.sheet: record.formulas for record in book.records}
    assert states.pop("Two") is FormulaState.READ
    assert states in ({}, {"One": FormulaState.UNREAD})


def test_a_refused_sheet_has_unread_formulas(simple):
    def bomb(xml):
        return xml.replace(b"<worksheet", b'<!DOCTYPE x [<!ENTITY a "b">]><worksheet', 1)

    book = with_part(simple, "xl/worksheets/sheet1.xml", bomb)
    assert {record.sheet: record.formulas for record in book.records} == {
        "One": FormulaState.UNREAD,
        "Two": FormulaState.READ,
    }
    assert [(skip.sheet, skip.reason) for skip in book.skipped] == [("One", SkipReason.XML_BOMB)]


def test_formulas_of_shared_data_tables_and_children_with_text_are_kept():
    rows = (
        '<row r="1"><c r="A1" cm="1"><f t="array" ref="A1:A3">Q!A1:A3</f></c>'
        '<c r="B1"><f t="shared" ref="B1:B2" si="0">Q!B1</f></c>'
        '<c r="C1"><f t="dataTable" ref="C1:C9" dt2D="1" dtr="1" r1="D1" r2="D2"/><v>1</v></c>'
        '<c r="D1"><f t="shared" si="9">Q!D1</f></c></row>'
        '<row r="2"><c r="B2"><f t="shared" si="0"/><v>2</v></c>'
        '<c r="C2"><f t="dataTable" ref="C2" r1="D1">Q!C2</f></c>'
        '<c r="D2"><f t="shared" ref="D2:D3" si="0">Q!D2</f></c></row>'
        '<row r="9"><c r="B9"><f t="shared" si="0">Q!B9</f><v>2</v></c></row>'
    )
    assert both(part("", rows)).formulas == [
        ("A1", "Q!A1:A3", "A1:A3", "array"),
        ("B1", "Q!B1", "B1:B2", "shared"),
        ("D1", "Q!D1", None, "normal"),
        ("C2", "Q!C2", None, "normal"),
        ("D2", "Q!D2", "D2:D3", "shared"),
        ("B9", "Q!B9", None, "normal"),
    ]
