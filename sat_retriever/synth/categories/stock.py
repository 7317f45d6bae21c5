"""Make exchange workbooks: quotes by quarter, a summary of the year, and a watch list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from sat_retriever.synth.book.build import with_totals
from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Column,
    Combine,
    Lookup,
    Number,
    Own,
    Recipe,
    SheetAt,
    Total,
    TotalWhere,
    Value,
)
from sat_retriever.synth.categories.filing import (
    Filed,
    Filing,
    Mode,
    Place,
    arranged,
    either,
    grouped,
    noted,
    tabled,
)
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, days, quarters, spoken

ID = "stock"
_MODES: tuple[Mode, ...] = ("each", "each", "kind", "year")
_BOARDS = ("Main Board", "Growth Board", "Small Cap")
_CALLS = ("Buy", "Hold", "Sell", "Under Review")
_NTH = ("first", "second", "third", "fourth")


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
    filing = Filing(house, ID, house.chance(ID, "filing").choice(_MODES))
    listed = _listed(house)
    for year in sorted(years):
        yield from filing.bound(_year(filing, listed, When(year)))


def _year(filing: Filing, listed: Sequence[_Stock], when: When) -> Iterator[Filed]:
    quoted = _quoted(filing.house, listed)
    yield from (_quotes(filing, quoted, quarter) for quarter in quarters(when.year))
    yield _summary(filing, quoted, when)
    yield _watch(filing, listed, when)


def _listed(house: House) -> tuple[_Stock, ...]:
    """Draw the 10 to 18 listed securities of the exchange."""
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
    kind, house = filing.kind("daily"), filing.house
    chance = house.chance(ID, "quotes", when)
    rows = [(day, stock) for day in _traded(house, when) for stock in quoted]
    count = len(rows)
    before = [stock.close(house, day - timedelta(1)) for day, stock in rows]
    closes = [stock.close(house, day) for day, stock in rows]
    opens = [round(price * chance.uniform(0.99, 1.01), 2) for price in before]
    spans = [(min(pair), max(pair)) for pair in zip(opens, closes, strict=True)]
    base = "previous" if either(house, ID, "previous") else "open"
    change = Combine("/", Combine("-", Own("close"), Own(base)), Own(base))
    amount = Combine("*", Combine("*", Own("volume"), Own("close")), Number(0.1))
    columns: Sequence[Column] = [
        kind.column("date", [day for day, _ in rows], "date"),
        kind.column("code", [stock.code for _, stock in rows], key="stock"),
        kind.column("stock_name", [stock.name for _, stock in rows]),
        *([kind.column("previous", before, "amount")] if base == "previous" else []),
        kind.column("open", opens, "amount"),
        kind.column(
            "high", [round(top * chance.uniform(1, 1.02), 2) for _, top in spans], "amount"
        ),
        kind.column("low", [round(low * chance.uniform(0.98, 1), 2) for low, _ in spans], "amount"),
        kind.column("close", closes, "amount"),
        kind.column("change_rate", [change] * count, "percent"),
        kind.column("volume", [chance.randint(800, 90_000) for _ in rows], "integer"),
        kind.column("amount", [amount] * count, "amount"),
        kind.column(
            "turnover_rate", [round(chance.uniform(0.002, 0.06), 4) for _ in rows], "percent"
        ),
    ]
    columns = arranged(kind, columns, ("stock_name", "change_rate", "turnover_rate"), head=2)
    prices = ("previous", "open", "high", "low", "close")
    return filing.sheet("daily", when, grouped(kind, columns, "group_prices", *prices))


def _summary(filing: Filing, quoted: Sequence[_Stock], when: When) -> Filed:
    """Summarize the year's quotes by quarter or by security."""
    by_stock = either(filing.house, ID, "by stock")
    columns = (_by_stock if by_stock else _by_quarter)(filing, quoted, when)
    filed = filing.sheet("summary", when, columns, summary=True)
    names, numbers = ("code", "total_volume") if by_stock else ("quarter", "volume")
    if either(filing.house, ID, "chart"):
        charts = (Chart(SheetAt(filed[2].name), names, numbers),)
        filed = noted(filed, lambda sheet: replace(sheet, charts=charts))
    return noted(filed, lambda sheet: with_totals(sheet, numbers))


