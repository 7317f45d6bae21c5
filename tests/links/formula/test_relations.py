"""References and declared sources of a workbook to typed, weighted links."""

from __future__ import annotations

import time

import pytest

from sat_retriever import Link, SheetRecord
from sat_retriever.links.formula.relations import (
    MAX_LINKS,
    MAX_LINKS_OF_SHEET,
    ExternalReference,
    WorkbookLinks,
    resolve,
    workbook_links,
)
from sat_retriever.links.formula.scope import decoded, file_key
from sat_retriever.links.formula.tally import lookup_weight, strength, summary_weight
from sat_retriever.records.area import Area
from sat_retriever.records.structure import (
    DataSource,
    DefinedName,
    External,
    Reference,
    SheetTable,
    SourceKind,
    Structure,
    TableObject,
    Use,
)

V, A, L = Use.VALUE, Use.AGGREGATE, Use.LOOKUP


def _records(*sheets: str, file: str = "book.xlsx") -> list[SheetRecord]:
    return [SheetRecord(f"{file}#{sheet}", sheet, workbook=file, path=file) for sheet in sheets]


def _reference(sheet: str, first: str, use: Use = V, **more) -> Reference:
    formula = more.pop("formula", f"{first}!A1*2")
    return Reference(sheet, use, more.pop("cell", "B2"), formula, first=first, **more)


def _found(
    sheets: tuple[str, ...], *references: Reference, structure: Structure | None = None
) -> WorkbookLinks:
    return workbook_links(_records(*sheets), references, structure or Structure())


def _pairs(found: WorkbookLinks, kind: str = "formula_reference") -> list[tuple[str, str]]:
    return [
        (link.source.partition("#")[2], link.target.partition("#")[2])
        for link in found.links
        if link.type == kind
    ]


def _weight(found: WorkbookLinks, kind: str, target: str) -> float:
    return next(
        link.weight for link in found.links if link.type == kind and link.target.endswith(target)
    )


def test_a_reference_becomes_a_link_with_its_formula_as_evidence():
    found = _found(
        ("Summary", "Q1"), _reference("Summary", "q1", A, cell="B4", formula="SUM(q1!B2:B9)")
    )
    assert found.links == (
        Link(
            "book.xlsx#Summary",
            "book.xlsx#Q1",
            "formula_reference",
            0.5,
            "Summary!B4 =SUM(q1!B2:B9)",
        ),
        Link("book.xlsx#Summary", "book.xlsx#Q1", "aggregation", 0.5, "Summary!B4 =SUM(q1!B2:B9)"),
    )


def test_one_link_stands_for_all_references_of_a_kind_and_the_one_of_most_cells_shows_it():
    found = _found(
        ("S", "T"),
        _reference("S", "T", A, cell="A1", formula="SUM(T!A1)"),
        _reference("S", "T", A, cell="A2", formula="SUM(T!B1)", area="B1", name="", cells=9),
        _reference("S", "T", L, cell="A3", formula="MATCH(1,T!A:A)"),
    )
    assert [(link.type, link.evidence) for link in found.links] == [
        ("formula_reference", "S!A2 =SUM(T!B1)"),
        ("aggregation", "S!A2 =SUM(T!B1)"),
        ("join_key", "S!A3 =MATCH(1,T!A:A)"),
    ]
    assert _weight(found, "formula_reference", "T") == strength(11)
    assert _weight(found, "aggregation", "T") == strength(10)
    assert _weight(found, "join_key", "T") == lookup_weight(strength(1))


def test_weights_grow_with_the_cells_and_stay_within_bounds():
    weights = [strength(cells) for cells in (1, 2, 5, 100, 10_000, 10**9, 10**11)]
    assert weights == sorted(set(weights))
    assert all(0 < weight <= 1 for weight in weights)
    assert 0.9 < lookup_weight(weights[0]) < lookup_weight(weights[-1]) <= 1
    summaries = [summary_weight(sheets, strength(9), 0) for sheets in (2, 3, 12, 400)]
    assert summaries == sorted(set(summaries))
    assert summary_weight(3, strength(9), 0) > summary_weight(3, 0, strength(9)) > 0


def test_evidence_is_one_line_of_two_hundred_characters_at_most():
    long = "SUM(\n  Q1!A1,\n" + "Q1!A1," * 60 + "1)"
    found = _found(("My 'S'", "Q1"), _reference("My 'S'", "Q1", formula=long))
    assert found.links[0].evidence.startswith("'My ''S'''!B2 =SUM( Q1!A1, Q1!A1,")
    assert len(found.links[0].evidence) == 200


