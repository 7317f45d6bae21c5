import io
import re
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever import Limits, read_workbook
from sat_retriever.records.area import Area
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.sheets import Formula, SkipReason
from sat_retriever.records.structure import (
    DataSource,
    DefinedName,
    Reference,
    SheetTable,
    SourceKind,
    TableObject,
    Use,
)
from sat_retriever.workbook.formats.load import load
from sat_retriever.workbook.formats.ods.content import read_formulas, thinned
from sat_retriever.workbook.formats.ods.declared import read_declared
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.messages import Request
from sat_retriever.workbook.opening.package import BadXmlError

LIMITS = Limits()
MANIFEST = (
    '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    '<manifest:file-entry manifest:full-path="/" manifest:media-type='
    '"application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>'
)
OASIS = "urn:oasis:names:tc:opendocument:xmlns"
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{OASIS}:{name}:1.0"'
    for prefix, name in [
        ("office", "office"), ("table", "table"), ("text", "text"), ("draw", "drawing"),
        ("chart", "chart"),
    ]
)  # fmt: skip
NAMESPACES += ' xmlns:xlink="http://www.w3.org/1999/xlink"'


def content(inside, *, before=""):
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>{before}<office:document-content {NAMESPACES}'
        ' office:version="1.2"><office:body><office:spreadsheet>'
        f"{inside}</office:spreadsheet></office:body></office:document-content>"
    )


def tab(name, rows, inside=""):
    return f'<table:table table:name="{name}">{inside}{rows}</table:table>'


def row(*cells, repeated=1):
    more = f' table:number-rows-repeated="{repeated}"' if repeated > 1 else ""
    return f"<table:table-row{more}>{''.join(cells)}</table:table-row>"


def cell(formula="", text="1", more=""):
    formula = formula.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    formula = f' table:formula="{formula}"' if formula else ""
    return (
        f'<table:table-cell{formula} office:value-type="float" office:value="{text}"{more}>'
        f"<text:p>{text}</text:p></table:table-cell>"
    )


DATA = tab("Data", row(cell(), cell()) + row(cell(), cell()))


