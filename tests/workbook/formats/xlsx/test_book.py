import io
import zipfile

import openpyxl
import pytest
import xlsxwriter
from openpyxl.workbook.defined_name import DefinedName as OpenpyxlName

from sat_retriever import Limits, Visibility
from sat_retriever.records.area import Area
from sat_retriever.records.sheets import SkipReason
from sat_retriever.records.structure import DefinedName, External, TableObject
from sat_retriever.workbook.formats.xlsx.book import read_contents, table_objects
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.package import Package

LIMITS = Limits()
RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def opened(content, limits=LIMITS):
    return Package.open(io.BytesIO(content), limits)


def packed(**parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            package.writestr(name, data)
    return out.getvalue()


def written(fill):
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        fill(book)
    return opened(out.getvalue())


def relationships(*rows):
    lines = "".join(
        f'<Relationship Id="{key}" Type="{RELS}/{kind}" Target="{target}"{more}/>'
        for key, kind, target, more in rows
    )
    return f"<Relationships>{lines}</Relationships>"


def test_sheets_come_in_tab_order_with_their_visibility_and_kind():
    def fill(book):
        book.add_worksheet("Shown")
        book.add_worksheet("Hidden").hide()
        book.add_worksheet("Deep").very_hidden()
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=Shown!$A$1:$A$2"})
        book.add_chartsheet("Plot").set_chart(chart)

    sheets = read_contents(written(fill)).sheets
    assert [(s.name, s.visibility, s.other) for s in sheets] == [
        ("Shown", Visibility.VISIBLE, ""),
        ("Hidden", Visibility.HIDDEN, ""),
        ("Deep", Visibility.VERY_HIDDEN, ""),
        ("Plot", Visibility.VISIBLE, "chart sheet"),
    ]


def test_defined_names_know_their_sheet_and_whether_they_are_hidden():
    book = openpyxl.Workbook()
    book.create_sheet("Other")
    book.defined_names["Rate"] = OpenpyxlName("Rate", attr_text="Sheet!$B$2")
    book["Other"].defined_names["Local"] = OpenpyxlName(
        "Local", attr_text="Other!$A:$A", hidden=True
    )
    out = io.BytesIO()
    book.save(out)
    assert read_contents(opened(out.getvalue())).names == (
        DefinedName("Rate", "Sheet!$B$2"),
        DefinedName("Local", "Other!$A:$A", "Other", hidden=True),
    )


def test_table_objects_have_their_range_columns_and_totals():
    def fill(book):
        columns = [{"header": "Key"}, {"header": "Sum", "total_function": "sum"}]
        area = {"data": [["a", 1]], "columns": columns, "total_row": True, "name": "Keys"}
        book.add_worksheet("T").add_table("B2:C4", area)

    package = written(fill)
    sheet = read_contents(package).sheets[0]
    assert table_objects(package, sheet.part) == (
        TableObject("Keys", Area(2, 2, 4, 3), 1, 1, ("Key", "Sum")),
    )


def test_characters_that_xml_hides_are_back_in_the_names_of_columns():
    def fill(book):
        columns = [{"header": "Handle_x000a_Bars"}, {"header": "a_x5_b"}]
        book.add_worksheet("T").add_table("A1:B3", {"columns": columns})

    package = written(fill)
    (table,) = table_objects(package, read_contents(package).sheets[0].part)
    assert table.columns == ("Handle\nBars", "a_x5_b")


def test_external_workbooks_are_numbered_as_formulas_number_them():
    link = relationships(("r1", "externalLinkPath", "file:///C:/b.xlsx", ' TargetMode="External"'))
    package = opened(
        packed(
            **{
                "xl/workbook.xml": f'<workbook xmlns:r="{RELS}"><sheets><sheet name="A" r:id="s"/>'
                '</sheets><externalReferences><externalReference r:id="r9"/>'
                "</externalReferences></workbook>",
                "xl/_rels/workbook.xml.rels": relationships(
                    ("r9", "externalLink", "externalLinks/e1.xml", ""),
                    ("s", "worksheet", "/xl/worksheets/s.xml", ""),
                ),
                "xl/externalLinks/_rels/e1.xml.rels": link,
            }
        )
    )
    contents = read_contents(package)
    assert contents.externals == (External(1, "file:///C:/b.xlsx"),)
    assert contents.sheets[0].part == "xl/worksheets/s.xml"


def test_the_1904_date_system_is_told():
    assert read_contents(written(lambda book: book.add_worksheet())).date_1904 is False
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True, "date_1904": True}) as book:
        book.add_worksheet()
    assert read_contents(opened(out.getvalue())).date_1904 is True


def test_part_names_are_found_without_regard_to_case_and_slashes():
    package = opened(packed(**{"XL\\Workbook.xml": "<workbook/>"}))
    assert "/xl/workbook.XML" in package
    assert read_contents(package).sheets == ()


def test_a_workbook_part_that_declares_entities_is_refused():
    bomb = '<!DOCTYPE x [<!ENTITY a "b">]><workbook/>'
    with pytest.raises(Refused) as refused:
        read_contents(opened(packed(**{"xl/workbook.xml": bomb})))
    assert refused.value.reason is SkipReason.XML_BOMB


def test_a_package_that_unpacks_a_thousandfold_is_a_zip_bomb():
    content = packed(**{"xl/workbook.xml": bytes(70 << 20)})
    assert len(content) < 200_000
    with pytest.raises(Refused) as refused:
        opened(content)
    assert refused.value.reason is SkipReason.ZIP_BOMB


def test_a_package_over_its_unpacked_limit_is_too_large():
    content = packed(**{"xl/workbook.xml": bytes(100_000)})
    with pytest.raises(Refused) as refused:
        opened(content, Limits(unpacked_bytes=50_000))
    assert refused.value.reason is SkipReason.TOO_LARGE