def test_a_sheet_without_a_record_has_no_link():
    structure = Structure(tabs=("S", "Empty", "T"))
    references = (_reference("S", "Empty"), _reference("Empty", "T"), _reference("S", "Nowhere"))
    assert _found(("S", "T"), *references, structure=structure).links == ()


@pytest.mark.parametrize(
    ("first", "last", "targets"),
    [
        ("Jan", "Mar", ["Jan", "Feb", "Mar"]),
        ("Mar", "Jan", ["Jan", "Feb", "Mar"]),
        ("Start", "End", ["Jan", "Feb", "Mar"]),
        ("Feb", "End", ["Feb", "Mar"]),
        ("Jan", "Year", ["Jan", "Feb", "Mar"]),
        ("Jan", "Gone", []),
    ],
)
def test_a_3d_range_spans_the_tabs_between_its_ends(first, last, targets):
    structure = Structure(tabs=("Notes", "Start", "Jan", "Feb", "Mar", "End", "Year"))
    found = _found(
        ("Notes", "Jan", "Feb", "Mar", "Year"),
        _reference("Year", first, A, last=last),
        structure=structure,
    )
    assert _pairs(found) == [("Year", target) for target in targets]


def test_without_all_tabs_a_3d_range_reaches_to_the_outermost_sheet():
    found = _found(("Year", "Jan", "Feb"), _reference("Year", "Jan", A, last="End"))
    assert _pairs(found) == [("Year", "Jan"), ("Year", "Feb")]


_TABLE = SheetTable("Data", TableObject("Sales", Area(1, 1, 9, 3)))


@pytest.mark.parametrize(
    ("names", "use", "expected"),
    [
        ((DefinedName("x", "Data!$A$1"),), V, ["formula_reference"]),
        ((DefinedName("X", "Data!$A$1:$A$9"),), A, ["formula_reference", "aggregation"]),
        ((DefinedName("x", "SUM(Data!$A$1:$A$9)"),), V, ["formula_reference", "aggregation"]),
        ((DefinedName("x", "OFFSET(Data!$A$1,0,0,COUNTA(Data!$A:$A))"),), V, ["formula_reference"]),
        ((DefinedName("x", "y"), DefinedName("y", "Data!$A$1")), V, ["formula_reference"]),
        ((DefinedName("x", "sales"),), V, ["formula_reference"]),
        ((DefinedName("x", "Sales[amount]"),), L, ["formula_reference", "join_key"]),
        ((DefinedName("x", "Other!$A$1"), DefinedName("x", "Data!$A$1", "S")), V,
         ["formula_reference"]),
        ((DefinedName("x", "y"), DefinedName("y", "x")), V, []),
        ((DefinedName("x", "x+1"),), V, []),
        ((DefinedName("x", "0.19"),), V, []),
        ((DefinedName("x", "#REF!"),), V, []),
        ((DefinedName("x", "((("),), V, []),
        ((DefinedName("x", "Data!$A$1", "Other"),), V, []),
        ((), V, []),
    ],
)  # fmt: skip
def test_a_name_is_what_it_stands_for(names, use, expected):
    structure = Structure(names=names, tables=(_TABLE,))
    reference = Reference("S", use, "A1", "x*2", name="x")
    found = _found(("S", "Data", "Other"), reference, structure=structure)
    assert [link.type for link in found.links] == expected
    assert {link.target for link in found.links} <= {"book.xlsx#Data"}


def test_the_names_behind_a_sheets_name_are_sought_from_that_sheet():
    names = (
        DefinedName("x", "y*2", "Settings"),
        DefinedName("y", "Data!$A$1", "Settings"),
        DefinedName("y", "Wrong!$A$1", "S"),
        DefinedName("y", "Wrong!$A$1"),
    )
    reference = Reference("S", V, "A1", "Settings!x", first="Settings", name="x")
    found = _found(("S", "Settings", "Data", "Wrong"), reference, structure=Structure(names=names))
    assert _pairs(found) == [("S", "Data")]


def test_of_equal_evidence_the_first_is_shown():
    twice = (_reference("S", "T", cell="A1"), _reference("S", "T", cell="A2", area="B7"))
    assert _found(("S", "T"), *twice).links[0].evidence == "S!A1 =T!A1*2"
    sources = tuple(DataSource("S", SourceKind.PIVOT, "T!$A$1:$B$9", place) for place in "PQ")
    found = _found(("S", "T"), structure=Structure(sources=sources))
    assert found.links[0].evidence == "S!P pivot =T!$A$1:$B$9"


