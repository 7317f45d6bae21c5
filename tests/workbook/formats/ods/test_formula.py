import contextlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.links.formula.tokens import UnreadableFormulaError, taken
from sat_retriever.workbook.formats.formulas import MAX_TEXT
from sat_retriever.workbook.formats.ods.formula import (
    _translated,
    excel_formula,
    excel_reference,
    excel_references,
    sheet_of,
)

TRANSLATIONS = [
    ("of:=SUM([.A1:.B2];[$'Q 1'.B2])", "SUM(A1:B2,'Q 1'!B2)"),
    ("oooc:=[Data.A1]*2", "Data!A1*2"),
    ("=[Data.$A$1]", "Data!$A$1"),
    ("msoxl:=SUM(Data!A1:A9)", "SUM(Data!A1:A9)"),
    ("of:=[$'it''s'.A1]", "'it''s'!A1"),
    ("of:=SUM([$'a.b]c'.$A1:$'a.b]c'.B2])", "SUM('a.b]c'!$A1:B2)"),
    ("of:=SUM([$Jan.A1:$Dec.B2])", "SUM(Jan:Dec!A1:B2)"),
    ("of:=SUM([$Jan.A1:.B2])", "SUM(Jan!A1:B2)"),
    ("of:=SUM([L.A:.C];[L.1:.3])", "SUM(L!A:C,L!1:3)"),
    ("of:=['file:///data/x%20y.ods'#$Sheet.A1]", "'[file:///data/x y.ods]Sheet'!A1"),
    ("of:=['../b.ods'#$'Q 1'.A1:.B2]", "'[../b.ods]Q 1'!A1:B2"),
    ("of:='../b.ods'#$$rate*2", "'../b.ods'!rate*2"),
    ("of:=$'Q 1'.rate+$Data.rate+rate", "'Q 1'!rate+Data!rate+rate"),
    ("of:={1;2|3;4}", "{1,2;3,4}"),
    ("of:=SUM([.A1]~[.B2])", "SUM(A1,B2)"),
    ("of:=[.A1:.B2]![.B1:.C2]", "A1:B2 B1:C2"),
    ('of:="a;[b""]"&[.A1]', '"a;[b""]"&A1'),
    ("of:=[.#REF!]+[#REF!]+#REF!", "#REF!+#REF!+#REF!"),
    ("of:=COM.MICROSOFT.XLOOKUP([.A1];[L.A1:.A9];[L.B1:.B9])", "XLOOKUP(A1,L!A1:A9,L!B1:B9)"),
    ('of:=INDIRECT("$Data.A1")', 'INDIRECT("Data!A1")'),
    ("of:=INDIRECT(\"'Q 1'.A\"&[.B1])", "INDIRECT(\"'Q 1'!A\"&B1)"),
    ('of:=T("Data.A1")', 'T("Data.A1")'),
    ("of:=MULTIPLE.OPERATIONS([.A1];[.B1];[.C1])", "MULTIPLE.OPERATIONS(A1,B1,C1)"),
]  # fmt: skip


@pytest.mark.parametrize(("theirs", "excels"), TRANSLATIONS)
def test_a_formula_is_written_as_excel_writes_it(theirs, excels):
    assert excel_formula(theirs) == excels


def test_what_is_translated_can_be_taken_apart():
    for theirs, _excels in TRANSLATIONS:
        taken(excel_formula(theirs), frozenset({"rate"}))


def test_addresses_of_attributes_give_their_ranges_and_sheets():
    assert excel_references("Data.A1:Data.B2 'Q 1'.A1:.B9 junk") == ["Data!A1:B2", "'Q 1'!A1:B9"]
    assert excel_reference("Data") == excel_reference("") == excel_reference("Data.A1:") == ""
    assert sheet_of("$'Q 1'.$A$1:.$B$2") == "Q 1"
    assert sheet_of("nothing") == ""


PARTS = ["[", "]", "'", '"', ".", "$", "#", ":", ";", "|", "{", "}", "~", "!", "(", ")", "A1", "Q1"]
PARTS += ["INDIRECT(", "of:=", "file:///x.ods", "\x00", "é", " ", "[.A1:.B2]", "$'a b'.A1", "#REF!"]


@given(st.one_of(st.lists(st.sampled_from(PARTS), max_size=40).map("".join), st.text(max_size=60)))
def test_any_text_gives_a_bounded_text(text):
    result = excel_formula(text)
    assert len(result) <= 8 * len(text) + 16
    assert isinstance(excel_references(text), list)
    with contextlib.suppress(UnreadableFormulaError):
        taken(result, frozenset({"q1"}))


OWN = ["[.A1]", "[.$B$2:.C9]", "[.D4:.E5]", "SUM(", ")", ";", "+", " ", "1.5", "rate", "=", "<"]


@given(
    st.lists(st.sampled_from([*OWN, "$Data.x", ":", "'", '"', "ORG.OPENOFFICE.F("]), max_size=12)
)
def test_the_short_way_for_plain_formulas_gives_the_same(pieces):
    text = "1" + "".join(pieces)
    assert excel_formula("of:=" + text) == _translated(text.strip())


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(
        lambda name: not set(name) & set("[]*?:/\\!'")
    )
)
def test_any_sheet_name_survives_the_translation(name):
    theirs = "of:=SUM([$'" + name.replace("'", "''") + "'.A1:.B2])"
    [found] = taken(excel_formula(theirs))
    assert (found.target.first, found.target.area) == (name, "A1:B2")


@pytest.mark.parametrize("sign", ["[", "'", '"', "$'", "['", "#", "$", "{", "''", "'#"])
def test_unclosed_signs_cost_no_more_than_their_length(sign):
    start = time.process_time()
    for _ in range(20):
        excel_formula("of:=" + sign * MAX_TEXT)
    assert time.process_time() - start < 2.0