def ods(path, xml, **parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr("META-INF/manifest.xml", MANIFEST)
        package.writestr("content.xml", xml)
        for name, data in parts.items():
            package.writestr(name, data)
    return read_workbook(path)


def with_prefix(xml):
    """The same document with another prefix for tables."""
    return re.sub(r"(?<=[< /])table:", "t:", xml).replace("xmlns:table=", "xmlns:t=")


def formulas(xml, size=100):
    """Formulas by sheet; the same however the bytes come."""
    raw = xml.encode() if isinstance(xml, str) else xml

    def chunks(step):
        return lambda: iter([raw[start : start + step] for start in range(0, len(raw), step)])

    found = list(read_formulas(chunks(size), LIMITS))
    assert list(read_formulas(chunks(1 << 20), LIMITS)) == found
    return {each.sheet: each.formulas for each in found}


def declared(xml):
    raw = xml.encode()
    return read_declared(lambda: iter([raw[:300], raw[300:]]), LIMITS)


def test_formulas_references_and_states_come_with_the_workbook(tmp_path):
    total = row(cell("of:=SUM([Data.A1:.A2])"), cell("of:=[.A1]*rate"))
    names = (
        '<table:named-expressions><table:named-range table:name="rate" table:base-cell-address='
        '"$Data.$A$1" table:cell-range-address="$Data.$B$1"/></table:named-expressions>'
    )
    book = ods(tmp_path / "a.ods", content(tab("Total", total) + DATA + names))
    assert book.formulas == (
        Formula("Total", "A1", "SUM(Data!A1:A2)"),
        Formula("Total", "B1", "A1*rate"),
    )
    assert book.references == (
        Reference("Total", Use.AGGREGATE, "A1", "SUM(Data!A1:A2)", 1, first="Data", area="A1:A2"),
        Reference("Total", Use.VALUE, "B1", "A1*rate", 1, name="rate"),
    )
    assert book.structure.names == (DefinedName("rate", "Data!$B$1"),)
    assert book.structure.tabs == ("Total", "Data")
    assert [record.formulas for record in book.records] == [FormulaState.READ] * 2
    assert read_workbook(tmp_path / "a.ods", formulas=False).formulas == ()
    assert read_workbook(tmp_path / "a.ods", links=False).references == ()


def test_a_file_written_by_a_library_is_read(tmp_path):
    pytest.importorskip("odf", reason="odfpy is not installed")
    from odf.namespaces import TABLENS
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import NamedExpressions, NamedRange, Table, TableCell, TableRow
    from odf.text import P

    document = OpenDocumentSpreadsheet()
    for name, formula in (("Sum", "of:=SUM(['Q 1'.A1:.A2])"), ("Q 1", None)):
        table, line = Table(name=name), TableRow()
        made = TableCell(valuetype="float", value=1, **({"formula": formula} if formula else {}))
        made.addElement(P(text="1"))
        line.addElement(made)
        table.addElement(line)
        document.spreadsheet.addElement(table)
    names = NamedExpressions()
    base = {(TABLENS, "base-cell-address"): "$Sum.$A$1"}
    names.addElement(
        NamedRange(name="costs", cellrangeaddress="$'Q 1'.$A$1:.$A$9", qattributes=base)
    )
    document.spreadsheet.addElement(names)
    document.save(tmp_path / "a.ods")
    book = read_workbook(tmp_path / "a.ods")
    assert [(each.first, each.area) for each in book.references] == [("Q 1", "A1:A2")]
    assert book.structure.names == (DefinedName("costs", "'Q 1'!$A$1:$A$9"),)


def test_repeated_rows_and_cells_are_counted_and_never_expanded():
    empty = "<table:table-cell table:number-columns-repeated='3'/>"
    rows = (
        row(empty, repeated=1_048_000)
        + row(empty, cell("of:=[Data.A1]", more=' table:number-columns-repeated="23"'))
        + row(cell("of:=[Data.B1]"), repeated=500)
        + row("<table:covered-table-cell table:number-columns-repeated='2'/>", cell("=[Data.C1]"))
    )
    assert formulas(content(tab("S", rows)))["S"] == [
        ("D1048001", "Data!A1", "D1048001:Z1048001", "shared"),
        ("A1048002", "Data!B1", "A1048002:A1048501", "shared"),
        ("C1048502", "Data!C1", None, "normal"),
    ]


def test_absurd_counts_are_taken_as_one():
    for count in ("-1", "0", "9" * 50, "x", "1e9", "٣"):
        more = f' table:number-columns-repeated="{count}"'
        rows = row(cell("of:=[Data.A1]", more=more), cell("of:=[Data.B1]"))
        assert [each[0] for each in formulas(content(tab("S", rows)))["S"]] == ["A1", "B1"]


def test_matrix_formulas_have_their_range():
    more = ' table:number-matrix-columns-spanned="2" table:number-matrix-rows-spanned="3"'
    rows = row(cell(), cell("of:=[Data.A1:.B3]", more=more))
    assert formulas(content(tab("S", rows)))["S"] == [("B1", "Data!A1:B3", "B1:C3", "array")]


def test_tables_inside_of_cells_do_not_move_what_follows():
    inner = f"<table:table-cell>{tab('Inner', row(cell('of:=[Data.Z9]')) * 3)}</table:table-cell>"
    rows = row(inner, cell("of:=[Data.A1]")) + row(cell("of:=[Data.A2]"))
    assert formulas(content(tab("S", rows))) == {
        "S": [("B1", "Data!A1", None, "normal"), ("A2", "Data!A2", None, "normal")]
    }


def test_tables_outside_of_the_sheets_are_no_sheets():
    change = f"<table:tracked-changes>{tab('Old', row(cell('of:=[Data.A1]')))}"
    xml = content(f"{change}</table:tracked-changes>{DATA}")
    assert formulas(xml) == {"Data": []}
    assert declared(xml).tabs == ["Data"]


def test_comments_other_prefixes_and_encodings_change_nothing():
    plain = content(tab("S", row(cell()) + row(cell("of:=[Data.A1]")) + row(cell())))
    expected = {"S": [("A2", "Data!A1", None, "normal")]}
    assert formulas(plain) == expected
    assert formulas(plain.replace("</table:table-row>", "</table:table-row><!-- > -->")) == expected
    assert formulas(with_prefix(plain)) == expected
    assert formulas(plain.replace("UTF-8", "UTF-16").encode("utf-16")) == expected
    tricky = plain.replace("<table:table-row>", '<table:table-row table:style-name="&lt;a>">')
    with pytest.raises(BadXmlError):
        formulas(tricky)


def test_a_row_inside_of_a_comment_is_no_row():
    comment = "<!-- <table:table-row a='b'> -->"
    xml = content(tab("S", row(cell("of:=[Data.A1]"), comment, cell()) + row(cell())))
    assert formulas(xml) == {"S": [("A1", "Data!A1", None, "normal")]}


def test_other_prefixes_do_not_hide_that_there_are_formulas(tmp_path):
    xml = content(tab("S", row(cell("of:=[Data.A1]"))) + DATA)
    assert [each.first for each in ods(tmp_path / "a.ods", with_prefix(xml)).references] == ["Data"]


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            [
                row(cell()), row(cell("of:=[Data.A1]")), "<table:table-row/>", row(repeated=7),
                "<table:table-row-group>" + row(cell()) + "</table:table-row-group>",
                row("<table:table-cell table:style-name='a&gt;b'/>", cell("of:=[X.A1]")),
                "<table:table-rows>" + row(cell("of:=[Y.A1]")) + "</table:table-rows>",
            ]
        ),
        max_size=12,
    ),
    st.integers(1, 400),
)  # fmt: skip
def test_leaving_out_rows_leaves_out_no_formula(rows, size):
    xml = content(tab("S", "".join(rows)) + DATA)
    commented = xml.replace("<office:body>", "<office:body><!-- not plain -->")
    assert formulas(xml, size) == formulas(commented, size)


