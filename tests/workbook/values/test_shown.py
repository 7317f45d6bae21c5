"""Cells show the texts that Excel shows; no format code breaks or delays a reading."""

import datetime as dt
import random
import re
import time
import zipfile
from decimal import ROUND_HALF_UP, Decimal

import openpyxl
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever import InputError
from sat_retriever.workbook.values.numberformat import number_format
from sat_retriever.workbook.values.shown import shown_text
from sat_retriever.workbook.window import parse_range, read_range

ACCOUNTING = r'_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-;_-* "-"??\ "€"_-;_-@_-'  # as Excel writes it
DAY = dt.datetime(2024, 3, 1, 9, 5, 7, 250_000)
HALF = dt.timedelta(hours=30, minutes=5)
SHOWN = [
    # value, code, text; None where the value itself is shown
    (0.075, "0.0%", "7.5%"),
    (0.075, "0%", "8%"),
    (-0.075, "0.0%;(0.0%)", "(7.5%)"),
    (1234.5, '#,##0.00 "€"', "1,234.50 €"),
    (1234.5, "[$€-407]#,##0.00", "€1,234.50"),
    (-3, "$#,##0.00", "-$3.00"),
    (-3, "[Red]($#,##0.00)", "-($3.00)"),
    (1234.5, ACCOUNTING, "1,234.50 €"),
    (-1234.5, ACCOUNTING, "-1,234.50 €"),
    (0, ACCOUNTING, "- €"),
    ("open", ACCOUNTING, "open"),
    (1_234_567, "#,##0,", "1,235"),
    (1_234_567, '0.0,,"M"', "1.2M"),
    (12, "0,000.0", "0,012.0"),
    (1e15, "#,##0", "1,000,000,000,000,000"),
    (1.005, "0.00", "1.01"),  # as its 15 digits say, not as the binary fraction does
    (-0.4, "0", "0"),
    (-0.001, "0.00;(0.00)", "(0.00)"),
    (0.5, ".00", ".50"),
    (5, "0.#", "5."),
    (123_456_789, "000-00-0000", "123-45-6789"),
    (7, "00000", "00007"),
    (12_345, "0.00E+00", "1.23E+04"),
    (0.00012, "0.0E-0", "1.2E-4"),
    (12_345, "##0.0E+0", "12.3E+3"),
    (9.99, "0.0E+0", "1.0E+1"),
    (0, "0.0E+0", "0.0E+0"),
    (1.5, "# ?/?", "1 1/2"),
    (-0.25, "# ??/??", "- 1/4"),
    (2, "# ?/?", "2"),
    (0.99, "# ?/?", "1"),
    (2.3, "# ?/8", "2 2/8"),
    (2.5, "?/?", "5/2"),
    (5, '"yes";"no";"none"', "yes"),
    (-5, '"yes";"no";"none"', "no"),
    (0, '"yes";"no";"none"', "none"),
    (5, '[>=100]0;[<0]"minus" 0;0.0', "5.0"),
    (-5, '[>=100]0;[<0]"minus" 0;0.0', "minus 5"),
    (-5, "[>=100]0;0.0", "-5.0"),
    (-1234.5, 'General" kg"', "-1234.5 kg"),
    ("x7", '"Nr. "@', "Nr. x7"),
    ("x7", '0;-0;0;"Nr. "@', "Nr. x7"),
    (7, '"Nr. "@', None),
    ("n.d.", "0.0", None),
    (True, "0.0", None),
    (None, "0.0", None),
    (5, ";;;", None),  # a hidden value
    (DAY, "dd.mm.yyyy", "01.03.2024"),
    (DAY.date(), "d-mmm-yy", "1-Mar-24"),
    (DAY, "[$-409]dddd, mmmm d, yyyy", "Friday, March 1, 2024"),
    (DAY, "mmmmm yy", "M 24"),
    (DAY, r"yyyy\-mm\-dd\Thh:mm:ss", "2024-03-01T09:05:07"),
    (DAY, "h:mm:ss.00", "9:05:07.25"),
    (DAY, "m/d/yy h:mm AM/PM;@", "3/1/24 9:05 AM"),
    (dt.time(0, 30), "h:mm AM/PM", "12:30 AM"),
    (dt.time(13, 30), "h:mm A/P", "1:30 P"),
    (HALF, "[h]:mm", "30:05"),
    (HALF, "[mm]:ss", "1805:00"),
    (HALF, "h:mm", "6:05"),
    (-HALF, "[h]:mm", None),
    (DAY, "[$-407]mmmm yyyy", None),  # März is not known here
    (DAY, "[$-407]dd.mm.yyyy", "01.03.2024"),
    (dt.time(9), "yyyy", None),
    (45_352, "yyyy", None),  # a number that its reader took for no date
    (5, "[DBNum1]0", None),
    (5, "0;0;0;@;0", None),
    (5, "0" * 256, None),
    (float("inf"), "0", None),
]


