from functools import cache

import pytest

from sat_retriever.synth.book.model import Lookup
from tests.synth.categories.checks import SEEDS, TWO_YEARS, grids, made, sheets


@cache
def stock(seed):
    """The workbooks of a house and their calculated cells."""
    books = made("stock", seed, TWO_YEARS)
    return books, grids(books)


def by_period(seed, kind):
    """Calculated cells of the sheets of a kind by (year, quarter or 0)."""
    books, cells = stock(seed)
    return {
        (sheet.facts.period.year, sheet.facts.period.part): cells[book.path, sheet.name]
        for book, sheet in sheets(books, kind)
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_every_quarter_has_its_quotes(seed):
    assert len(by_period(seed, "daily")) == 8


@pytest.mark.parametrize("seed", SEEDS)
def test_prices_of_a_day_lie_between_its_low_and_its_high(seed):
    for quotes in by_period(seed, "daily").values():
        for row, close in enumerate(quotes["close"]):
            low, high = quotes["low"][row], quotes["high"][row]
            assert 0 < low <= min(close, quotes["open"][row])
            assert max(close, quotes["open"][row]) <= high
            lots = quotes["volume"][row]
            assert quotes["amount"][row] == pytest.approx(lots * close / 10)
            if "previous" in quotes:
                assert 0.8 < close / quotes["previous"][row] < 1.25


@pytest.mark.parametrize("seed", SEEDS)
def test_the_summary_has_the_quarters_extremes_and_volumes(seed):
    quotes = by_period(seed, "daily")
    for (year, _), summary in by_period(seed, "summary").items():
        every = [quotes[year, quarter] for quarter in range(1, 5)]
        if "quarter" in summary:
            assert list(summary["high"]) == [max(quarter["high"]) for quarter in every]
            assert list(summary["low"]) == [min(quarter["low"]) for quarter in every]
            assert list(summary["volume"]) == [sum(quarter["volume"]) for quarter in every]
        else:
            total = sum(sum(quarter["volume"]) for quarter in every)
            assert sum(summary["total_volume"]) == total
            assert set(summary["code"]) == set(every[0]["code"])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_watch_list_has_every_quoted_security_at_its_last_price(seed):
    quotes = by_period(seed, "daily")
    for (year, _), watch in by_period(seed, "watch").items():
        last = quotes[year, 4]
        closes = dict(zip(watch["code"], watch["last_close"], strict=True))
        names = dict(zip(watch["code"], watch["stock_name"], strict=True))
        latest = max(last["date"])
        for row, code in enumerate(last["code"]):
            if last["date"][row] == latest:
                assert closes[code] == last["close"][row]
            if "stock_name" in last:
                assert names[code] == last["stock_name"][row]


def test_houses_differ_in_filing_rows_and_formulas():
    every = [stock(seed)[0] for seed in range(14)]
    rows = {sheet.num_rows for books in every for _, sheet in sheets(books, "daily")}
    looked_up = {
        isinstance(sheet.column("last_close").cells[0], Lookup)
        for books in every
        for _, sheet in sheets(books, "watch")
    }
    first = {sheet.columns[0].id for books in every for _, sheet in list(sheets(books, "summary"))}

    assert len({len(books) for books in every}) >= 3
    assert min(rows) >= 36 and max(rows) <= 60 and len(rows) >= 4
    assert looked_up == {True, False}
    assert first == {"quarter", "code"}
