import io
import re
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.utils import get_column_letter

from benchmarks.safety.mutants import made_seeds
from sat_retriever import Limits
from sat_retriever.records.area import Area
from sat_retriever.records.sheets import SkipReason
from sat_retriever.workbook.formats.xlsx.book import Styles
from sat_retriever.workbook.formats.xlsx.rowscan import NotPlain
from sat_retriever.workbook.formats.xlsx.scan import SheetScan, parse_rows, scan_plain, scan_sheet
from sat_retriever.workbook.limits import Budget, Refused
from sat_retriever.workbook.values.grid import Places
from sat_retriever.workbook.values.numberformat import NumberFormat

LIMITS = Limits()
STYLES = Styles((NumberFormat("kg"), NumberFormat("EUR")), {"0": 1, "1": 2, "3": 1})
TEXTS = Styles((NumberFormat(code="0%"),), {"1": 1, "3": 1}, Area(100, 3, 300, 500))
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"


def sheet(rows, *, before="", after="", namespace=MAIN):
    return (
        f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="{namespace}">'
        f"{before}<sheetData>{rows}</sheetData>{after}</worksheet>"
    ).encode()


def pieces(xml, size=64):
    return iter([xml[start : start + size] for start in range(0, len(xml), size)])


def scanned(xml):
    return scan_sheet(pieces(xml), pieces(xml), LIMITS)


def test_bounds_leave_out_cells_that_only_have_a_style():
    xml = sheet(
        '<row r="1"><c r="A1" s="1"/></row><row r="3"><c r="B3" s="1"/><c r="C3"><v>1</v></c>'
        '<c r="D3"/></row><row r="9"><c r="E9" t="inlineStr"><is><t>x</t></is></c></row>'
        '<row r="1048576"><c r="XFD1048576" s="4"></c></row>'
    )
    assert scan_plain(pieces(xml), LIMITS).area == Area(3, 3, 9, 5)
    assert parse_rows(pieces(xml), LIMITS).area == Area(3, 3, 9, 5)


def test_one_entry_stands_for_a_shared_or_array_formula():
    xml = sheet(
        '<row r="1"><c r="A1"><f>B1&amp;"&lt;x&gt;"</f><v>1</v></c></row>'
        '<row r="2"><c r="A2"><f t="shared" ref="A2:A4" si="0">B2*2</f><v>1</v></c></row>'
        '<row r="3"><c r="A3"><f t="shared" si="0"/><v>2</v></c></row>'
        '<row r="4"><c r="A4"><f t="shared" si="0"></f><v>2</v></c>'
        '<c r="C4"><f t="array" ref="C4:D5">SUM(A1:A3)</f></c></row>'
    )
    expected = [
        ("A1", 'B1&"<x>"', None, "normal"),
        ("A2", "B2*2", "A2:A4", "shared"),
        ("C4", "SUM(A1:A3)", "C4:D5", "array"),
    ]
    for scan in (scan_plain(pieces(xml), LIMITS), parse_rows(pieces(xml), LIMITS)):
        assert scan.formulas == expected
        assert scan.formula_area == Area(1, 1, 4, 3)


@pytest.mark.parametrize("read", [scan_plain, parse_rows])
def test_formulas_without_a_saved_value_are_told_from_those_with_one(read):
    xml = sheet(
        '<row r="1"><c r="A1"><f>B1</f></c><c r="B1"><f>C1</f><v>1</v></c>'
        '<c r="C1" t="str"><f>""</f><v></v></c><c r="D1" t="str"><f>E1</f></c></row>'
        '<row r="2"><c r="A2"><f t="shared" ref="A2:A3" si="0">B2*2</f><v/></c></row>'
        '<row r="3"><c r="A3"><f t="shared" si="0"/></c><c r="B3"><f t="shared" si="0"/><v>2</v>'
        '</c></row><row r="4"><c r="F4"><f t="array" ref="F4:G5">A1:B2</f><v></v></c></row>'
        '<row r="9"><c r="A9"><f t="array" ref="A9:XFD1048576">A1</f></c></row>'
    )
    found = read(pieces(xml, 41), LIMITS).unsaved
    cells = [(1, 1), (1, 4), (2, 1), (3, 1), (4, 6), (4, 7), (5, 6), (5, 7), (9, 1)]
    assert found == Places(LIMITS.cells, cells)


@pytest.mark.parametrize("read", [scan_plain, parse_rows])
def test_no_more_formulas_without_values_are_kept_than_a_sheet_may_have_cells(read):
    rows = "".join(f'<row r="{n}"><c r="A{n}"><f>B{n}</f></c></row>' for n in range(1, 50))
    assert len(read(pieces(sheet(rows)), Limits(cells=20)).unsaved) == 20


