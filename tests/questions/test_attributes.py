import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.errors import InputError
from sat_retriever.questions.attributes import FactIndex
from sat_retriever.questions.facts import Need, SheetFacts, Sources
from sat_retriever.records.links import Link
from sat_retriever.text.period.periods import Grain, SheetPeriod
from sat_retriever.text.period.spans import Span
from tests.questions.slow import satisfies

periods = st.one_of(
    st.none(),
    st.builds(
        lambda grain, year, part: SheetPeriod("f", grain, year, part, str(year)),
        st.sampled_from([Grain.YEAR]),
        st.sampled_from([0, 2023, 2024]),
        st.just(0),
    ),
    st.builds(
        lambda year, part: SheetPeriod("f", Grain.MONTH, year, part, ""),
        st.sampled_from([0, 2023, 2024]),
        st.integers(1, 12),
    ),
    st.just(SheetPeriod("f", Grain.YEARS, 2024, 0, "2022-2024")),
)
facts = st.lists(
    st.tuples(
        st.sampled_from(["", "hr", "stock"]),
        st.sampled_from(["", "payroll", "roster", "entry"]),
        st.sampled_from(["", "Acme", "Bolt"]),
        periods,
        st.sampled_from([(), ("ID",), ("ID", "Dept"), ("id",)]),
        st.sampled_from([(), ("dept", "city"), ("id",)]),
    ),
    max_size=25,
).map(
    lambda rows: [
        SheetFacts(str(number), *row[:4], keys=row[4], columns=row[5])
        for number, row in enumerate(rows)
    ]
)
spans = st.one_of(
    st.builds(
        lambda first, more, months: Span(first, first + more, *sorted(months)),
        st.sampled_from([2021, 2023, 2024]),
        st.integers(0, 2),
        st.tuples(st.integers(1, 12), st.integers(1, 12)),
    ),
    st.builds(lambda month: Span(0, 0, month, month), st.integers(1, 12)),
)
needs = st.builds(
    Need,
    kinds=st.sampled_from([(), ("payroll",), ("roster", "payroll"), ("entry",), ("none",)]),
    categories=st.sampled_from([(), ("hr",), ("hr", "stock")]),
    entities=st.sampled_from([(), ("Acme",), ("Bolt", "Acme")]),
    spans=st.lists(spans, max_size=2).map(tuple),
    grain=st.sampled_from([None, Grain.MONTH, Grain.YEAR]),
    keys=st.sampled_from([(), ("ID",), ("Dept", "ID")]),
)


@given(facts, needs)
def test_the_index_finds_just_the_sheets_a_loop_over_all_finds(facts, need):
    expected = tuple(each.sheet_id for each in facts if satisfies(each, need))
    index = FactIndex.of(facts)
    assert index.sheets(need) == expected
    assert index.any(need) == bool(expected)
    assert index.sheets(need, limit=2) == (expected if len(expected) <= 2 else None)


@given(
    facts,
    needs,
    st.lists(st.tuples(st.integers(0, 27), st.integers(0, 27), st.booleans()), max_size=40),
    st.booleans(),
)
def test_sources_are_those_of_every_described_sheet(facts, need, pairs, itself):
    links = [Link(str(a), str(b), "formula" if yes else "other") for a, b, yes in pairs]
    described = {each.sheet_id for each in facts if satisfies(each, need)}
    expected = {
        link.target
        for link in links
        if link.type == "formula" and link.source in described and link.source != link.target
    }
    expected |= described if itself else set()
    found = FactIndex.of(facts, links).sheets(Sources(need, ("formula",), itself))
    assert set(found) == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize("ids", [("a", "a"), ("",)])
def test_sheets_without_ids_of_their_own_are_refused(ids):
    with pytest.raises(InputError, match="need a unique sheet id"):
        FactIndex.of([SheetFacts(sheet, "c", "k") for sheet in ids])


def test_a_sheet_that_refers_to_itself_is_no_source_of_itself():
    facts = [SheetFacts(sheet, "c", "k") for sheet in "ab"]
    index = FactIndex.of(facts, [Link("a", "a", "formula"), Link("a", "b", "formula")])
    assert index.sheets(Sources(Need(), ("formula",))) == ("b",)
    assert index.sheets(Sources(Need(), ("formula",), itself=True)) == ("a", "b")
