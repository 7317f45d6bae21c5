"""Facts from a user's own records: what is found, and what is left alone."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.datasets.labels import Query
from sat_retriever.errors import InputError
from sat_retriever.questions.facts import SheetFacts
from sat_retriever.questions.forindex import INCOMPLETE, Described, own_queries, stutters
from sat_retriever.questions.grammar import FOUND, Grammar
from sat_retriever.questions.headers import header_queries
from sat_retriever.questions.namefacts import NO_NAME, NO_PHRASE, found_facts
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Column, SheetRecord
from tests.work import lines_run

SALES = ("Date", "Customer", "Product", "Revenue")


def record(sheet_id, *headers):
    path, _, tab = sheet_id.rpartition("#")
    return SheetRecord(
        sheet_id,
        tab,
        workbook=path.rpartition("/")[2],
        path=path,
        columns=tuple(Column(header) for header in headers),
    )


def facts_of(*records, links=()):
    return {facts.sheet_id: facts for facts in found_facts(records, links).facts}


def company():
    months = ("January", "February", "March")
    sales = [
        record(f"sales/Sales {region} 2024.xlsx#{month}", *SALES)
        for region in ("North", "South")
        for month in months
    ]
    return [
        *sales,
        record("projects/Plant extension.xlsx#Milestones", "Milestone", "Owner"),
        record("projects/Plant extension.xlsx#Risks", "Risk", "Probability"),
        *(
            record(f"仓库/库存台账 2024.xlsx#{month}", "日期", "物料编码")
            for month in ("一月", "二月")
        ),
        record("exports/export.csv#export", "customer_id", "city"),
        record("Book1.xlsx#Sheet1", "Weight", "Height"),
    ]


# ---- what is found


def test_what_varies_between_alike_sheets_is_the_owner_and_the_rest_is_the_kind():
    facts = facts_of(*company())
    north = facts["sales/Sales North 2024.xlsx#January"]
    assert (north.kind, north.entity, north.period.label) == ("sales", "north", "2024-01")
    south = facts["sales/Sales South 2024.xlsx#March"]
    assert (south.kind, south.entity, south.period.label) == ("sales", "south", "2024-03")


def test_an_owner_does_not_begin_or_end_with_a_joining_word():
    files = ("Customers and invoices", "Customers")
    facts = facts_of(*(record(f"{file}.xlsx#Orders", *SALES) for file in files))
    assert facts["Customers and invoices.xlsx#Orders"].entity == "customers and invoices"


def test_an_owner_is_the_kind_where_nothing_else_is_said():
    facts = facts_of(record("North.xlsx#Sheet1", *SALES), record("South.xlsx#Sheet1", *SALES))
    assert {(each.kind, each.entity) for each in facts.values()} == {("north", ""), ("south", "")}
    facts = facts_of(record("sales/North.xlsx#1", *SALES), record("sales/South.xlsx#1", *SALES))
    assert {(each.kind, each.entity) for each in facts.values()} == {
        ("sales", "north"),
        ("sales", "south"),
    }


def test_sheets_with_other_headers_are_no_owners_of_the_same():
    facts = facts_of(record("a/Sales.xlsx#North", *SALES), record("a/Sales.xlsx#Rates", "X", "Y"))
    assert {each.kind for each in facts.values()} == {"north", "rates"}


@pytest.mark.parametrize("level", ["{}/2024/Payroll.xlsx#Jan", "hr/{} Payroll 2024.xlsx#Jan"])
def test_an_owner_is_found_in_folders_and_in_files(level):
    names = ("Apex Technologies", "Beacon Foods", "Cedar Works")
    facts = facts_of(*(record(level.format(name), *SALES) for name in names))
    assert {(each.kind, each.entity) for each in facts.values()} == {
        ("payroll", name.lower()) for name in names
    }


def test_numbered_folders_are_owners_and_numbered_tabs_are_not():
    facts = facts_of(
        *(record(f"team {n}/Budget.xlsx#Plan {m}", *SALES) for n in (1, 2) for m in (1, 2))
    )
    assert {each.entity for each in facts.values()} == {"team 1", "team 2"}


def test_a_tab_of_a_file_with_several_belongs_to_the_file():
    facts = facts_of(*company())["projects/Plant extension.xlsx#Risks"]
    assert (facts.kind, facts.entity, facts.category) == (
        "risks",
        "plant extension",
        "plant extension",
    )


@pytest.mark.parametrize("tab", ["Sheet1", "Tabelle 2", "工作表1", "2024", "Year", "Feuil1"])
def test_a_generic_tab_is_called_by_its_file(tab):
    assert facts_of(record(f"x/Cash flow.xlsx#{tab}", "A"))[f"x/Cash flow.xlsx#{tab}"].kind == (
        "cash flow"
    )


def test_a_weak_tab_is_called_by_file_and_tab():
    sheet = "x/Board report 2024.xlsx#Summary"
    assert facts_of(record(sheet, "A"))[sheet].kind == "board report summary"


def test_short_forms_keep_their_capitals_and_initials_of_the_file_are_its_name():
    path = "trans/SCoC/Social Cost of Carbon.xlsx"
    facts = facts_of(record(f"{path}#SCoC", "A"), record(f"{path}#SYAVLo raw", "B"))
    assert facts[f"{path}#SCoC"].kind == "social cost of carbon"
    assert facts[f"{path}#SYAVLo raw"].kind == "SYAVLo raw"


@pytest.mark.parametrize(
    ("tab", "said"),
    [
        ("kWhPerMonth", "kWh per month"), ("pH values", "pH values"),
        ("LDVsByState", "LDVs by state"), ("NOxEmissions", "NOx emissions"),
        ("GmbH list", "GmbH list"), ("netProfit", "net profit"),
    ],
)  # fmt: skip
def test_words_of_a_trade_are_said_as_they_are_written(tab, said):
    assert facts_of(record(f"a.xlsx#{tab}", "A"))[f"a.xlsx#{tab}"].kind == said


def test_chinese_names_are_read():
    facts = facts_of(*company())["仓库/库存台账 2024.xlsx#一月"]
    assert (facts.kind, facts.category, facts.period.label) == ("库存台账", "仓库", "2024-01")


def test_keys_are_headers_that_joins_show_and_every_sheet_with_them_has_them():
    sheets = [
        record("Orders.xlsx#Orders", "Order no", "Cust_ID"),
        record("Crm.xlsx#Customers", "Customer ID", "Name"),
        record("Crm.xlsx#Contracts", "customerId", "Amount"),
        record("Other.xlsx#Parts", "Part no", "Amount"),
    ]
    evidence = "Orders.Cust_ID = Customers.Cust ID (headers)"
    link = Link("Orders.xlsx#Orders", "Crm.xlsx#Customers", "join_key", 0.9, evidence)
    keys = {sheet: facts.keys for sheet, facts in facts_of(*sheets, links=[link]).items()}
    assert len({keys[sheet.sheet_id] for sheet in sheets[:3]}) == 1
    assert keys["Crm.xlsx#Contracts"]
    assert keys["Other.xlsx#Parts"] == ()


def test_a_sheet_that_gathers_is_a_summary():
    sheets = [record("a/Sales.xlsx#Total", "A"), record("a/Sales.xlsx#Orders", "B")]
    link = Link(sheets[0].sheet_id, sheets[1].sheet_id, "summary_source")
    facts = facts_of(*sheets, links=[link])
    assert [facts[each.sheet_id].summary for each in sheets] == [True, False]


# ---- what is left out


def test_useless_names_give_no_query_and_are_counted_with_the_reason():
    found = found_facts(
        [
            record("Book1.xlsx#Sheet1", "a"),
            record("Book2.xlsx#Sheet1", "a"),
            record("9f3a77c0de12.xlsx#8842", "a"),
            record(f"{'very ' * 20}long.xlsx#Sheet1", "a"),
            record("Sales.xlsx#Sheet1", "a"),
        ]
    )
    assert [facts.kind for facts in found.facts] == ["sales"]
    assert {left.reason: left.number for left in found.left_out} == {NO_NAME: 3, NO_PHRASE: 1}
    assert "Book1.xlsx#Sheet1" in found.left_out[0].examples


def test_one_sheet_no_sheet_and_published_records_are_read():
    assert found_facts([]).facts == ()
    (facts,) = found_facts([record("Orders.xlsx#Orders", "A")]).facts
    assert (facts.kind, facts.entity, facts.period) == ("orders", "", None)
    spider = [SheetRecord("7", name, workbook="concert_singer") for name in ("singer", "stadium")]
    assert [(f.kind, f.entity) for f in found_facts(spider).facts] == [
        ("singer", "concert singer"),
        ("stadium", "concert singer"),
    ]


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="#/"), min_size=1, max_size=12)


@given(
    st.lists(
        st.tuples(NAMES, NAMES, st.lists(NAMES, max_size=4)), max_size=8, unique_by=lambda t: t[:2]
    )
)
def test_any_names_give_facts_or_a_reason_for_each_sheet(names):
    records = [record(f"{file}.xlsx#{tab}", *headers) for file, tab, headers in names]
    found = found_facts(records)
    assert len(found.facts) + sum(left.number for left in found.left_out) == len(records)
    assert all(facts.kind.strip() for facts in found.facts)


def test_the_order_of_the_records_changes_nothing():
    records = company()
    mixed = list(records)
    random.Random(3).shuffle(mixed)
    assert facts_of(*records) == facts_of(*mixed)


def test_ten_times_the_sheets_take_about_ten_times_the_work():
    def work(number):
        records = [
            record(f"team {n}/Sales {2015 + n % 9}.xlsx#{tab}", tab, *SALES)
            for n in range(number)
            for tab in ("Orders", "Returns")
        ]
        return lines_run(lambda: found_facts(records))

    work(50)  # fills what is remembered of names
    assert work(1000) < 20 * work(100)  # 10 is linear, 100 quadratic


# ---- questions


def test_header_questions_have_every_sheet_with_both_columns_and_no_other():
    records = company()
    made = header_queries(records, 5, random.Random(0))
    sales = [each.sheet_id for each in records[:6]]
    assert any(each.query.positives == tuple(sorted(sales)) for each in made)
    for query in (each.query for each in made):
        named = [
            r
            for r in records
            if sum(c.name.replace("_", " ") in query.text for c in r.columns) >= 2
        ]
        assert {each.sheet_id for each in named} == set(query.positives)
    for each in made:  # what a rewording must keep
        assert len(each.fixed) == 2
        assert all(header in each.query.text for header in each.fixed)


def test_a_sheet_that_the_words_describe_as_well_makes_a_query_incomplete():
    sheets = [
        record("a/Sales 2024.xlsx#Orders", "A"),
        record("a/Sales 2024.xlsx#Orders open", "B"),
        record("a/Sales 2023.xlsx#Orders", "C"),
    ]
    described = Described.of(found_facts(sheets).facts)

    def forgotten(text, *meant, keys=()):
        return described.forgotten(text, meant, keys)

    ids = [each.sheet_id for each in sheets]
    assert forgotten("find orders of 2024", ids[0]) == ids[1]
    assert forgotten("find orders of 2024", *ids[:2]) is None
    assert forgotten("find orders open", ids[1]) is None
    assert forgotten("find orders", *ids[:2]) == ids[2]
    assert forgotten("find orders by c", *ids[:2], keys=("c",)) is None


def test_what_takes_from_others_is_described_completely_as_well():
    sheets = [record(f"a/{name}.xlsx#Sheet1", "A") for name in ("Calculations", "Old calculations")]
    sheets += [record(f"b/{name}.xlsx#Sheet1", name) for name in ("Prices", "Volumes")]
    ids = [each.sheet_id for each in sheets]
    links = [Link(ids[0], ids[2], "formula_reference"), Link(ids[1], ids[3], "formula_reference")]
    own = own_queries(sheets, links, 40, types=["formula_tracing"])
    assert own.made
    assert all("old calculations" in each.query.text.casefold() for each in own.made)
    assert own.dropped[INCOMPLETE]


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("09 Commercial", "commercial"),
        ("11 Year-end", "year end"),
        ("Price list (12)", "price list"),
        ("10 year plan", "10 year plan"),
        ("5 a day", "5 a day"),
    ],
)
def test_numbers_that_only_order_files_are_not_said(file, kind):
    assert facts_of(record(f"x/{file}.xlsx#Sheet1", "A"))[f"x/{file}.xlsx#Sheet1"].kind == kind


def test_a_name_that_says_nothing_is_no_owner():
    facts = facts_of(*(record(f"{file}.xlsx#Rates", *SALES) for file in ("report 9", "Acme")))
    assert facts["report 9.xlsx#Rates"].entity == ""
    assert facts["Acme.xlsx#Rates"].entity == "acme"


def test_an_owner_named_by_the_file_is_said_without_the_kind():
    tabs = (record(f"Acme project budget.xlsx#{tab}", tab) for tab in ("Project budget", "Risks"))
    facts = facts_of(*tabs)
    assert facts["Acme project budget.xlsx#Project budget"].entity == "acme"
    assert facts["Acme project budget.xlsx#Risks"].entity == "acme project budget"


def test_a_files_main_sheets_are_traced_though_they_are_called_as_the_file():
    months = ("January", "February")
    sheets = [record(f"Stock movements.xlsx#{tab}", "Item", "Out") for tab in months]
    sheets.append(record("Stock movements.xlsx#Items", "Item", "Level"))
    ids = [each.sheet_id for each in sheets]
    links = [Link(each, ids[2], "formula_reference") for each in ids[:2]]
    made = own_queries(sheets, links, 10, types=["formula_tracing"]).made
    assert (ids[2],) in {each.query.positives for each in made}


def test_nothing_is_said_about_companies():
    grammar = Grammar.load(FOUND)
    said = " ".join(text for texts in grammar.rules.values() for text in texts).casefold()
    assert not re.search(r"compan|industr|peer|everybody|group-wide", said)
    assert grammar.rules.keys() == Grammar.load().rules.keys()


def test_the_same_seed_gives_the_same_queries_and_another_one_others():
    records = company()
    first = own_queries(records, [], 20, seed=1)
    assert first == own_queries(records, [], 20, seed=1)
    assert first.made != own_queries(records, [], 20, seed=2).made
    texts = [each.query.text.casefold() for each in first.made]
    assert len(set(texts)) == len(texts) == 20


def test_every_sheet_named_exists_and_no_side_has_the_others():
    records = company()
    own = own_queries(records, [], 40)
    known = {each.sheet_id for each in records}
    for query in (each.query for each in own.made):
        wrong = {*query.negatives, *query.hard_negatives}
        assert query.positives
        assert {*query.positives, *wrong} <= known
        assert not set(query.positives) & wrong
    assert own.covered == len({s for each in own.made for s in each.query.positives})
    assert own.sheets == len(records)


def test_queries_about_some_sheets_have_their_whole_answers_among_them_as_all_sheets_give_it():
    records = company()
    about = frozenset(each.sheet_id for each in records[::2])
    asked = [each.query for each in own_queries(records, [], 40, about=about).made]
    assert len(asked) > 10
    assert all(about.issuperset(query.positives) for query in asked)
    others = {sheet for query in asked for sheet in (*query.negatives, *query.hard_negatives)}
    assert others - about  # the rest of the sheets is there all the same
    alone = own_queries([each for each in records if each.sheet_id in about], [], 40).made
    assert {query.text for query in asked} != {each.query.text for each in alone}
    assert own_queries(records, [], 40, about=frozenset()).made == ()


def test_no_query_speaks_of_companies():
    texts = " ".join(each.query.text for each in own_queries(company(), [], 60).made).lower()
    assert "compan" not in texts
    assert "industry" not in texts


def test_only_wanted_types_are_made_and_unknown_ones_refused():
    own = own_queries(company(), [], 10, types=["comparison"])
    assert {each.query.query_type for each in own.made} == {"comparison"}
    with pytest.raises(InputError, match="no query type 'guess'; choose from aggregation"):
        own_queries(company(), [], 10, types=["guess"])
    with pytest.raises(InputError, match="number is 0"):
        own_queries(company(), [], 0)


def test_incomplete_queries_are_counted():
    sheets = [
        record(f"a/Sales {y}.xlsx#{t}", "A", t)
        for y in (2023, 2024)
        for t in ("Orders", "Orders open")
    ]
    assert own_queries(sheets, [], 20).dropped[INCOMPLETE] > 0


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ("Find the project budget project budget sheets", True),
        ("Find the plant extension risks for Plant Extension", True),
        ("Find the risks of plant extension", False),
        ("Find the plant extension of a plant", False),
    ],
)
def test_a_text_that_says_a_name_twice_is_told(text, twice):
    described = Described.of([SheetFacts("a", "plant extension", "risks", "plant extension")])
    assert stutters(Query(text, ("a",)), described) == twice
