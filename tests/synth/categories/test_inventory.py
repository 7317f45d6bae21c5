from functools import cache

import pytest

from sat_retriever.synth.book.model import Lookup, Take, Through
from tests.synth.categories.checks import TWO_YEARS, grids, house, made, sheets

SEEDS = range(6)


@cache
def inventory(seed, years=TWO_YEARS):
    """The workbooks of a house and their calculated cells."""
    books = made("inventory", seed, years)
    return books, grids(books)


def by_month(seed, kind, years=TWO_YEARS):
    """Calculated cells of the sheets of a kind by (year, month)."""
    books, cells = inventory(seed, years)
    return {
        (sheet.facts.period.year, sheet.facts.period.part): cells[book.path, sheet.name]
        for book, sheet in sheets(books, kind)
    }


def summed(grid, name):
    """Sum of a column by material."""
    totals = {}
    for code, number in zip(grid["material_code"], grid[name], strict=True):
        totals[code] = totals.get(code, 0) + number
    return totals


@pytest.mark.parametrize("seed", SEEDS)
def test_every_month_has_its_sheets_and_every_year_a_summary(seed):
    books, _ = inventory(seed)
    for kind in ("entry", "exit", "ledger", "stocktake", "annual"):
        assert len(list(sheets(books, kind))) == (2 if kind == "annual" else 24)


def test_houses_of_different_seeds_have_different_names():
    assert house(3).name != house(4).name


@pytest.mark.parametrize("seed", SEEDS)
def test_ledgers_add_up_from_month_to_month_and_year_to_year(seed):
    entries, exits = by_month(seed, "entry"), by_month(seed, "exit")
    before = None
    for when, ledger in sorted(by_month(seed, "ledger").items()):
        came, went = summed(entries[when], "entry_quantity"), summed(exits[when], "exit_quantity")
        for row, code in enumerate(ledger["material_code"]):
            assert ledger["inbound"][row] == came.get(code, 0)
            assert ledger["outbound"][row] == went.get(code, 0)
            change = ledger["inbound"][row] - ledger["outbound"][row]
            assert ledger["closing"][row] == ledger["opening"][row] + change
            assert ledger["closing"][row] > 0
        if before is not None:
            assert ledger["opening"] == before["closing"]
        before = ledger


@pytest.mark.parametrize("seed", SEEDS)
def test_counts_are_near_the_books_and_prices_are_the_register_s(seed):
    books, cells = inventory(seed)
    ((book, sheet),) = sheets(books, "register")
    register = cells[book.path, sheet.name]
    prices = dict(zip(register["material_code"], register["unit_price"], strict=True))
    names = dict(zip(register["material_code"], register["material_name"], strict=True))
    ledgers = by_month(seed, "ledger")
    for when, count in by_month(seed, "stocktake").items():
        ledger = dict(zip(ledgers[when]["material_code"], ledgers[when]["closing"], strict=True))
        for row, code in enumerate(count["material_code"]):
            assert count["book_quantity"][row] == ledger[code]
            assert count["variance"][row] == count["counted"][row] - ledger[code]
            assert abs(count["variance"][row]) <= 5
            assert count["unit_price"][row] == prices[code]
            assert count["material_name"][row] == names[code]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_year_has_what_its_months_have(seed):
    ledgers = [grid for when, grid in sorted(by_month(seed, "ledger").items()) if when[0] == 2023]
    year = by_month(seed, "annual")[2023, 0]
    for name in ("inbound", "outbound"):
        if "month" in year:
            assert list(year[name]) == [sum(ledger[name]) for ledger in ledgers]
        else:
            months = zip(*(ledger[name] for ledger in ledgers), strict=True)
            assert list(year[name]) == [sum(month) for month in months]
    if "month" not in year:
        assert year["opening"] == ledgers[0]["opening"]
        assert year["closing"] == ledgers[-1]["closing"]
    elif "opening" in year:
        assert list(year["opening"]) == [sum(ledger["opening"]) for ledger in ledgers]


def test_the_same_months_are_the_same_whatever_years_are_made():
    alone, both = (by_month(1, "exit", years) for years in ((2023,), TWO_YEARS))
    assert alone.items() <= both.items()


def test_houses_differ_in_filing_columns_and_formulas():
    every = [inventory(seed)[0] for seed in (*SEEDS, 7, 8, 11)]
    openings = {
        type(cell)
        for books in every
        for _, sheet in list(sheets(books, "ledger"))[1:]
        for cell in sheet.column("opening").cells
    }
    layouts = {
        tuple(column.id for column in sheet.columns)
        for books in every
        for _, sheet in sheets(books, "entry")
    }
    summaries = {
        type(cell)
        for books in every
        for _, sheet in sheets(books, "annual")
        for cell in sheet.column("inbound").cells
    }

    assert {3, 9, 27, 99} <= {len(books) for books in every}
    assert openings == {Lookup, Take}
    assert Through in summaries and len(summaries) == 2
    assert len(layouts) >= 8