def test_rows_without_interest_lose_their_cells():
    xml = (row(cell()) * 3 + row(cell("of:=[Data.A1]"))).encode()
    out = b"".join(thinned(iter([xml[:40], xml[40:]]), lambda line: b"formula" in line))
    assert out.count(b"<table:table-cell") == 1
    assert out.count(b"<table:table-row") == out.count(b"</table:table-row>") == 4


def test_names_ranges_lists_pivots_and_consolidations_are_declared():
    validation = (
        '<table:content-validations><table:content-validation table:name="v" table:condition='
        '"of:cell-content-is-in-list([$Data.$A$1:.$A$5])" table:base-cell-address="$S.$B$2"/>'
        '<table:content-validation table:name="w" table:condition='
        '"of:cell-content-is-in-list(&quot;a&quot;;&quot;b&quot;)" table:base-cell-address="S.B3"/>'
        '<table:content-validation table:name="x" table:condition='
        '"of:cell-content()&gt;[Data.A1]" table:base-cell-address="S.B4"/>'
        '<table:content-validation table:name="y" table:condition='
        '"of:cell-content-is-in-list(prices)" table:base-cell-address="S.B5"/>'
        "</table:content-validations>"
    )
    local = (
        '<table:named-expressions><table:named-expression table:name="twice" '
        'table:base-cell-address="S.A1" table:expression="of:=[.A1]*[$Data.B1]"/>'
        "</table:named-expressions>"
    )
    behind = (
        '<table:database-ranges><table:database-range table:name="Sales" table:target-range-address'
        '="$Data.$A$1:.$B$9"/><table:database-range table:name="__Anonymous_Sheet_DB__0"'
        ' table:target-range-address="Data.A1:Data.B9"/></table:database-ranges>'
        '<table:data-pilot-tables><table:data-pilot-table table:name="Pilot" '
        'table:target-range-address="S.D1:S.E9"><table:source-cell-range '
        'table:cell-range-address="Data.A1:Data.B9"/></table:data-pilot-table>'
        "</table:data-pilot-tables>"
        '<table:consolidation table:function="sum" table:target-cell-address="S.A5" '
        "table:source-cell-range-addresses=\"Data.A1:Data.B2 'Q 1'.A1:'Q 1'.B2\"/>"
    )
    found = declared(content(validation + tab("S", row(cell()), local) + DATA + behind))
    assert found.names == [DefinedName("twice", "A1*Data!B1", "S")]
    assert found.tables == [SheetTable("Data", TableObject("Sales", Area(1, 1, 9, 2)))]
    assert found.sources == [
        DataSource("S", SourceKind.VALIDATION, "Data!$A$1:$A$5", "B2"),
        DataSource("S", SourceKind.VALIDATION, "prices", "B5"),
        DataSource("S", SourceKind.PIVOT, "Data!A1:B9", "Pilot"),
        DataSource("S", SourceKind.CONSOLIDATION, "Data!A1:B2", "A5"),
        DataSource("S", SourceKind.CONSOLIDATION, "'Q 1'!A1:B2", "A5"),
    ]