def test_names_that_stand_for_names_end_somewhere():
    names = tuple(DefinedName(f"n_{i}", f"n_{i + 1}+m_{i + 1}") for i in range(60)) + tuple(
        DefinedName(f"m_{i}", f"n_{i + 1}+m_{i + 1}") for i in range(60)
    )
    reference = Reference("S", V, "A1", "n_0", name="n_0")
    assert _found(("S", "T"), reference, structure=Structure(names=names)).links == ()


def test_names_that_branch_without_end_cost_little():
    every = "+".join(f"n_{i}" for i in range(200))
    names = tuple(DefinedName(f"n_{i}", f"{i}+{every}") for i in range(200))
    references = [Reference(f"T{n}", V, "A1", "n_0", name="n_0") for n in range(1_000)]
    sheets = tuple(f"T{n}" for n in range(1_000))
    start = time.process_time()
    assert _found(sheets, *references, structure=Structure(names=names)).links == ()
    assert time.process_time() - start < 10


def test_a_pivot_table_shows_more_than_one_total_and_a_lookup_more_than_a_list():
    structure = Structure(
        sources=(
            DataSource("S", SourceKind.PIVOT, "T!$A$1:$B$9", "P"),
            DataSource("S", SourceKind.VALIDATION, "T!$A$1:$A$9", "C2"),
        )
    )
    total = _reference("S", "T", A, formula="SUM(T!A1)")
    lookup = _reference("S", "T", L, cell="B3", formula="MATCH(1,T!A:A)")
    found = _found(("S", "T"), total, lookup, structure=structure)
    assert [(link.type, link.weight, link.evidence) for link in found.links] == [
        ("formula_reference", strength(2), "S!B2 =SUM(T!A1)"),
        ("aggregation", 0.9, "S!P pivot =T!$A$1:$B$9"),
        ("join_key", 0.95, "S!B3 =MATCH(1,T!A:A)"),
    ]


def test_a_sheet_called_like_a_file_is_no_other_workbook():
    structure = Structure(names=(DefinedName("x", "Data!$A$1", "Old.xlsx"),))
    reference = Reference("S", V, "A1", "Old.xlsx!x*2", name="x", workbook="Old.xlsx")
    found = _found(("S", "Old.xlsx", "Data"), reference, structure=structure)
    assert _pairs(found) == [("S", "Data")]
    assert found.external == ()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (SourceKind.PIVOT, [("aggregation", 0.9)]),
        (SourceKind.CHART, [("aggregation", 0.6)]),
        (SourceKind.CONSOLIDATION, [("aggregation", 0.9)]),
        (SourceKind.VALIDATION, [("join_key", 0.8)]),
    ],
)
def test_declared_sources_have_types_and_evidence_of_their_own(kind, expected):
    structure = Structure(sources=(DataSource("S", kind, "'My data'!$A$1:$B$9", "C2:C9"),))
    found = _found(("S", "My data"), structure=structure)
    assert [(link.type, link.weight) for link in found.links] == expected
    assert found.links[0].evidence == f"S!C2:C9 {kind.value} ='My data'!$A$1:$B$9"


def test_pivots_and_charts_of_two_sheets_make_a_summary_but_lists_do_not():
    def sources(*kinds: SourceKind) -> Structure:
        return Structure(
            sources=tuple(DataSource("S", kind, f"T{n}!$A$1:$B$9") for n, kind in enumerate(kinds))
        )

    both = sources(SourceKind.PIVOT, SourceKind.CHART)
    found = _found(("S", "T0", "T1"), structure=both)
    assert _pairs(found, "summary_source") == [("S", "T0"), ("S", "T1")]
    assert _weight(found, "summary_source", "T0") == 0.45
    lists = sources(SourceKind.PIVOT, SourceKind.VALIDATION)
    assert _pairs(_found(("S", "T0", "T1"), structure=lists), "summary_source") == []


def test_a_summary_gathers_totals_and_shown_values_but_not_factors_or_lookups():
    shown = _reference("S", "A1", formula="'A1'!B9", cells=4)
    total = _reference("S", "B", A, formula="SUM(B!A:A)")
    factor = _reference("S", "C", formula="D1*C!A1")
    lookup = _reference("S", "D", L, formula="VLOOKUP(A1,D!A:B,2)")
    found = _found(("S", "A1", "B", "C", "D"), shown, total, factor, lookup)
    assert _pairs(found, "summary_source") == [("S", "A1"), ("S", "B")]
    assert _weight(found, "summary_source", "A1") == summary_weight(2, 0, strength(4))
    assert _weight(found, "summary_source", "B") == summary_weight(2, strength(1), 0)
    assert _pairs(_found(("S", "B", "C"), total, factor), "summary_source") == []