def test_errors_keep_their_text_and_place_beside_empty_cells():
    xml = sheet(
        '<row r="2"><c r="A2" s="1"/><c r="B2" t="e"><v>#DIV/0!</v></c><c r="C2" t="e"/>'
        '<c r="D2" t="e"><f>1/0</f><v>#N/A</v></c></row>'
    )
    expected = [(2, 2, "#DIV/0!"), (2, 4, "#N/A")]
    assert scan_plain(pieces(xml), LIMITS).errors == expected
    assert parse_rows(pieces(xml), LIMITS).errors == expected


def test_hidden_rows_and_columns_and_merges_are_found_around_the_rows():
    xml = sheet(
        '<row r="2" hidden="1"><c r="A2"><v>1</v></c></row><row r="3" hidden="true"/>'
        '<row r="5" hidden="1"/><row r="6" hidden="0"/>',
        before='<cols><col min="2" max="4" hidden="1"/><col min="6" max="6"/></cols>',
        after='<mergeCells><mergeCell ref="A1:C1"/><mergeCell ref="B$7"/></mergeCells>',
    )
    for scan in (scan_plain(pieces(xml), LIMITS), parse_rows(pieces(xml), LIMITS)):
        assert scan.hidden_rows == [(2, 3), (5, 5)]
        assert scan.hidden_cols == [(2, 4)]
        assert scan.merges == [Area(1, 1, 1, 3), Area(7, 2, 7, 2)]


def test_strict_namespaces_are_read_like_the_common_one():
    xml = sheet('<row r="1"><c r="A1"><v>1</v></c></row>', namespace=STRICT)
    assert scanned(xml).area == Area(1, 1, 1, 1)


PREFIXED = (
    f'<x:worksheet xmlns:x="{MAIN}"><x:sheetData><x:row r="4"><x:c r="B4"><x:f>A1</x:f>'
    "<x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>"
).encode()


@pytest.mark.parametrize(
    "xml",
    [
        PREFIXED,
        sheet('<row><c><v>1</v></c></row><row r="4"><c/><c><f>A1</f></c></row>'),
        sheet('<row r="4"><c s="1" r="B4"><f>A1</f></c></row>'),
        sheet("<row r='4'><c r='B4'><f>A1</f></c></row>"),
        sheet('<row r="4"><c r="B4"><!-- <c r="ZZ99"><v> --><f><![CDATA[A1]]></f></c></row>'),
        sheet('<row r="4"><c r="B4"><f>A1</f></c></row>').decode().replace("UTF-8", "utf-16")
        .encode("utf-16"),
        sheet('<row r="4"><c r="B4"><f>A1</f></c><extLst><c r="Z9"/></extLst></row>'),
    ],
)  # fmt: skip
def test_unusual_xml_is_left_to_the_parser(xml):
    with pytest.raises(NotPlain):
        scan_plain(pieces(xml), LIMITS)
    scan = scanned(xml)
    assert [formula[1] for formula in scan.formulas] == ["A1"]
    assert (scan.area.bottom, scan.area.right) == (4, 2)


def test_entity_declarations_are_refused():
    bomb = (
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
        + sheet('<row r="1"><c r="A1"><v>&b;</v></c></row>').partition(b"?>")[2]
    )
    with pytest.raises(Refused) as refused:
        scanned(bomb)
    assert refused.value.reason is SkipReason.XML_BOMB


def test_deep_nesting_is_refused():
    deep = sheet("", after="<a>" * 5000 + "</a>" * 5000)
    with pytest.raises(Refused) as refused:
        scanned(deep)
    assert refused.value.reason is SkipReason.XML_BOMB


def test_a_truncated_part_keeps_what_was_read_and_names_the_damage():
    xml = sheet('<row r="1"><c r="A1"><f>B1</f><v>1</v></c></row>' * 3)[:-90]
    scan = scanned(xml)
    assert scan.area == Area(1, 1, 1, 1)
    assert scan.damage