@pytest.mark.parametrize(("value", "code", "text"), SHOWN)
def test_a_value_is_shown_as_its_code_says(value, code, text):
    assert shown_text(value, code) == text


@given(
    st.decimals(-(10**9), 10**9, allow_nan=False, places=5),
    st.integers(0, 4),
    st.booleans(),
    st.booleans(),
)
def test_digits_are_those_of_the_value_rounded_half_up(value, places, grouped, percent):
    code = ("#,##0" if grouped else "0") + ("." + "0" * places if places else "")
    exact = value * 100 if percent else value
    rounded = abs(exact).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    expected = f"{rounded:,f}" if grouped else f"{rounded:f}"
    expected = f"-{expected}" if value < 0 and rounded else expected
    assert shown_text(float(value), code + "%" * percent) == expected + "%" * percent


moments = st.datetimes(dt.datetime(1900, 3, 1), dt.datetime(9999, 12, 30))


@given(moments.map(lambda moment: moment.replace(microsecond=0)))
def test_a_moment_can_be_read_back(moment):
    found = shown_text(moment, "yyyy-mm-dd hh:mm:ss")
    assert dt.datetime.fromisoformat(found) == moment
    half = shown_text(moment, "[$-409]d mmmm yyyy h:mm:ss AM/PM")
    assert dt.datetime.strptime(half, "%d %B %Y %I:%M:%S %p") == moment


@given(st.timedeltas(dt.timedelta(0), dt.timedelta(days=3_000)))
def test_a_length_of_time_can_be_read_back(length):
    hours, minutes, seconds = map(float, shown_text(length, "[h]:mm:ss.000").split(":"))
    assert hours * 3_600 + minutes * 60 + seconds == pytest.approx(length.total_seconds(), abs=6e-4)


WILD = st.text(
    st.one_of(st.sampled_from('0#?.,%/E+-;@[]"\\_*<>=$yYmMdDhHsSGeneralAP/5 '), st.characters()),
    max_size=300,
)
VALUES = st.one_of(
    st.floats(),
    st.integers(),
    st.text(max_size=9),
    st.booleans(),
    st.none(),
    st.datetimes(),
    st.dates(),
    st.times(),
    st.timedeltas(),
)


@given(VALUES, WILD)
def test_no_code_and_no_value_break_it(value, code):
    text = shown_text(value, code)
    assert text is None or (text and text == " ".join(text.split()))


@pytest.mark.parametrize(
    "code",
    [
        "0" * 255,
        "#,##0." + "0" * 249,
        "%" * 254 + "0",
        "0" + "," * 254,
        "?/" + "?" * 253,
        "# " + "?" * 126 + "/" + "?" * 126,
        "0E+" + "0" * 252,
        "[" * 255,
        '"' * 255,
        "[h]" * 85,
        "General" * 36,
        "m" * 255,
    ],
)
def test_a_hostile_code_takes_no_time(code):
    start = time.process_time()
    for value in (1.23e-300, 9.87e299, -1 / 3, DAY, HALF, "text"):
        shown_text(value, code)
    number_format(code * 400)
    assert time.process_time() - start < 1


