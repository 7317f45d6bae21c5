"""The tables of categories: their words are known, formulas are parsed, draws are what they say."""

import random

import pytest

from sat_retriever.synth.book.model import (
    Combine,
    Lookup,
    Number,
    Own,
    SheetAt,
    Total,
    TotalWhere,
)
from sat_retriever.synth.categories import CATEGORIES
from sat_retriever.synth.categories.tables import ColumnForm, drawn, forms, formula
from sat_retriever.synth.house.when import When
from tests.synth.categories.checks import house

MARKS = {"key", "unique", "total", "group", "dated", "like"}
OPTIONS = {"once", "yearly", "summary", "hidden", "apart", "head", "table", "chart"}
COSTS = SheetAt("costs")


@pytest.mark.parametrize("category", CATEGORIES)
def test_tables_use_known_words_and_columns_that_have_headers(category):
    words = house(0).vocabulary.categories[category].kinds
    for name, form in forms(category).items():
        assert set(form.options) <= OPTIONS, name
        ids = [column.id for column in form.columns]
        assert len(set(ids)) == len(ids), name
        for column in form.columns:
            assert set(column.marks) <= MARKS, (name, column.id)
            assert column.style in ("text", "integer", "amount", "percent", "date")
            assert column.id in words[name.split(":")[0]].columns
    assert {name.split(":")[0] for name in forms(category)} == set(words)


@pytest.mark.parametrize(
    ("text", "recipe"),
    [
        ("a - b - 2", Combine("-", Combine("-", Own("a"), Own("b")), Number(2))),
        ("a / (b * 0.5)", Combine("/", Own("a"), Combine("*", Own("b"), Number(0.5)))),
        ("lookup(costs.paid, item)", Lookup(COSTS, "item", "item", "paid")),
        ("lookup(costs.paid, item, id)", Lookup(COSTS, "item", "id", "paid")),
        ("sumif(costs.paid, item, id)", TotalWhere(COSTS, "paid", "id", "item")),
        ("sum(costs.paid)", Total(COSTS, "paid")),
        ("max(costs.paid)", Total(COSTS, "paid", "MAX")),
    ],
)
def test_a_formula_is_parsed_as_it_is_read(text, recipe):
    assert formula(text, SheetAt) == recipe


@pytest.mark.parametrize("text", ["a ** b", "'text'", "costs.paid", "a > b"])
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(ValueError, match="no formula of made sheets"):
        formula(text, SheetAt)


@pytest.mark.parametrize(
    ("cells", "style", "found"),
    [
        ("one of A / B*3 / -", "text", {"A", "B", None}),
        ("any of 1*5 / 0.5", "amount", {1, 0.5}),
        ("one of pool departments 3", "text", set(house(0).pool("departments", 3))),
        ("2 to 4", "integer", {2, 3, 4}),
        ("10 x 2 to 3", "amount", {20, 30}),
        ("spoken", "text", {"May 2024"}),
    ],
)
def test_draws_give_all_that_they_name(cells, style, found):
    form = ColumnForm("x", False, style, cells, {})
    cells = drawn(form, 200, random.Random(1), house(0), When(2024, month=5))
    assert len(cells) == 200 and set(cells) == found


def test_numbers_days_and_shares_are_drawn_in_their_bounds():
    def draw(cells, style="text"):
        form = ColumnForm("x", False, style, cells, {})
        return drawn(form, 30, random.Random(1), house(0), When(2024, month=5))

    assert draw("number T{yy}{part:02}-{n:03}")[:2] == ["T2405-001", "T2405-002"]
    assert all(day.month == 5 and day.weekday() < 5 for day in draw("days", "date"))
    shares = draw("0.2 to 0.4", "percent")
    assert len(set(shares)) > 20 and all(0.2 <= share <= 0.4 for share in shares)