def test_links_come_in_tab_order_and_by_type():
    references = [
        _reference(source, target, A)
        for source in ("C", "A", "B")
        for target in ("B", "C", "A")
        if source != target
    ]
    found = _found(("A", "B", "C"), *references)
    assert _pairs(found) == [("A", "B"), ("A", "C"), ("B", "A"), ("B", "C"), ("C", "A"), ("C", "B")]
    assert found == _found(("A", "B", "C"), *references[::-1])
    assert [link.type for link in found.links[:3]] == [
        "formula_reference",
        "aggregation",
        "summary_source",
    ]


def test_of_too_many_links_the_strongest_stay():
    sheets = ("S", *(f"T{n}" for n in range(MAX_LINKS_OF_SHEET + 100)))
    references = [
        _reference("S", sheet, cells=2 if n >= 100 else 1) for n, sheet in enumerate(sheets[1:])
    ]
    found = _found(sheets, *references)
    assert _pairs(found) == [("S", f"T{n}") for n in range(100, MAX_LINKS_OF_SHEET + 100)]

    many = tuple(f"T{n}" for n in range(80))
    dense = [_reference(a, b, cells=1 + (a < b)) for a in many for b in many if a != b]
    found = _found(many, *dense)
    assert len(found.links) == MAX_LINKS
    assert sum(link.weight == strength(2) for link in found.links) == 80 * 79 // 2


def test_three_dimensional_ranges_over_hundreds_of_sheets_end_in_time():
    sheets = tuple(f"T{n}" for n in range(400))
    references = [_reference(sheet, "T0", A, last="T399") for sheet in sheets]
    found = _found(sheets, *references)
    assert len(found.links) == MAX_LINKS


# ---- other workbooks


def _external(sheet: str = "Rates", **more) -> ExternalReference:
    fields = {"last": "", "name": "", "use": V, "weight": 0.5, "evidence": "S!A1 =…", **more}
    return ExternalReference("a/report.xlsx#S", "../Rates.xlsx", sheet, **fields)


def test_a_numbered_workbook_is_known_by_its_target_decoded():
    structure = Structure(
        externals=(External(1, "file:///C:\\My%20data\\Rates%2B1.xlsx"), External(2, "B.xlsx"))
    )
    found = _found(
        ("S",),
        Reference("S", A, "A1", "SUM([1]Rates!B:B)", 4, workbook="1", first="Rates", area="B:B"),
        Reference("S", V, "A2", "[2]!vat*2", workbook="2", name="vat"),
        Reference("S", V, "A3", "[3]X!A1", workbook="3", first="X"),
        structure=structure,
    )
    assert found.external == (
        ExternalReference(
            source="book.xlsx#S",
            file="file:///C:\\My data\\Rates+1.xlsx",
            sheet="Rates",
            last="",
            name="",
            use=A,
            weight=strength(4),
            evidence="S!A1 =SUM([1]Rates!B:B)",
        ),
        ExternalReference("book.xlsx#S", "B.xlsx", "", "", "vat", V, 0.5, "S!A2 =[2]!vat*2"),
    )
    assert found.external[0].key == "rates+1.xlsx"


def test_names_may_stand_for_another_workbook():
    structure = Structure(
        names=(DefinedName("x", "[1]Rates!$B$2"),), externals=(External(1, "Rates.xlsx"),)
    )
    found = _found(("S",), Reference("S", V, "A1", "x*2", name="x"), structure=structure)
    assert [(each.file, each.sheet) for each in found.external] == [("Rates.xlsx", "Rates")]


def test_totals_of_several_workbooks_make_a_summary():
    references = [
        Reference("S", A, "A1", f"SUM([{n}]Q!A:A)", workbook=str(n), first="Q") for n in (1, 2)
    ]
    structure = Structure(externals=(External(1, "North.xlsx"), External(2, "South.xlsx")))
    found = _found(("S",), *references, structure=structure)
    assert [each.summary for each in found.external] == [summary_weight(2, 0.5, 0)] * 2
    assert [link.type for link in resolve(found.external[0], _records("Q"))] == [
        "formula_reference",
        "aggregation",
        "summary_source",
    ]