def test_charts_name_the_ranges_they_show(tmp_path):
    frame = (
        '<table:table-cell><draw:frame draw:name="Costs"><draw:object xlink:href="./Object 1"/>'
        "</draw:frame></table:table-cell>"
    )
    shapes = (
        '<table:shapes><draw:frame draw:name="Gone"><draw:object xlink:href="./Object 2"/>'
        '</draw:frame><draw:frame><draw:object xlink:href="../../etc"/></draw:frame></table:shapes>'
    )
    chart = content(
        '<chart:chart><chart:plot-area table:cell-range-address="Data.A1:Data.B2"><chart:series '
        'chart:values-cell-range-address="Data.B1:Data.B2" chart:label-cell-address="S.A1"/>'
        "</chart:plot-area></chart:chart>"
    )
    xml = content(tab("S", row(cell(), frame), shapes) + DATA)
    book = ods(tmp_path / "a.ods", xml, **{"Object 1/content.xml": chart})
    assert book.structure.sources == (
        DataSource("S", SourceKind.CHART, "Data!A1:B2", "Costs"),
        DataSource("S", SourceKind.CHART, "S!A1", "Costs"),
    )
    damaged = ods(tmp_path / "b.ods", xml, **{"Object 1/content.xml": chart[:-60] + "<"})
    assert [each.text for each in damaged.structure.sources] == ["Data!A1:B2", "S!A1"]


def test_other_workbooks_are_named_by_their_path(tmp_path):
    formula = "of:=['file:///data/my%20b.ods'#$Sheet1.A1]"
    [found] = ods(tmp_path / "a.ods", content(tab("S", row(cell(formula))))).references
    assert (found.workbook, found.first) == ("file:///data/my b.ods", "Sheet1")


def test_a_declared_range_is_a_table_of_the_record(tmp_path):
    lines = "".join(row(cell(text=str(n)), cell(text=str(n * 2))) for n in range(5))
    area = (
        '<table:database-ranges><table:database-range table:name="Sales" '
        'table:target-range-address="Data.A1:Data.B5"/></table:database-ranges>'
    )
    book = ods(tmp_path / "a.ods", content(tab("Data", lines) + area))
    assert [table.name for table in book.records[0].tables] == ["Sales"]


def test_a_bomb_gives_records_without_formulas_and_a_reason(tmp_path):
    bomb = '<!DOCTYPE x [<!ENTITY a "b"><!ENTITY b "&a;&a;">]>'
    book = ods(tmp_path / "a.ods", content(DATA, before=bomb))
    assert {record.formulas for record in book.records} <= {FormulaState.UNREAD}
    assert SkipReason.XML_BOMB in {skip.reason for skip in book.skipped}


