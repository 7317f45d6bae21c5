import random

import pytest

from sat_retriever.questions.attributes import FactIndex
from sat_retriever.questions.facts import SheetFacts
from sat_retriever.questions.negatives import HARD_TYPES, hard_negatives, random_negatives
from sat_retriever.text.period.periods import Grain, SheetPeriod
from sat_retriever.text.period.spans import span_of
from tests.questions.small_world import world

FACTS, LINKS = world()
INDEX = FactIndex.of(FACTS, LINKS)


def drawn(positive, name, number=6):
    found = hard_negatives(INDEX, [positive], number, {name: 1.0}, random.Random(4))
    sheets = [INDEX.facts[INDEX.place[sheet]] for sheet, kind in found.items() if kind == name]
    assert sheets
    return INDEX.facts[INDEX.place[positive]], sheets


def test_a_wrong_entity_has_equal_columns_and_another_owner():
    own, sheets = drawn("Oak Ridge Mills/payroll/2023-0-7", "same_schema_wrong_entity")
    for other in sheets:
        assert other.schema == own.schema or other.kind == own.kind
        assert span_of(other.period) == span_of(own.period)
        assert other.entity != own.entity


def test_a_wrong_year_is_the_same_for_another_time():
    own, sheets = drawn("Oak Ridge Mills/payroll/2023-0-7", "same_schema_wrong_year")
    for other in sheets:
        assert other.schema == own.schema or other.kind == own.kind
        assert other.entity == own.entity
        assert span_of(other.period) != span_of(own.period)


@pytest.mark.parametrize("name", ["same_schema_wrong_entity", "same_schema_wrong_year"])
def test_sheets_of_a_kind_are_alike_whatever_their_company_calls_the_columns(name):
    facts = [
        SheetFacts(
            f"{entity}/{year}",
            "hr",
            "payroll",
            entity,
            SheetPeriod(f"{entity}/payroll", Grain.YEAR, year, 0, str(year)),
            schema=f"columns of {entity} in {year}",
        )
        for entity in ("Oak Ridge Mills", "Fennel Works")
        for year in (2022, 2023)
    ]
    index = FactIndex.of(facts, ())
    found = hard_negatives(index, ["Fennel Works/2023"], 1, {name: 1.0}, random.Random(0))
    other = "Oak Ridge Mills/2023" if name.endswith("entity") else "Fennel Works/2022"
    assert found == {other: name}


def test_a_wrong_sheet_stands_in_the_same_workbook():
    own, sheets = drawn("Oak Ridge Mills/payroll/2023-0-7", "same_workbook_wrong_sheet")
    assert {other.workbook for other in sheets} == {own.workbook}


def test_an_unrelated_sheet_has_the_key_and_another_kind():
    own, sheets = drawn("Oak Ridge Mills/payroll/2023-0-7", "same_key_column_unrelated")
    for other in sheets:
        assert set(own.keys) & set(other.keys)
        assert other.kind != own.kind


def test_a_formula_family_reads_or_is_read_alike():
    _, sheets = drawn("Oak Ridge Mills/project registry/2023", "same_formula_family")
    assert {other.kind for other in sheets} <= {"project registry", "project budget"}


def test_a_summary_of_another_company_is_of_the_same_type():
    _, sheets = drawn("Oak Ridge Mills/sales report/2023-2", "same_summary_type")
    assert all(other.summary for other in sheets)


def test_types_come_in_their_shares_and_others_fill_up_what_one_cannot_give():
    index = FactIndex.of(world(tuple("ABCDEFGHIJKLMNOP"), (2022, 2023))[0])
    shares = {"same_schema_wrong_entity": 3.0, "same_key_column_unrelated": 1.0}
    found = hard_negatives(index, ["A/payroll/2023-0-7"], 12, shares, random.Random(1))
    assert list(found.values()).count("same_schema_wrong_entity") == 9
    assert list(found.values()).count("same_key_column_unrelated") == 3
    shares = {"same_key_column_unrelated": 1.0}
    found = hard_negatives(index, ["A/balance sheet/2023"], 12, shares, random.Random(1))
    assert found  # it has no key: other types stand in
    assert "same_key_column_unrelated" not in found.values()


def test_types_are_listed_in_order():
    found = hard_negatives(
        INDEX,
        ["Oak Ridge Mills/payroll/2023-0-7"],
        20,
        dict.fromkeys(HARD_TYPES, 1.0),
        random.Random(1),
    )
    places = [HARD_TYPES.index(name) for name in found.values()]
    assert places == sorted(places)


@pytest.mark.parametrize("number", [0, 3, 900, 5000])
def test_random_negatives_are_as_many_as_there_are(number):
    positives = {each.sheet_id for each in FACTS[:100]}
    found = random_negatives(INDEX, positives, number, random.Random(2))
    assert len(found) == len(set(found)) == min(number, len(FACTS) - 100)
    assert not positives & set(found)