def test_the_texts_of_a_window_are_those_of_its_cells_and_values_stay(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    rows = [(0.075, "0.0%"), (1234.5, '#,##0.00 "€"'), (3, "General"), ("a", '"Nr. "@')]
    for row, (value, code) in enumerate(rows, start=1):
        for column in (2, 4):
            sheet.cell(row, column, value).number_format = code
    book.save(tmp_path / "a.xlsx")
    found = read_range(tmp_path / "a.xlsx", "Sheet", parse_range("B1:C9"), shown=True)
    assert found.rows == ((0.075, None), (1234.5, None), (3, None), ("a", None))
    assert found.shown == {(1, 2): "7.5%", (2, 2): "1,234.50 €", (4, 2): "Nr. a"}
    assert read_range(tmp_path / "a.xlsx", "Sheet", parse_range("B1:C9")).shown == {}


def test_a_window_far_down_a_large_sheet_has_its_texts(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        money, sheet = book.add_format({"num_format": "#,##0.0"}), book.add_worksheet("Long")
        for row in range(3_000):
            sheet.write_row(row, 0, [row, row / 2], money)
        sheet.write_datetime(2_500, 2, DAY, book.add_format({"num_format": "dd/mm/yyyy"}))
        sheet.write_datetime(2_500, 3, DAY, book.add_format({"num_format": 14}))
    found = read_range(tmp_path / "a.xlsx", "Long", parse_range("B2500:D2502"), shown=True)
    assert found.shown == {
        **{(row, 2): f"{(row - 1) / 2:,.1f}" for row in range(2_500, 2_503)},
        (2_501, 3): "01/03/2024",
    }
    assert not re.search("2024", str(found.shown.get((2_501, 4))))  # of the reader's country


def test_an_ods_has_the_texts_of_its_cells(tmp_path):
    odf = pytest.importorskip("odf.opendocument")
    from odf.office import Annotation
    from odf.table import Table, TableCell, TableRow
    from odf.text import P, S

    book = odf.OpenDocumentSpreadsheet()
    for name in ("Other", "Rents"):
        sheet = Table(name=name)
        sheet.addElement(TableRow(numberrowsrepeated=2))
        row = TableRow(numberrowsrepeated=2)
        share = TableCell(valuetype="percentage", value=0.075, numbercolumnsrepeated=2)
        note = Annotation()
        note.addElement(P(text="a note"))
        share.addElement(note)
        share.addElement(P(text="7,5 %"))
        row.addElement(share)
        day = TableCell(valuetype="date", datevalue="2024-03-01")
        day.addElement(P(text="1. März"))
        row.addElement(day)
        text = TableCell(valuetype="string")
        text.addElement(P(text="text"))
        row.addElement(text)
        whole = TableCell(valuetype="float", value=5)
        whole.addElement(P(text="5"))
        row.addElement(whole)
        split = TableCell(valuetype="float", value=1234)
        words = P(text="1")
        words.addElement(S())
        words.addText("234")
        split.addElement(words)
        row.addElement(split)
        sheet.addElement(row)
        book.spreadsheet.addElement(sheet)
    book.save(str(tmp_path / "a.ods"))
    found = read_range(tmp_path / "a.ods", "Rents", parse_range("B4:F9"), shown=True)
    assert found.rows == ((0.075, "2024-03-01", "text", 5, 1234),)
    assert found.shown == {(4, 2): "7,5 %", (4, 3): "1. März", (4, 6): "1 234"}
    assert read_range(tmp_path / "a.ods", "Rents", parse_range("B4:F9")).shown == {}


@pytest.mark.parametrize("part", ["xl/styles.xml", "xl/worksheets/sheet1.xml"])
def test_a_damaged_part_costs_no_value_because_texts_are_asked_for(part, tmp_path):
    book = openpyxl.Workbook()
    for row in range(1, 20):
        book.active.cell(row, 1, row / 3).number_format = "0.0%"
    book.save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as package:
        parts = {name: package.read(name) for name in package.namelist()}
    draw = random.Random(7)
    for _ in range(12):
        broken = bytearray(parts[part])
        at = draw.randrange(len(broken))
        broken[at : at + draw.randrange(9)] = draw.choice([b"", b"<", b'"', b"0", b"\x00"])
        with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as package:
            for name, data in parts.items():
                package.writestr(name, bytes(broken) if name == part else data)
        plain, shown = (asked(tmp_path / "b.xlsx", shown=each) for each in (False, True))
        assert plain == shown


def asked(path, *, shown):
    try:
        return read_range(path, "Sheet", parse_range("A1:A19"), shown=shown).rows
    except InputError as error:
        return str(error)
