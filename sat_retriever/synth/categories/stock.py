"""Make exchange workbooks: quotes by quarter, a summary of the year, and a watch list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from sat_retriever.synth.book.model import Book, Total
from sat_retriever.synth.categories.filing import Filed, Filing, Rows
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, days, quarters, spoken

_CALLS = ("Buy", "Hold", "Sell", "Under Review")
_VOLUMES = ("first_volume", "second_volume", "third_volume", "fourth_volume")


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield for each year the quotes of four quarters, their summary and the watch list."""
    filing = Filing.of(house, "stock", "each", "each", "kind", "year")
    listed, few = _listed(house), house.chance("stock", "quoted")
    quoted = listed[: few.randint(3, 4) if _weekly(filing) else few.randint(6, 8)]
    for year in sorted(years):
        sheets = [_quotes(filing, quoted, quarter) for quarter in quarters(year)]
        sheets += [_summary(filing, quoted, When(year)), _watch(filing, listed, quoted, When(year))]
        yield from filing.bound(sheets)


def _listed(house: House) -> Rows:
    chance = house.chance("stock", "listed")
    count = chance.randint(10, 18)
    words = ("company_first_words", "company_business_words")
    names = map(" ".join, zip(*(house.pool(noun, count) for noun in words), strict=True))
    return [
        {
            "code": code,
            "stock_name": name,
            "base": round(chance.lognormvariate(3.2, 0.8), 2),
            "waves": (chance.uniform(0, 6.28), chance.uniform(0, 6.28)),
        }
        for code, name in zip(house.pool("stock_codes", count), names, strict=True)
    ]


def _close(house: House, stock: dict[str, Any], day: date) -> float:
    """Return the closing price of a day: two waves and some noise around its base."""
    t, (long, short) = 2 * math.pi * day.toordinal(), stock["waves"]
    wave = 0.25 * math.sin(t / 1100 + long) + 0.08 * math.sin(t / 170 + short)
    noise = house.chance("stock", "noise", stock["code"], day).gauss(0, 0.012)
    return float(round(stock["base"] * math.exp(wave + noise), 2))


def _weekly(filing: Filing) -> bool:
    """True if quotes cover few securities every week, rather than more on some days."""
    return filing.has("weekly", share=0.6)


def _newest_first(filing: Filing) -> bool:
    return filing.has("newest first", share=0.4)


def _quotes(filing: Filing, quoted: Rows, when: When) -> Filed:
    house, chance, every = filing.house, filing.chance("quotes", when), days(when)
    traded = every[4::5] if _weekly(filing) else every[-1::-10][::-1]
    if _newest_first(filing):
        traded = traded[::-1]
    rows = [stock | {"date": day} for day in traded for stock in quoted]
    before = [_close(house, row, row["date"] - timedelta(1)) for row in rows]
    closes = [_close(house, row, row["date"]) for row in rows]
    opens = [round(price * chance.uniform(0.99, 1.01), 2) for price in before]
    spans = [(min(pair), max(pair)) for pair in zip(opens, closes, strict=True)]
    given: dict[str, Any] = {
        "previous": None,
        "open": opens,
        "high": [round(top * chance.uniform(1, 1.02), 2) for _, top in spans],
        "low": [round(low * chance.uniform(0.98, 1), 2) for low, _ in spans],
        "close": closes,
    }
    page = filing.page("daily", when)
    if filing.has("previous"):
        growth = page.formula("(close - previous) / previous")
        given |= {"previous": before, "change_rate": growth}
    return page.filed(rows, given, chance=chance)


def _summary(filing: Filing, quoted: Rows, when: When) -> Filed:
    by_stock, every = filing.has("by stock"), quarters(when.year)
    page = filing.page("summary", when, form="stocks" if by_stock else "quarters")
    if by_stock:
        sums = [page.formula("sumif(daily.volume, code)", quarter) for quarter in every]
        return page.filed(quoted, dict(zip(_VOLUMES, sums, strict=True)))
    sources = [page.at("daily", quarter) for quarter in every]
    return page.filed(
        [{"quarter": spoken(quarter)} for quarter in every],
        {
            "high": [Total(at, "high", "MAX") for at in sources],
            "low": [Total(at, "low", "MIN") for at in sources],
            "average_close": [Total(at, "close", "AVERAGE") for at in sources],
            "volume": [Total(at, "volume") for at in sources],
            "amount": [Total(at, "amount") for at in sources],
        },
    )


def _watch(filing: Filing, listed: Rows, quoted: Rows, when: When) -> Filed:
    """Make the watch list of all securities; quoted ones may look up their latest close."""
    page, chance = filing.page("watch", when), filing.chance("watch")
    of_year = filing.chance("targets", when)
    last = When(when.year, quarter=4)
    closes: list[Any] = [_close(filing.house, stock, days(last)[-1]) for stock in listed]
    if _newest_first(filing):
        closes[: len(quoted)] = [page.formula("lookup(daily.close, code)", last)] * len(quoted)
    given = {
        "listed": (date(chance.randint(1985, 2018), 3, 1 + n) for n in range(len(listed))),
        "last_close": closes,
        "target": [round(stock["base"] * of_year.uniform(0.8, 1.5), 1) for stock in listed],
        "rating": [of_year.choice(_CALLS) for _ in listed],
    }
    return page.filed(listed, given, chance=chance)
