"""References of formulas: what is taken, from where, and how."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sat_retriever.links.formula.formulas import (
    MAX_REFERENCES,
    find_references,
    normal_form,
    references_of,
)
from sat_retriever.links.formula.operands import MAX_FORMULA, Target
from sat_retriever.links.formula.tokens import UnreadableFormulaError, carries, taken
from sat_retriever.records.structure import Reference, Use

NAMES = frozenset({"rate", "vat", "sales", "nan"})
V, A, L = Use.VALUE, Use.AGGREGATE, Use.LOOKUP


def _sheets(formula: str) -> list[tuple[Use, str]]:
    return [(each.use, each.target.first) for each in taken(formula, NAMES)]


def _targets(formula: str) -> list[Target]:
    return [each.target for each in taken(formula, NAMES)]


@pytest.mark.parametrize(
    ("formula", "target"),
    [
        ("Q1!B2", Target(first="Q1", area="B2")),
        ("Q1!$B$2:$B$9", Target(first="Q1", area="$B$2:$B$9")),
        ("Q1!A:C", Target(first="Q1", area="A:C")),
        ("Q1!$3:$7", Target(first="Q1", area="$3:$7")),
        ("Jan:Mar!B2", Target(first="Jan", last="Mar", area="B2")),
        ("'Jan 1:Mar 31'!B2", Target(first="Jan 1", last="Mar 31", area="B2")),
        ("'Jan 1':'Mar 31'!B2", Target(first="Jan 1", last="Mar 31", area="B2")),
        ("Q1:Q1!B2", Target(first="Q1", area="B2")),
        ("'O''Brien'!A1", Target(first="O'Brien", area="A1")),
        ("'it''s ''x'''!A1", Target(first="it's 'x'", area="A1")),
        ("'a!b'!A1", Target(first="a!b", area="A1")),
        ('\'a"b\'!A1', Target(first='a"b', area="A1")),
        ("'(a,b)'!A1", Target(first="(a,b)", area="A1")),
        ("2019!A1", Target(first="2019", area="A1")),
        ("Данные!B2", Target(first="Данные", area="B2")),
        ("Q1!a1", Target(first="Q1", area="a1")),
        ("Q1!vat", Target(first="Q1", name="vat")),
        ("Q1!ZIP5", Target(first="Q1", name="ZIP5")),
        ("Q1!XFD1048576", Target(first="Q1", area="XFD1048576")),
        ("rate", Target(name="rate")),
        ("VAT", Target(name="VAT")),
        ("nan", Target(name="nan")),
        ("Sales[amount]", Target(name="Sales", area="[amount]")),
        ("Sales[[#All],[a]:[b]]", Target(name="Sales", area="[[#All],[a]:[b]]")),
        ("Sales[@amount]", Target(name="Sales", area="[@amount]")),
        ("[1]Q1!A1", Target(workbook="1", first="Q1", area="A1")),
        ("'[2]My sheet'!A1", Target(workbook="2", first="My sheet", area="A1")),
        ("[1]Jan:Mar!A1", Target(workbook="1", first="Jan", last="Mar", area="A1")),
        ("[1]!vat", Target(workbook="1", name="vat")),
        ("[1]Q1!vat", Target(workbook="1", first="Q1", name="vat")),
        ("[0]!rate", Target(name="rate")),
        ("Book.xlsx!vat", Target(workbook="Book.xlsx", name="vat")),
        ("'C:\\p q\\Book.xlsx'!vat", Target(workbook="C:\\p q\\Book.xlsx", name="vat")),
        (
            "'C:\\p\\[Book.xlsx]Q1'!A1",
            Target(workbook="C:\\p\\Book.xlsx", first="Q1", area="A1"),
        ),
        (
            "'https://x.org/a b/[Book.xlsx]Jan:Mar'!A1",
            Target(workbook="https://x.org/a b/Book.xlsx", first="Jan", last="Mar", area="A1"),
        ),
        ("Q1!A1#", Target(first="Q1", area="A1")),
        ("@Q1!A1:A9", Target(first="Q1", area="A1:A9")),
        ("@'Q 1'!A1", Target(first="Q 1", area="A1")),
        ("-Q1!A1%", Target(first="Q1", area="A1")),
        ("(((Q1!A1", Target(first="Q1", area="A1")),
        ("Q1!A1:#REF!", Target(first="Q1", area="A1")),
        ("#SPILL!+Q1!A1", Target(first="Q1", area="A1")),
        ("Q1!A1\r\n+1", Target(first="Q1", area="A1")),
        ('INDIRECT("Q1!A1")', Target(first="Q1", area="A1")),
        ("INDIRECT(\"'\"&\"Q 1\"&\"'!A1\")", Target(first="Q 1", area="A1")),
        ('INDIRECT("Q"&1&"!A1")', Target(first="Q1", area="A1")),
        ('INDIRECT(("Q1")&("!A1"))', Target(first="Q1", area="A1")),
        ('INDIRECT("Q1!R1C[-2]",FALSE)', Target(first="Q1", area="R1C[-2]")),
        ('INDIRECT("Q1!A"&ROW())', Target(first="Q1")),
        ('INDIRECT("vat")', Target(name="vat")),
        ('INDIRECT("[Book.xlsx]Q1!A1")', Target(workbook="Book.xlsx", first="Q1", area="A1")),
    ],
)  # fmt: skip
def test_an_operand_is_taken_apart(formula, target):
    assert _targets(formula) == [target]


@pytest.mark.parametrize(
    "formula",
    [
        "A1",
        "$A$1:B9",
        "A:C",
        "3:7",
        "SUM(A1:A9)",
        '"Q1!A1"',
        '"it\'s ""Q1!A1"" \'Q1\'!A1"',
        "Q1!#REF!",
        "#REF!A1",
        "#REF!",
        "!A1",
        "Q1!",
        "Q1!func(1)",
        "[@amount]*2",
        "[amount]",
        "unknown*2",
        "rate(1)",
        "_xlpm.x",
        "TRUE",
        "INDIRECT(A1)",
        'INDIRECT("\'"&A1&"\'!B2")',
        'INDIRECT(A1&"!B2")',
        'INDIRECT("A1")',
        'HYPERLINK("#Q1!A1")',
        "{1,2;3,4}",
        "",
    ],
)
def test_a_formula_that_refers_to_nothing_else_gives_nothing(formula):
    assert _targets(formula) == []


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("SUM(Q1!A1:A9)", [(A, "Q1")]),
        ("sum(Q1!A1:A9)", [(A, "Q1")]),
        ("SUM(A1,Q1!A1)*Q2!A1", [(A, "Q1"), (V, "Q2")]),
        ("SUM((Q1!A1,Q2!A1))", [(A, "Q1"), (A, "Q2")]),
        ("SUM(IF(Q1!A1:A9>0,Q1!B1:B9))", [(A, "Q1"), (A, "Q1")]),
        ("SUMIF(Q1!A:A,Q2!A1,Q1!B:B)", [(A, "Q1"), (V, "Q2"), (A, "Q1")]),
        ("SUMIFS(Q1!A:A,Q2!A:A,Q3!A1,Q4!A:A,Q5!A1)",
         [(A, "Q1"), (A, "Q2"), (V, "Q3"), (A, "Q4"), (V, "Q5")]),
        ("COUNTIFS(Q1!A:A,Q2!A1,Q3!A:A,Q4!A1)",
         [(A, "Q1"), (V, "Q2"), (A, "Q3"), (V, "Q4")]),
        ("SUBTOTAL(Q1!A1,Q2!A:A)", [(V, "Q1"), (A, "Q2")]),
        ("AGGREGATE(9,6,Q2!A:A)", [(A, "Q2")]),
        ("_xlfn.STDEV.S(Q1!A:A)", [(A, "Q1")]),
        ("TREND(Q1!A1:A9)", [(V, "Q1")]),
        ("VLOOKUP(Q1!A1,Q2!A:B,Q3!A1,0)", [(V, "Q1"), (L, "Q2"), (V, "Q3")]),
        ("_xlfn.XLOOKUP(Q1!A1,Q2!A:A,Q3!B:B,Q4!A1)",
         [(V, "Q1"), (L, "Q2"), (L, "Q3"), (V, "Q4")]),
        ("LOOKUP(2,1/(Q1!A1:A9=Q2!B1),Q3!A1:A9)", [(L, "Q1"), (V, "Q2"), (L, "Q3")]),
        ("INDEX(Q1!B:B,MATCH(Q2!A1,Q3!A:A,0))", [(L, "Q1"), (V, "Q2"), (L, "Q3")]),
        ("INDEX(Q1!B:B,IF(A1,MATCH(1,Q3!A:A,0),1))", [(L, "Q1"), (L, "Q3")]),
        ("INDEX(Q1!B:B,Q2!A1)", [(V, "Q1"), (V, "Q2")]),
        ("INDEX(IF(MATCH(1,A:A,0),Q1!B:B),3)", [(V, "Q1")]),
        ("SUM(INDEX(Q1!B:B,3))", [(A, "Q1")]),
        ("SUM(INDEX(Q1!B:B,MATCH(1,A:A,0)))", [(L, "Q1")]),
        ("SUM(VLOOKUP(A1,Q1!A:B,2))", [(L, "Q1")]),
        ("VLOOKUP(SUM(Q1!A:A),Q2!A:B,2)", [(A, "Q1"), (L, "Q2")]),
        ("VLOOKUP(A1,CHOOSE({1,2},Q1!B:B,Q2!A:A),2,0)", [(L, "Q1"), (L, "Q2")]),
        ("MATCH(1,OFFSET(Q1!A1,0,0,9),0)", [(L, "Q1")]),
        ("SUM(ROWS(Q1!A:A))", [(V, "Q1")]),
        ("SUM(INDIRECT(Q1!A1))", [(V, "Q1")]),
        ('SUM(INDIRECT("Q1!A1:A9"))', [(A, "Q1")]),
        ("SUM({1,2,3},Q1!A:A)", [(A, "Q1")]),
        ("SUMIFS(Q1!A:A;Q2!A:A;Q3!A1)", [(A, "Q1"), (A, "Q2"), (V, "Q3")]),
        ("Q1!A1:INDEX(Q1!A:A,5)", [(V, "Q1"), (V, "Q1")]),
        ("Q1!A1:Q2!B9", [(V, "Q1"), (V, "Q2")]),
    ],
)  # fmt: skip
def test_the_innermost_function_with_an_opinion_says_what_is_done(formula, expected):
    assert _sheets(formula) == expected


def test_references_count_cells_and_keep_the_first_formula():
    formulas = [
        ("B2", "SUM(Q1!A1:A9)", None, "normal"),
        ("B3", "SUM(Q1!B1:B9)+SUM(q1!C1)", None, "normal"),
        ("B4", "SUM(Q1!A2)", "B4:C13", "shared"),
        ("D1", "SUM(Q1!A2)", "D1:D5", "array"),
        ("E1", "Q1!A1", "nonsense", "array"),
    ]
    assert references_of("S", formulas) == [
        Reference("S", A, "B2", "SUM(Q1!A1:A9)", 27, first="Q1", area="A1:A9"),
        Reference("S", V, "E1", "Q1!A1", 1, first="Q1", area="A1"),
    ]


def test_the_own_sheet_is_left_out_but_its_names_are_not():
    formulas = [
        ("A1", "data!A1+'DATA'!B1", None, "normal"),
        ("A2", "Data!rate", None, "normal"),
        ("A3", "SUM(Data:Other!A1)", None, "normal"),
    ]
    found = references_of("Data", formulas)
    assert [(each.first, each.last, each.name) for each in found] == [
        ("Data", "", "rate"),
        ("Data", "Other", ""),
    ]


def test_names_count_where_they_are_known_only():
    formulas = [("A1", "SUM(Amounts)", None, "normal")]
    assert references_of("S", formulas) == []
    assert references_of("S", formulas, names=frozenset({"amounts"})) == [
        Reference("S", A, "A1", "SUM(Amounts)", name="Amounts")
    ]


def test_evidence_is_cut_and_too_long_formulas_are_counted():
    long = "Q1!A1+" * 100 + "1"
    formulas = [
        ("A1", long, None, "normal"),
        ("A2", "Q2!A1+" * MAX_FORMULA, None, "normal"),
        ("A3", ")Q3!A1", None, "normal"),
        ("A4", "'Q3!A1", None, "normal"),
    ]
    found = find_references("S", formulas)
    assert [(each.first, each.formula) for each in found.references] == [("Q1", long[:200])]
    assert found.unreadable == 3


def test_the_number_of_references_is_bounded():
    formulas = ((f"A{n}", f"Sheet{n}x!A1", None, "normal") for n in range(MAX_REFERENCES + 50))
    found = references_of("S", formulas)
    assert len(found) == MAX_REFERENCES
    assert found[-1].first == f"Sheet{MAX_REFERENCES - 1}x"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 8_000,
        "[]" * 4_000,
        "[]" * 200 + "Q1!A1",
        '"' * 8_191,
        "'" * 8_191,
        '"a""' * 2_000,
        "(" * 8_191,
        "{" * 8_191,
        "SUM(" * 2_040 + "Q1!A1",
        "INDEX(1,MATCH(Q!A1," * 420,
        "INDIRECT(" * 900,
        "Q!A1:" * 1_600 + "A1",
        "A:" * 4_000 + "!",
        "!" * 8_000,
        "'a'!" * 2_000,
        "#" * 8_000,
        "@" * 8_000,
        "1E+" * 2_700,
        "[a'" * 400,
        "Sheet" * 1_600 + "!A1",
    ],
    ids=lambda text: text[:8],
)
def test_hostile_formulas_neither_raise_nor_take_long(text):
    start = time.thread_time()
    references_of("S", [("A1", text, None, "normal"), ("A2", text + "!", None, "normal")])
    normal_form(text)
    assert time.thread_time() - start < 5  # hundredths, unless memory is tidied up meanwhile


_ADDRESSES = st.sampled_from(
    "A1 B22 $C$333 AB$4 XFD99 A1:B2 $A$1:$B$9 ZIP5 ZIP6 A0 A1048577 A1048576 LOG10 Q1 Q2".split()
)
_PIECES = st.sampled_from(
    [
        *"Q1! Q2! 'Q 1'! 'A1'! Jan:Mar! [1]Q1! [1]! T[a] T[a1] A1€! €A1! rate vat #REF!".split(),
        *"[ ] ' \" ! : # @ ( ) , ; + - * & % { } 1E 2.5 TRUE _x . $ A \\ A1: :A1 A1!".split(),
        *"SUM( LOG10( IF( MATCH( INDEX( FILTER( VLOOKUP( INDIRECT( OFFSET( \0".split(),
        *'"Q1!A1" "A1" "Q1!" \'A1 B2\''.split(),
        " ",
        "\n",
    ]
)
# What stands around an address, at its place as None, where it is none or may be part of a name.
_AROUND = st.sampled_from(
    [
        ('INDIRECT("', None, '!A1")'),
        ("INDIRECT(\"'", None, "'!A1\")"),
        ('INDIRECT("Q1!', None, '")'),
        ("'", None, "'!A1"),
        ("'", None, " ", None, "'!A1"),
        ("'x:", None, "'!A1"),
        ("'x ", None, " y'!A1"),
        ("INDIRECT(\"'x ", None, " y'!A1\")"),
        ('INDIRECT("x ', None, ' y!A1")'),
        ("[x ", None, " y]Q1!A1"),
        ("_x", None, ""),
        ("", None, "_x"),
        ("", None, "€"),
        ("", None, "€!A1"),
        ("€", None, ""),
        ("", None, "(Q1!A1)"),
        ("", None, "[a]"),
        ("T[", None, "]"),
        ("[", None, "]Q1!A1"),
        ("", None, "!A1"),
        ("Q1:", None, "!A1"),
        ("Q1!A1:", None, "!A1"),
        ("Q1!", None, ":Q1!A1"),
        ("Q1!", None, ""),
        ("Q1!", None, ":", None, ""),
        ("FILTER(Q1!A:A,Q1!", None, ">1)"),
        ('"', None, '"'),
        ('"a""', None, '"'),
    ]
)
_TEMPLATES = st.lists(
    st.one_of(_PIECES.map(lambda piece: (piece,)), _AROUND, st.just((None,))), max_size=6
).map(lambda parts: [piece for part in parts for piece in part])


def _one_by_one(sheet, formulas, names):
    """References without a filter, without remembering anything."""
    counts: dict = {}
    for cell, text, _filled, _kind in formulas:
        try:
            found = taken(text, names)
        except UnreadableFormulaError:
            continue
        keys = {}
        for use, target in found:
            folded = tuple(part.casefold() for part in target[:4])
            if folded != ("", sheet.casefold(), "", ""):
                keys.setdefault((use, folded), target)
        for key, target in keys.items():
            first = counts.setdefault(key, [cell, text[:200], 0, target])
            first[2] += 1
    return [
        Reference(sheet, use, cell, text, cells, *target)
        for (use, _), (cell, text, cells, target) in counts.items()
    ]


@settings(max_examples=500)
@given(st.data())
def test_what_is_remembered_by_normal_form_changes_nothing(data):
    template = data.draw(_TEMPLATES)
    texts = [
        "".join(data.draw(_ADDRESSES) if piece is None else piece for piece in template)
        for _ in range(3)
    ]
    formulas = [(f"A{row}", text, None, "normal") for row, text in enumerate(texts, 1)]
    for names in (frozenset(), frozenset("rate vat zip5 a _xa1 a1_x €a1 xa1".split())):
        assert references_of("Q2", formulas, names=names) == _one_by_one("Q2", formulas, names)


@settings(max_examples=400)
@given(st.text(max_size=40))
def test_no_text_raises(text):
    references_of("S", [("A1", text, None, "normal"), ("A2", f"Q1!{text}", None, "normal")])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Q1!B2", True),
        ("-Q1!B2+Q2!B2", True),
        ('IF(Q1!B2="","",Q1!B2)', True),
        ("IFERROR(ROUND(Q1!B2,2),0)", True),
        ("_xlfn.VSTACK(Q1!A1:B9,Q2!A1:B9)", True),
        ("Q1!B2*2", False),
        ("Q1!B2&Q2!B2", False),
        ("TREND(Q1!B2:B9)", False),
        ("(((", True),
        (")", False),
    ],
)
def test_a_formula_shows_what_it_takes_or_calculates_with_it(text, shown):
    assert carries(text) is shown
