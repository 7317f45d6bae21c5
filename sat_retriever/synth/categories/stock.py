"""Make exchange workbooks: quotes by quarter, a summary of the year, and a watch list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sat_retriever.synth.book.build import added, change, looked_up, summed_by, times, with_chart
from sat_retriever.synth.book.model import Book, Column, Number, Recipe, SheetAt, Total, Value
from sat_retriever.synth.categories.filing import Filed, Filing, Page, changed, either, tabled
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, days, quarters, spoken

ID = "stock"
_BOARDS = ("Main Board", "Growth Board", "Small Cap")
_CALLS = ("Buy", "Hold", "Sell", "Under Review")


@dataclass(frozen=True, slots=True)
class _Stock:
    """One security, equal in all workbooks of the house."""

    code: str
    name: str
    base: float
    waves: tuple[float, float]

    def close(self, house: House, day: date) -> float:
        """Return the closing price of a day: two waves and some noise around its base."""
        t = 2 * math.pi * day.toordinal()
        wave = 0.25 * math.sin(t / 1100 + self.waves[0]) + 0.08 * math.sin(t / 170 + self.waves[1])
        noise = house.chance(ID, "noise", self.code, day).gauss(0, 0.012)
        return round(self.base * math.exp(wave + noise), 2)


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield for each year the quotes of four quarters, their summary and the watch list."""
    filing = Filing.of(house, ID, "each", "each", "kind", "year")
    listed = _listed(house)
    for year in sorted(years):
        yield from filing.bound(_year(filing, listed, When(year)))


def _year(filing: Filing, listed: Sequence[_Stock], when: When) -> Iterator[Filed]:
    quoted = _quoted(filing.house, listed)
    yield from (_quotes(filing, quoted, quarter) for quarter in quarters(when.year))
    yield _summary(filing, quoted, when)
    yield _watch(filing, listed, when)


def _listed(house: House) -> tuple[_Stock, ...]:
    chance = house.chance(ID, "listed")
    count = chance.randint(10, 18)
    words = ("company_first_words", "company_business_words")
    names = map(" ".join, zip(*(house.pool(noun, count) for noun in words), strict=True))
    return tuple(
        _Stock(
            code,
            name,
            round(chance.lognormvariate(3.2, 0.8), 2),
            (chance.uniform(0, 6.28), chance.uniform(0, 6.28)),
        )
        for code, name in zip(house.pool("stock_codes", count), names, strict=True)
    )


def _weekly(house: House) -> bool:
    """True if quotes cover few securities every week, rather than more on some days."""
    return either(house, ID, "weekly", share=0.6)


def _quoted(house: House, listed: Sequence[_Stock]) -> Sequence[_Stock]:
    few = house.chance(ID, "quoted")
    return listed[: few.randint(3, 4) if _weekly(house) else few.randint(6, 8)]


def _newest_first(house: House) -> bool:
    return either(house, ID, "newest first", share=0.4)


def _traded(house: House, when: When) -> tuple[date, ...]:
    """Return the days of a quarter's quotes."""
    every = days(when)
    found = every[4::5] if _weekly(house) else every[-1::-10][::-1]
    return tuple(reversed(found)) if _newest_first(house) else tuple(found)


def _quotes(filing: Filing, quoted: Sequence[_Stock], when: When) -> Filed:
    """Make quotes with a row per day and security."""
    house, chance = filing.house, filing.chance("quotes", when)
    rows = [(day, stock) for day in _traded(house, when) for stock in quoted]
    page = filing.page("daily", when, len(rows))
    before = [stock.close(house, day - timedelta(1)) for day, stock in rows]
    closes = [stock.close(house, day) for day, stock in rows]
    opens = [round(price * chance.uniform(0.99, 1.01), 2) for price in before]
    spans = [(min(pair), max(pair)) for pair in zip(opens, closes, strict=True)]
    highs = [round(top * chance.uniform(1, 1.02), 2) for _, top in spans]
    lows = [round(low * chance.uniform(0.98, 1), 2) for low, _ in spans]
    volumes = [chance.randint(800, 90_000) for _ in rows]
    turnovers = [round(chance.uniform(0.002, 0.06), 4) for _ in rows]
    base = "previous" if filing.has("previous") else "open"
    columns = [
        page.column("date", [day for day, _ in rows], "date"),
        page.column("code", [stock.code for _, stock in rows], key="stock"),
        page.column("stock_name", [stock.name for _, stock in rows]),
        *([page.column("previous", before, "amount")] if base == "previous" else []),
        page.column("open", opens, "amount"),
        page.column("high", highs, "amount"),
        page.column("low", lows, "amount"),
        page.column("close", closes, "amount"),
        page.column("change_rate", change("close", base), "percent"),
        page.column("volume", volumes, "integer"),
        page.column("amount", times(times("volume", "close"), Number(0.1)), "amount"),
        page.column("turnover_rate", turnovers, "percent"),
    ]
    optional = ("stock_name", "change_rate", "turnover_rate")
    prices = ("previous", "open", "high", "low", "close")
    return page.filed(columns, optional, head=2, groups={"group_prices": prices})


