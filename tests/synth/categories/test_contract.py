"""The contract of all categories: whole sheets, references that exist, equal seeds, any years."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from sat_retriever.synth.categories import CATEGORIES
from tests.synth.categories.checks import (
    SEEDS,
    TWO_YEARS,
    YEARS,
    check_periods,
    check_references,
    check_sheets,
    grids,
    made,
)
from tests.synth.categories.read_back import check_read_back

GAPS = (2024, 2019, 2021, 2022)


@dataclass(frozen=True)
class Contract:
    """Kinds with a sheet in every year, and the fewest references to other workbooks."""

    kinds: tuple[str, ...]
    years: tuple[int, ...] = TWO_YEARS
    least_across: int = 0


CONTRACTS = {
    "financial": Contract(
        ("income_statement", "balance_sheet", "cash_flow", "key_figures"), YEARS, len(YEARS)
    ),  # the overview at least
    "budget": Contract(("annual", "summary", "quarterly"), YEARS, len(YEARS)),  # the roll-up
    "sales": Contract(("orders", "prices", "annual", "annual_regions", "targets"), YEARS),
    "inventory": Contract(
        ("entry", "exit", "ledger", "stocktake", "annual"), least_across=1
    ),  # last December's ledger at least
    "hr": Contract(("roster", "payroll", "attendance", "training", "leave", "headcount"), YEARS),
    "projects": Contract(("budget", "progress", "registry", "milestones"), YEARS),
    "stock": Contract(("daily", "summary", "watch")),
    "indices": Contract(()),  # its sheets of levels are one family a market
    "institutions": Contract(("hierarchy", "indicators")),
    "ratings": Contract(("ratings", "averages")),
    "sentiment": Contract(("train", "test", "summary")),
}


def test_every_category_has_a_contract():
    assert set(CONTRACTS) == set(CATEGORIES)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CONTRACTS)
def test_sheets_are_whole_and_take_only_from_what_is_there(name, seed):
    contract = CONTRACTS[name]
    books = made(name, seed, contract.years)

    check_sheets(books)
    assert check_references(books) >= contract.least_across
    for kind in contract.kinds:
        check_periods(books, kind, contract.years)


@pytest.mark.parametrize("name", CONTRACTS)
def test_equal_seeds_give_equal_books_and_others_do_not(name):
    years = CONTRACTS[name].years
    books = made(name, 3, years)

    assert made(name, 3, years) == books
    assert made(name, 4, years) != books


@pytest.mark.parametrize("name", CATEGORIES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nothing_is_taken_from_a_year_that_was_left_out(name, seed):
    books = made(name, seed, GAPS)
    check_references(books)
    grids(books)  # calculates every cell


@pytest.mark.parametrize(
    ("name", "seed"),
    [(name, seed) for name, seeds in {
        "financial": (1, 5, 13), "budget": (0, 4, 14), "sales": (1, 3)
    }.items() for seed in seeds],
)  # fmt: skip
def test_an_index_finds_what_was_meant(tmp_path, name, seed):
    check_read_back(made(name, seed, (2022, 2023)), tmp_path)