@pytest.mark.parametrize("read", [scan_plain, parse_rows])
def test_a_part_that_costs_too_much_is_left_with_its_stated_range(read):
    rows = "".join(f'<row r="{n}"><c r="A{n}"><f>B{n}</f></c></row>' for n in range(1, 500))
    xml = sheet(rows, before='<dimension ref="A1:F499"/>')
    whole = read(Budget(LIMITS).metered(pieces(xml, 5_000)), LIMITS)
    assert (whole.cut, len(whole.formulas)) == (None, 499)
    for limits, reason in (
        (Limits(xml_bytes=9_000), SkipReason.TOO_LARGE),
        (Limits(seconds=0.0), SkipReason.TIMEOUT),
    ):
        part = read(Budget(limits).metered(pieces(xml, 5_000)), limits)
        assert part.cut is reason
        assert 0 < len(part.formulas) < 499
        assert part.dimension == Area(1, 1, 499, 6)


@pytest.mark.parametrize("seed", ["written.xlsx", "saved.xlsx"])
def test_both_readers_agree_on_what_real_writers_write(seed):
    with zipfile.ZipFile(io.BytesIO(made_seeds()[seed])) as package:
        parts = [n for n in package.namelist() if n.startswith("xl/worksheets/sheet")]
        assert parts
        for part in parts:
            xml = package.read(part)
            scans = (
                scan_plain(pieces(xml, 97), LIMITS, STYLES),
                parse_rows(pieces(xml), LIMITS, STYLES),
            )
            assert scans[0] == scans[1]


TEXT = st.text(st.sampled_from("AB1$!(),+*\"'& <>#é\n"), min_size=1, max_size=12)
CONTENT = st.one_of(
    st.just(""),
    st.just("<v>1.5</v>"),
    st.just("<v></v>"),
    st.just("<v/>"),
    st.just("<is><r><rPr><vertAlign/><family/></rPr><t>x</t></r></is>"),
    TEXT.map(lambda text: f"<f>{escape(text)}</f><v>0</v>"),
    TEXT.map(lambda text: f'<f t="shared" ref="A1:B2" si="0">{escape(text)}</f>'),
    st.just('<f t="shared" si="0"/><v>3</v>'),
    st.just("<f/>"),
    TEXT.map(lambda text: f"<f>{escape(text)}</f>"),
    TEXT.map(lambda text: f"<f>{escape(text)}</f>\n<v></v>"),
    TEXT.map(lambda text: f'<f t="array" ref="B2:C5">{escape(text)}</f><v/>'),
    st.just('<f>A1</f><v xml:space="preserve"> </v>'),
    st.just('<f>A1</f><v xml:space="preserve"/>'),
    st.just("<f>A1</f><is><t>x</t></is>"),
    st.just('<f t="dataTable" ref="B2:B9" r1="A1"/><v></v>'),
    st.just('<f t="shared" si="0"/>'),
)


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&#62;")


@st.composite
def row_elements(draw):
    out = []
    for row in sorted(draw(st.sets(st.integers(1, 400), max_size=8))):
        cells = []
        for col in sorted(draw(st.sets(st.integers(1, 800), max_size=5))):
            kinds = ["", ' s="3"', ' t="s"', ' t="e"', ' s="1" t="str"', ' t="s" s="1"']
            kind = draw(st.sampled_from([*kinds, ' t="e" s="1"', ' s="3" t="b"']))
            content = draw(CONTENT)
            if "e" in kind:
                content = re.sub(r"<v></v>|<v/>|<v .*", "<v>#REF!</v>", content)
            tag = f'<c r="{get_column_letter(col)}{row}"{kind}'
            cells.append(f"{tag}>{content}</c>" if content or draw(st.booleans()) else f"{tag}/>")
        hidden = draw(st.sampled_from(["", ' hidden="1"', ' spans="1:4" hidden="0"']))
        tag = f'<row r="{row}"{hidden}'
        out.append(f"{tag}>{''.join(cells)}</row>" if cells else f"{tag}/>")
    return draw(st.sampled_from(["", "\n", "\r\n  "])).join(out)


@settings(max_examples=300)
@given(row_elements(), st.integers(5, 500), st.sampled_from([STYLES, TEXTS]))
def test_both_readers_agree_on_any_plain_rows(rows, size, styles):
    xml = sheet(rows)
    assert scan_plain(pieces(xml, size), LIMITS, styles) == parse_rows(pieces(xml), LIMITS, styles)


@settings(max_examples=200)
@given(row_elements(), st.data())
def test_damaged_rows_never_raise_anything_but_a_refusal(rows, data):
    xml = bytearray(sheet(rows))
    for _ in range(data.draw(st.integers(1, 6))):
        xml[data.draw(st.integers(0, len(xml) - 1))] = data.draw(st.integers(0, 255))
    try:
        scan = scanned(bytes(xml))
    except Refused as refused:
        assert refused.reason is SkipReason.XML_BOMB
    else:
        assert isinstance(scan, SheetScan)