def test_a_reference_to_another_workbook_becomes_links_to_its_sheets():
    records = _records("Jan", "Feb", "Rates", file="Rates.xlsx")
    assert resolve(_external("RATES", use=L), records) == [
        Link("a/report.xlsx#S", "Rates.xlsx#Rates", "formula_reference", 0.5, "S!A1 =…"),
        Link("a/report.xlsx#S", "Rates.xlsx#Rates", "join_key", 0.95, "S!A1 =…"),
    ]
    spanned = resolve(_external("Jan", last="Feb"), records)
    assert [link.target for link in spanned] == ["Rates.xlsx#Jan", "Rates.xlsx#Feb"]
    assert resolve(_external("Gone"), records) == []
    assert resolve(_external(""), records) == []
    assert resolve(_external("", name="vat"), records) == []
    assert resolve(_external("Rates"), []) == []


def test_what_another_workbook_declares_is_no_formula():
    records = _records("Rates", file="Rates.xlsx")
    pivot = _external(use=A, weight=0.9, declared=True)
    assert [(link.type, link.weight) for link in resolve(pivot, records)] == [("aggregation", 0.9)]
    choices = _external(use=L, weight=0.8, declared=True)
    assert [(link.type, link.weight) for link in resolve(choices, records)] == [("join_key", 0.8)]


@pytest.mark.parametrize(
    ("target", "key"),
    [
        ("Book.xlsx", "book.xlsx"),
        ("../a b/BOOK.xlsx", "book.xlsx"),
        ("/a/b.ods", "b.ods"),
        ("C:\\x\\y.xls", "y.xls"),
        ("\\\\server\\share\\y.xls", "y.xls"),
        ("file:///C:/x/y%20z.xlsx", "y z.xlsx"),
        ("https://example.org/d/Plan%20A.xlsx?web=1#x", "plan a.xlsx"),
        ("50% off.xlsx", "50% off.xlsx"),
        ("Gro\u0308ße.xlsx", "grösse.xlsx"),
        ("", ""),
        ("///", ""),
    ],
)
def test_workbooks_are_looked_up_by_their_file_name(target, key):
    assert file_key(decoded(target)) == key


@pytest.mark.parametrize(
    ("workbook", "first", "name"),
    [
        ("book.xlsx", "Q1", ""),
        ("BOOK.xlsx", "Q1", ""),
        ("./book.xlsx", "Q1", ""),
        ("1", "Q1", ""),
        ("book.xlsx", "", "glob"),
        ("0", "", "glob"),
    ],
)
def test_a_workbook_that_names_its_own_file_refers_to_its_own_sheets(workbook, first, name):
    structure = Structure(
        names=(DefinedName("glob", "Q1!$A$1"),), externals=(External(1, "book.xlsx"),)
    )
    workbook = "" if workbook == "0" else workbook  # the tokens are read so
    reference = _reference("Main", first, workbook=workbook, name=name)
    found = _found(("Main", "Q1"), reference, structure=structure)
    assert _pairs(found) == [("Main", "Q1")]
    assert found.external == ()


@pytest.mark.parametrize("workbook", ["../2023/book.xlsx", "C:\\old\\book.xlsx", "other.xlsx"])
def test_a_file_of_the_same_name_in_another_folder_is_another_workbook(workbook):
    found = _found(("Main", "Q1"), _reference("Main", "Q1", workbook=workbook))
    assert found.links == ()
    assert [each.file for each in found.external] == [workbook]


def test_literals_in_a_declared_source_stay_out_of_the_evidence():
    text = 'IF(Main!A1="Miller",Q1!A2:A3,Q1!A2:A4711)'
    source = DataSource("Main", SourceKind.VALIDATION, text, "C3")
    found = _found(("Main", "Q1"), structure=Structure(sources=(source,)))
    (link,) = found.links
    assert link.evidence == "Main!C3 validation =IF(Main!A1=…,Q1!A2:A3,Q1!A2:A4711)"


@pytest.mark.parametrize(
    ("workbook", "key"),
    [
        ("https://a.org/sites/x/Q1%20data.xlsx?web=1", "q1 data.xlsx"),
        ("../plan%5B1%5D.xlsx", "plan[1].xlsx"),
        ("50%20off.xlsx", "50%20off.xlsx"),
    ],
)
def test_a_workbook_named_in_a_formula_is_looked_up_by_its_real_name(workbook, key):
    (external,) = _found(("Main",), _reference("Main", "Q1", workbook=workbook)).external
    assert external.key == key


def test_a_line_break_in_a_sheets_name_is_a_space_in_formulas():
    found = _found(("Main", "Sales\nNorth"), _reference("Main", "Sales North"))
    assert _pairs(found) == [("Main", "Sales\nNorth")]