def _sources(filing: Filing, own: Place, when: When) -> list[SheetAt]:
    return [filing.place("daily", quarter).at(own) for quarter in quarters(when.year)]


def _by_quarter(filing: Filing, _: Sequence[_Stock], when: When) -> tuple[Column, ...]:
    kind, sources = filing.kind("summary"), _sources(filing, filing.place("summary", when), when)
    swing = Combine("/", Combine("-", Own("high"), Own("low")), Own("low"))
    columns = [
        kind.column("quarter", [spoken(quarter) for quarter in quarters(when.year)]),
        kind.column("high", [Total(at, "high", "MAX") for at in sources], "amount"),
        kind.column("low", [Total(at, "low", "MIN") for at in sources], "amount"),
        kind.column("average_close", [Total(at, "close", "AVERAGE") for at in sources], "amount"),
        kind.column("volume", [Total(at, "volume") for at in sources], "integer"),
        kind.column("amount", [Total(at, "amount") for at in sources], "amount"),
        kind.column("swing", [swing] * len(sources), "percent"),
    ]
    return arranged(kind, columns, ("average_close", "amount", "swing"))


def _by_stock(filing: Filing, quoted: Sequence[_Stock], when: When) -> tuple[Column, ...]:
    kind, sources = filing.kind("summary"), _sources(filing, filing.place("summary", when), when)
    count = len(quoted)
    volumes = [
        kind.column(f"{nth}_volume", [TotalWhere(at, "volume", "code", "code")] * count, "integer")
        for nth, at in zip(_NTH, sources, strict=True)
    ]
    total: Recipe = Own("first_volume")
    for nth in _NTH[1:]:
        total = Combine("+", total, Own(f"{nth}_volume"))
    columns = [
        kind.column("code", [stock.code for stock in quoted], key="stock"),
        kind.column("stock_name", [stock.name for stock in quoted]),
        *volumes,
        kind.column("total_volume", [total] * count, "integer"),
    ]
    return tuple(columns)


def _watch(filing: Filing, listed: Sequence[_Stock], when: When) -> Filed:
    """Make the watch list of all securities; quoted ones may look up their latest close."""
    kind, house = filing.kind("watch"), filing.house
    chance, count = house.chance(ID, "watch"), len(listed)
    last = When(when.year, quarter=4)
    quotes = filing.place("daily", last).at(filing.place("watch", when))
    closes: list[Value | Recipe] = [stock.close(house, days(last)[-1]) for stock in listed]
    if _newest_first(house):
        quoted = len(_quoted(house, listed))
        closes[:quoted] = [Lookup(quotes, "code", "code", "close")] * quoted
    upside = Combine("/", Combine("-", Own("target"), Own("last_close")), Own("last_close"))
    sectors, people = house.pool("sectors", 6), house.pool("people", 5)
    of_year = house.chance(ID, "targets", when)
    columns = [
        kind.column("code", [stock.code for stock in listed], key="stock", unique=True),
        kind.column("stock_name", [stock.name for stock in listed]),
        kind.column("sector", [chance.choice(sectors) for _ in listed]),
        kind.column("board", [chance.choice(_BOARDS) for _ in listed]),
        kind.column(
            "listed", [date(chance.randint(1985, 2018), 3, 1 + n) for n in range(count)], "date"
        ),
        kind.column("analyst", [chance.choice(people) for _ in listed]),
        kind.column("last_close", closes, "amount"),
        kind.column(
            "target", [round(s.base * of_year.uniform(0.8, 1.5), 1) for s in listed], "amount"
        ),
        kind.column("upside", [upside] * count, "percent"),
        kind.column("rating", [of_year.choice(_CALLS) for _ in listed]),
    ]
    optional = ("sector", "board", "listed", "analyst", "upside", "rating")
    filed = filing.sheet("watch", when, arranged(kind, columns, optional))
    return noted(filed, lambda sheet: tabled(sheet, "WatchList"))
