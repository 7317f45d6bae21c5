from functools import cache

import pytest

from sat_retriever.synth.book.model import Lookup
from tests.synth.categories.checks import SEEDS, TWO_YEARS, grids, made, sheets


@cache
def indices(seed):
    """The workbooks of a house and their calculated cells."""
    books = made("indices", seed, TWO_YEARS)
    return books, grids(books)


def cells_of(seed, kind):
    """(period, calculated cells) of the sheets of a kind."""
    books, cells = indices(seed)
    return [
        (sheet.facts.period, cells[book.path, sheet.name]) for book, sheet in sheets(books, kind)
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_period_has_the_levels_of_every_market(seed):
    ((period, register),) = cells_of(seed, "constituents")
    assert period is None
    overviews = cells_of(seed, "overview")
    assert len(cells_of(seed, "levels")) == len(overviews) * len(register["ticker"])
    assert {period.year for period, _ in overviews} == set(TWO_YEARS)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_overview_has_every_market_as_its_own_sheet_has_it(seed):
    levels = {
        (period.year, period.part, cells["ticker"][0]): cells
        for period, cells in cells_of(seed, "levels")
    }
    ((_, register),) = cells_of(seed, "constituents")
    names = dict(zip(register["ticker"], register["market"], strict=True))
    for period, overview in cells_of(seed, "overview"):
        assert overview["ticker"] == register["ticker"]
        for row, ticker in enumerate(overview["ticker"]):
            own = levels[period.year, period.part, ticker]
            assert set(own["ticker"]) == {ticker}
            assert overview["market"][row] == names[ticker]
            assert overview["first_close"][row] == own["close"][0]
            assert overview["last_close"][row] == own["close"][-1]
            if "year_high" in overview:
                assert overview["year_high"][row] == max(own["high"])
            if "days" in overview:
                assert overview["days"][row] == len(own["close"])


def test_each_market_is_a_family_of_its_own():
    books, _ = indices(0)
    families = {sheet.facts.period.family for _, sheet in sheets(books, "levels")}
    ((_, register),) = cells_of(0, "constituents")
    assert len(families) == len(register["ticker"])


def test_houses_differ_in_filing_rows_and_formulas():
    every = [indices(seed)[0] for seed in range(12)]
    markets_a_book = {
        len([sheet for sheet in book.sheets if sheet.facts.schema.split("/")[1] == "levels"])
        for books in every
        for book in books
    }
    rows = {sheet.num_rows for books in every for _, sheet in sheets(books, "levels")}
    looked_up = {
        isinstance(sheet.column("market").cells[0], Lookup)
        for books in every
        for _, sheet in sheets(books, "overview")
    }

    assert 1 in markets_a_book and max(markets_a_book) >= 4
    assert min(rows) < 30 and max(rows) == 60
    assert looked_up == {True, False}