def test_elements_nested_without_end_are_refused():
    xml = "<a>" * 5_000
    with pytest.raises(Refused):
        declared(content(xml))


def test_a_damaged_end_leaves_the_sheets_before_it_read(tmp_path):
    xml = content(tab("A", row(cell("of:=[Data.A1]"))) + DATA)
    cut = xml[: xml.index('<table:table table:name="Data">') + 60]
    assert formulas_until_damage(cut) == ["A"]


def formulas_until_damage(xml):
    seen = []
    with pytest.raises(BadXmlError):
        for found in read_formulas(lambda: iter([xml.encode()]), LIMITS):
            seen.append(found.sheet)
    return seen


def test_a_million_repeated_rows_with_formulas_are_one_reference(tmp_path):
    rows = row(cell("of:=[Data.A1]", more=' table:number-columns-repeated="1024"'),
               repeated=1_048_576)  # fmt: skip
    xml = content(tab("S", rows) + DATA)
    assert formulas(xml)["S"][0][2] == "A1:AMJ1048576"


def test_formulas_beyond_the_limit_are_left_and_that_is_said(tmp_path):
    path = tmp_path / "a.ods"
    ods(path, content(tab("S", row(cell("of:=[Data.A1]") * 3)) + DATA))
    messages = list(load(Request(str(path), "a.ods", limits=Limits(formulas=2))))
    records = [message["record"] for message in messages if "record" in message]
    assert [record["formulas"] for record in records] == [FormulaState.UNREAD, FormulaState.READ]
    said = [each["skipped"] for each in messages if "skipped" in each]
    assert {each["reason"] for each in said} == {"too_large"}
    assert any("from C1 on" in each["message"] for each in said)


def test_sheets_beyond_the_processor_time_are_left_and_that_is_said(tmp_path):
    path = tmp_path / "a.ods"
    ods(path, content(tab("S", row(cell("of:=[Data.A1]"))) + DATA))
    messages = list(load(Request(str(path), "a.ods", limits=Limits(seconds=0.0))))
    assert [each["skipped"]["reason"] for each in messages if "skipped" in each] == ["timeout"] * 2
    assert not [each for each in messages if "record" in each]


def test_a_package_without_content_gives_a_reason(tmp_path):
    path = tmp_path / "a.ods"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    path.write_bytes(out.getvalue())
    assert read_workbook(path).skipped


def unsaved_cell(more=""):
    return f'<table:table-cell table:formula="of:=[Data.A1]*2"{more}/>'


def text_cell(text):
    return (
        f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
    )


def test_formulas_without_values_belong_to_the_table(tmp_path):
    years = row(text_cell("Region"), *(cell(text=str(year)) for year in (2020, 2021, 2022)))
    wide = unsaved_cell(' table:number-columns-repeated="3"')
    rows = [row(text_cell(name), wide) for name in ("North", "South", "East", "West")]
    book = ods(tmp_path / "a.ods", content(tab("S", years + "".join(rows)) + DATA))
    (table,) = book.records[0].tables
    assert (table.range, table.header_row, table.num_rows) == ("A1:D5", 1, 4)
    assert [column.name for column in table.columns] == ["Region", "2020", "2021", "2022"]


def test_a_sheet_of_formulas_without_values_has_a_record(tmp_path):
    rows = row(unsaved_cell(), unsaved_cell()) * 3
    book = ods(tmp_path / "a.ods", content(tab("S", rows) + DATA))
    assert [(each.sheet, each.range) for each in book.records] == [
        ("S", "A1:B3"),
        ("Data", "A1:B2"),
    ]


def test_a_sheet_full_of_repeated_formulas_without_values_costs_one_cell():
    rows = row(unsaved_cell(' table:number-columns-repeated="1024"'), repeated=1_048_576)
    (found,) = read_formulas(lambda: iter([content(tab("S", rows)).encode()]), LIMITS)
    assert len(found.unsaved) == 1
