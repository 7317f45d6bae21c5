"""Questions about tables written by hand: their answers, their SQL and their words."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sat_retriever.records.area import Area
from sat_retriever.synth.answers.ask import Ask, Condition, Field, given_by, question_of
from sat_retriever.synth.answers.draw import identified
from sat_retriever.synth.answers.evaluate import answer_of, cells_of, reduced, sql_of
from sat_retriever.synth.answers.tables import ToldColumn, ToldTable
from sat_retriever.synth.book.model import Value
from sat_retriever.synth.words.vocabulary import Vocabulary


def column(name: str, letters: str, *values: Value) -> ToldColumn:
    return ToldColumn(name.lower(), name, name.lower(), letters, values)


ORDER = column("Order", "B", "O1", "O2", "O3", "O4")
BUYER = column("Buyer", "C", "Ada", "Bob", "Ada", None)
DAY = column("Day", "D", date(2024, 1, 9), date(2024, 2, 1), date(2024, 2, 29), date(2024, 3, 1))
PAID = column("Paid", "E", 10, 2.5, None, 4)
SALES = ToldTable(
    "shop.xlsx#Sales", Area(3, 2, 7, 5), "the sales sheet", "", (ORDER, BUYER, DAY, PAID),
    (4, 5, 6, 7),
)  # fmt: skip
NAME, TOWN = column("Name", "A", "Bob", "Ada", "Eve"), column("Town", "B", "Ur", "Rome", "Ur")
BUYERS = ToldTable(
    "shop.xlsx#Buyers", Area(1, 1, 4, 2), "the buyers sheet", "", (NAME, TOWN), (2, 3, 4)
)
TOTAL = Ask("total", (SALES,), Field(PAID), "sum", "answer_totals")
JOINED = Ask(
    "join", (SALES, BUYERS), Field(PAID), "sum", "answer_joins", by=Field(TOWN, 1),
    on=(Field(BUYER), Field(NAME, 1)),
)  # fmt: skip
LOOKUP = Ask(
    "lookup", (SALES,), Field(PAID), None, "answer_lookups", (Condition(Field(ORDER), "=", "O2"),)
)
FEBRUARY = (
    Condition(Field(DAY), ">=", date(2024, 2, 1)),
    Condition(Field(DAY), "<", date(2024, 3, 1)),
)


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (TOTAL, {(16.5,)}),
        (replace(TOTAL, reduce="avg"), {(5.5,)}),
        (replace(TOTAL, reduce="max"), {(10,)}),
        (replace(TOTAL, shows=None, reduce="count"), {(4,)}),
        (replace(TOTAL, where=FEBRUARY), {(2.5,)}),
        (replace(TOTAL, shows=None, reduce="count", where=FEBRUARY), {(2,)}),
        (replace(TOTAL, by=Field(BUYER)), {("Ada", 10), ("Bob", 2.5), (None, 4)}),
        (replace(TOTAL, by=Field(BUYER), most=1), {("Ada", 10)}),
        (JOINED, {("Rome", 10), ("Ur", 2.5)}),
        (replace(JOINED, shows=None, reduce="count"), {("Rome", 2), ("Ur", 1)}),
        (replace(TOTAL, tables=(SALES, SALES)), {(33,)}),
        (LOOKUP, {(2.5,)}),
    ],
)
def test_answers_are_those_that_one_works_out_by_hand(ask, answer):
    assert set(answer_of(ask)) == answer


@pytest.mark.parametrize(
    ("ask", "sql"),
    [
        (LOOKUP, "SELECT paid FROM sales WHERE order_ = 'O2'"),
        (
            replace(TOTAL, by=Field(BUYER), most=2),
            "SELECT buyer, sum(paid) FROM sales GROUP BY buyer ORDER BY 2 DESC LIMIT 2",
        ),
        (
            replace(TOTAL, shows=None, reduce="count", where=FEBRUARY),
            "SELECT count(*) FROM sales WHERE day >= DATE '2024-02-01' AND day < DATE '2024-03-01'",
        ),
        (
            JOINED,
            "SELECT b.town, sum(a.paid) FROM sales AS a JOIN buyers AS b ON a.buyer = b.name "
            "GROUP BY b.town",
        ),
        (
            replace(TOTAL, tables=(SALES, replace(SALES, sheet_id="shop.xlsx#Old"))),
            "SELECT sum(value) FROM (SELECT paid AS value FROM sales "
            "UNION ALL SELECT paid AS value FROM old)",
        ),
    ],
)
def test_the_sql_uses_the_public_names_of_tables_and_columns(ask, sql):
    assert sql_of(ask) == sql


def test_a_lookup_tells_the_cell_that_it_shows_and_other_questions_none():
    assert cells_of(LOOKUP) == ("shop.xlsx#Sales!E5",)
    assert cells_of(TOTAL) == ()
    town = replace(JOINED, shows=Field(TOWN, 1), reduce=None, by=None, where=LOOKUP.where)
    assert answer_of(town) == (("Ur",),)
    assert cells_of(town) == ("shop.xlsx#Buyers!B2",)


def test_a_record_is_named_by_the_fewest_columns_that_no_other_equals():
    assert [each.value for each in identified(SALES, 0)] == ["O1"]
    without = replace(SALES, columns=(BUYER, column("Item", "F", "a", "a", "b", "b"), PAID))
    assert [each.value for each in identified(without, 2)] == ["Ada", "b"]
    assert identified(replace(SALES, columns=(PAID,)), 0) == ()


def test_a_question_says_its_conditions_and_its_sheet():
    words = Vocabulary.load()
    ask = replace(LOOKUP, given=given_by(*LOOKUP.where))
    for seed in range(8):
        said = question_of(ask, words, random.Random(seed)).casefold()
        assert "for order o2" in said and "paid" in said and "the sales sheet" in said
        assert "{" not in said and "  " not in said


@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(-99, 99))))
def test_groups_and_joins_are_those_of_slow_loops(records):
    names, numbers = column("N", "A", *(n for n, _ in records)), [v for _, v in records]
    table = replace(
        SALES, columns=(names, column("V", "B", *numbers)), rows=tuple(range(len(names.values)))
    )
    ask = replace(TOTAL, tables=(table,), shows=Field(table.columns[1]), by=Field(names))
    expected = {}
    for name, number in records:
        if number is not None:
            expected[name] = (expected.get(name) or 0) + number
        else:
            expected.setdefault(name, None)
    assert dict(answer_of(ask)) == expected
    joined = replace(
        ask, tables=(table, table), shows=None, reduce="count", by=None, where=(),
        on=(Field(names), Field(names, 1)),
    )  # fmt: skip
    assert answer_of(joined) == ((sum(a == b for a, _ in records for b, _ in records),),)


def test_an_average_of_nothing_is_nothing():
    assert reduced("avg", []) is None and reduced("count", [None]) == 0