def _summary(filing: Filing, quoted: Sequence[_Stock], when: When) -> Filed:
    """Summarize the year's quotes by quarter or by security."""
    by_stock = filing.has("by stock")
    page = filing.page("summary", when, len(quoted) if by_stock else 4, summary=True)
    sources = [page.at("daily", quarter) for quarter in quarters(when.year)]
    if by_stock:
        names, numbers = "code", "total_volume"
        filed = page.filed(_stock_rows(page, quoted, sources), totals=(numbers,))
    else:
        names, numbers = "quarter", "volume"
        optional = ("average_close", "amount", "swing")
        filed = page.filed(_quarter_rows(page, sources, when), optional, totals=(numbers,))
    return changed(filed, with_chart, names, numbers) if filing.has("chart") else filed


def _quarter_rows(page: Page, sources: Sequence[SheetAt], when: When) -> list[Column]:
    return [
        page.column("quarter", [spoken(quarter) for quarter in quarters(when.year)]),
        page.column("high", [Total(at, "high", "MAX") for at in sources], "amount"),
        page.column("low", [Total(at, "low", "MIN") for at in sources], "amount"),
        page.column("average_close", [Total(at, "close", "AVERAGE") for at in sources], "amount"),
        page.column("volume", [Total(at, "volume") for at in sources], "integer"),
        page.column("amount", [Total(at, "amount") for at in sources], "amount"),
        page.column("swing", change("high", "low"), "percent"),
    ]


def _stock_rows(page: Page, quoted: Sequence[_Stock], sources: Sequence[SheetAt]) -> list[Column]:
    ids = [f"{nth}_volume" for nth in ("first", "second", "third", "fourth")]
    return [
        page.column("code", [stock.code for stock in quoted], key="stock"),
        page.column("stock_name", [stock.name for stock in quoted]),
        *(
            page.column(column, summed_by(at, "code", "volume"), "integer")
            for column, at in zip(ids, sources, strict=True)
        ),
        page.column("total_volume", added(*ids), "integer"),
    ]


def _watch(filing: Filing, listed: Sequence[_Stock], when: When) -> Filed:
    """Make the watch list of all securities; quoted ones may look up their latest close."""
    page, house = filing.page("watch", when, len(listed)), filing.house
    chance, of_year = filing.chance("watch"), filing.chance("targets", when)
    last = When(when.year, quarter=4)
    closes: list[Value | Recipe] = [stock.close(house, days(last)[-1]) for stock in listed]
    if _newest_first(house):
        quoted = len(_quoted(house, listed))
        closes[:quoted] = [looked_up(page.at("daily", last), "code", "close")] * quoted
    sectors, people = house.pool("sectors", 6), house.pool("people", 5)
    targets = [round(stock.base * of_year.uniform(0.8, 1.5), 1) for stock in listed]
    columns = [
        page.column("code", [stock.code for stock in listed], key="stock", unique=True),
        page.column("stock_name", [stock.name for stock in listed]),
        page.column("sector", [chance.choice(sectors) for _ in listed]),
        page.column("board", [chance.choice(_BOARDS) for _ in listed]),
        page.column(
            "listed", [date(chance.randint(1985, 2018), 3, 1 + n) for n in range(page.rows)], "date"
        ),
        page.column("analyst", [chance.choice(people) for _ in listed]),
        page.column("last_close", closes, "amount"),
        page.column("target", targets, "amount"),
        page.column("upside", change("target", "last_close"), "percent"),
        page.column("rating", [of_year.choice(_CALLS) for _ in listed]),
    ]
    optional = ("sector", "board", "listed", "analyst", "upside", "rating")
    return changed(page.filed(columns, optional), tabled, "WatchList")
