from functools import cache
from itertools import pairwise

import pytest

from sat_retriever.synth.book.model import Lookup, TotalWhere
from sat_retriever.synth.categories.sales.orders import Habits
from tests.synth.categories.checks import SEEDS, YEARS, check_references, grids, house, made, sheets


@cache
def sales(seed):
    """The workbooks of a company and their calculated cells."""
    books = made("sales", seed)
    return books, grids(books)


def tables(seed, kind):
    """The sheets of a kind with their calculated cells."""
    books, cells = sales(seed)
    return [(sheet, cells[book.path, sheet.name]) for book, sheet in sheets(books, kind)]


@pytest.mark.parametrize("seed", SEEDS)
def test_workbooks_refer_to_each_other_unless_each_year_is_one(seed):
    assert check_references(made("sales", seed)) or Habits.of(house(seed)).split == "years"


@pytest.mark.parametrize("seed", SEEDS)
def test_order_lines_are_dated_priced_and_multiplied_out(seed):
    numbers: list[str] = []
    for sheet, grid in tables(seed, "orders"):
        period = sheet.facts.period
        assert all(first <= second for first, second in pairwise(grid["date"]))
        for day in grid["date"]:
            part = day.month if period.grain == "month" else (day.month + 2) // 3
            assert (day.year, part) == (period.year, period.part)
        rates = grid.get("discount", [0] * len(grid["date"]))
        for row, revenue in enumerate(grid["revenue"]):
            expected = grid["quantity"][row] * grid["price"][row] * (1 - rates[row])
            assert revenue == pytest.approx(expected) and revenue > 0
        numbers += grid["order"]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_customer_and_a_product_are_the_same_in_all_workbooks(seed):
    names: dict[tuple[str, str], object] = {}
    known = {"customer": set(), "product": set()}
    for kind, key in (("customers", "customer"), ("products", "product")):
        for _, grid in tables(seed, kind):
            known[key] |= set(grid[key])
            for code, name in zip(grid[key], grid["name"], strict=True):
                assert names.setdefault((key, code), name) == name
    for _, grid in tables(seed, "orders"):
        for key, ids in known.items():
            assert set(grid[key]) <= ids
            for code, name in zip(grid[key], grid.get(f"{key}_name", ()), strict=False):
                assert names[key, code] == name


@pytest.mark.parametrize("seed", SEEDS)
def test_summaries_of_regions_and_products_agree_with_the_orders(seed):
    orders, annual = tables(seed, "orders"), tables(seed, "annual")
    for year in YEARS:
        lines = [grid for sheet, grid in orders if sheet.facts.period.year == year]
        revenue = sum(sum(grid["revenue"]) for grid in lines)
        [months] = [grid for sheet, grid in annual if sheet.facts.period.year == year]
        assert sum(months["revenue"]) == pytest.approx(revenue)
        assert sum(months["orders"]) == sum(len(grid["order"]) for grid in lines)
        for kind, column in (
            ("annual_regions", "total"),
            ("targets", "actual"),
            ("by_product", "revenue"),
            ("by_region", "revenue"),
        ):
            found = [g for sheet, g in tables(seed, kind) if sheet.facts.period.year == year]
            if found:
                assert sum(sum(g[column]) for g in found) == pytest.approx(revenue), kind


def test_targets_are_neither_hopeless_nor_idle():
    rates = [
        rate
        for seed in SEEDS
        for _, grid in tables(seed, "targets")
        for rate in grid["achievement"]
    ]
    assert 0.6 < sum(rates) / len(rates) < 1.6


def test_monthly_tabs_and_yearly_workbooks_are_some_companies_way():
    splits = {Habits.of(house(seed)).split: seed for seed in range(30)}
    months = made("sales", splits["months"], (2022,))
    year = made("sales", splits["years"], (2022,))

    assert len(list(sheets(months, "orders"))) == 12
    assert len(list(sheets(year, "orders"))) == 4
    assert len({book.path for book, _ in sheets(year, "orders")}) == 1
    assert len({book.path for book, _ in sheets(months, "orders")}) == 4


def test_prices_are_looked_up_and_regions_summed_by_condition():
    seed = next(s for s in range(99) if Habits.of(house(s)).priced)
    books = made("sales", seed, (2022,))
    for _, sheet in sheets(books, "orders"):
        assert all(isinstance(cell, Lookup) for cell in sheet.column("price").cells)
    for _, sheet in sheets(books, "by_product"):
        first = sheet.column("quantity").cells[0]
        assert isinstance(first, TotalWhere) or first.operator == "+"


def test_companies_differ_in_the_columns_of_order_lines():
    columns = {
        tuple(column.id for column in sheet.columns)
        for seed in range(20)
        for _, sheet in sheets(made("sales", seed, (2022,)), "orders")
    }
    assert len(columns) >= 8
