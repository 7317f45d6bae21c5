"""Make stock index sheets: a register, levels per market and period, and an overview."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from sat_retriever.synth.book.build import Kind, book, change, looked_up, with_chart
from sat_retriever.synth.book.model import Book, Column, Recipe, Sheet, Take, Total, Value
from sat_retriever.synth.categories.filing import Place, arranged, either, grouped, tabled
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, days, quarters

ID = "indices"
_PROVIDERS = ("Exchange", "Index Committee", "Licensed Vendor")


@dataclass(frozen=True, slots=True)
class _Index:
    """The index of one market, equal in all workbooks of the house."""

    ticker: str
    name: str
    country: str
    currency: str
    base: float
    phase: float

    def close(self, house: House, day: date) -> float:
        """Return the level at the close of a day: growth, a wave and some noise."""
        t = day.toordinal() - date(2015, 1, 1).toordinal()
        wave = 0.0001 * t + 0.18 * math.sin(2 * math.pi * t / 1300 + self.phase)
        noise = house.chance(ID, "noise", self.ticker, day).gauss(0, 0.008)
        return round(self.base * math.exp(wave + noise), 2)


@dataclass(frozen=True, slots=True)
class _Desk:
    """The indices of a house, and their distribution over workbooks.

    Attributes:
        markets: The indices, in the order of its tabs.
        by_market: True if each market has a workbook of its own.
        quarterly: True if a period is a quarter with every workday, else a year by fortnights.
    """

    house: House
    markets: tuple[_Index, ...]
    by_market: bool
    quarterly: bool

    def kind(self, kind: str) -> Kind:
        return Kind(self.house, ID, kind)

    def levels(self, market: _Index, when: When) -> Place:
        """Return workbook and tab for the levels of a market."""
        subject = market.name if self.by_market else ""
        tab = self.kind("levels").tab(part="" if self.by_market else market.name)
        return Place(self.house.path(ID, subject, when), tab)

    def overview(self, when: When) -> Place:
        """Return workbook and tab for the overview of a period."""
        subject = self.kind("overview").subject() if self.by_market else ""
        return Place(self.house.path(ID, subject, when), self.kind("overview").tab())

    def register(self) -> Place:
        path = self.house.path(ID, self.kind("constituents").subject(), None)
        return Place(path, self.kind("constituents").tab())


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the register, then for each period the levels of every market and the overview."""
    desk = _desk(house)
    yield book(house, ID, desk.kind("constituents").subject(), None, [_register(desk)])
    for year in sorted(years):
        for when in quarters(year) if desk.quarterly else (When(year),):
            yield from _period(desk, when)


def _period(desk: _Desk, when: When) -> Iterator[Book]:
    levels = [_levels(desk, market, when) for market in desk.markets]
    if not desk.by_market:
        yield book(desk.house, ID, "", when, [*levels, _overview(desk, when)])
        return
    for market, sheet in zip(desk.markets, levels, strict=True):
        yield book(desk.house, ID, market.name, when, [sheet])
    yield book(desk.house, ID, desk.kind("overview").subject(), when, [_overview(desk, when)])


def _desk(house: House) -> _Desk:
    chance = house.chance(ID, "desk")
    count = chance.randint(6, 9)
    countries = house.vocabulary.lists["countries"]
    names, tickers = house.pool("indices", count), house.pool("index_codes", count)
    markets = tuple(
        _Index(
            ticker,
            name,
            country := _country(name, countries),
            f"{country[:2].upper()}{chance.choice('DFKP')}",
            round(chance.lognormvariate(8, 0.9), 2),
            chance.uniform(0, 6.28),
        )
        for ticker, name in zip(tickers, names, strict=True)
    )
    return _Desk(house, markets, either(house, ID, "by market"), either(house, ID, "quarterly"))


def _country(index: str, countries: Sequence[str]) -> str:
    """Return the country whose name begins like the index's; the first if there is none."""
    return next((c for c in countries if c[:5].casefold() == index[:5].casefold()), countries[0])


def _register(desk: _Desk) -> Sheet:
    kind, chance = desk.kind("constituents"), desk.house.chance(ID, "register")
    markets = desk.markets
    columns = [
        kind.column("ticker", [m.ticker for m in markets], key="index", unique=True),
        kind.column("market", [m.name for m in markets]),
        kind.column("country", [m.country for m in markets]),
        kind.column("currency", [m.currency for m in markets]),
        kind.column("provider", [chance.choice(_PROVIDERS) for _ in markets]),
        kind.column("members", [10 * chance.randint(3, 60) for _ in markets], "integer"),
        kind.column("since", [date(chance.randint(1950, 2012), 1, 2) for _ in markets], "date"),
    ]
    sheet = kind.sheet(arranged(kind, columns, ("provider", "members", "since")))
    return tabled(sheet, "Indices")


def _sessions(desk: _Desk, when: When) -> tuple[date, ...]:
    """Return the days of a market's sheet: the first 60 workdays of a quarter, or fortnights."""
    every = days(when)
    return every[:60] if desk.quarterly else every[9::10]


def _levels(desk: _Desk, market: _Index, when: When) -> Sheet:
    kind, house = desk.kind("levels"), desk.house
    chance = house.chance(ID, "levels", market.ticker, when)
    sessions = _sessions(desk, when)
    closes = [market.close(house, day) for day in sessions]
    opens = [round(close * chance.uniform(0.99, 1.01), 2) for close in closes]
    pairs = list(zip(opens, closes, strict=True))
    adjusted = either(house, ID, "adjusted")
    highs = [round(max(pair) * chance.uniform(1, 1.01), 2) for pair in pairs]
    lows = [round(min(pair) * chance.uniform(0.99, 1), 2) for pair in pairs]
    columns: Sequence[Column] = [
        kind.column("ticker", [market.ticker] * len(closes), key="index"),
        kind.column("date", sessions, "date"),
        kind.column("open", opens, "amount"),
        kind.column("high", highs, "amount"),
        kind.column("low", lows, "amount"),
        kind.column("close", closes, "amount"),
        *([kind.column("adj_close", closes, "amount")] if adjusted else []),
        kind.column("volume", [chance.randint(90, 4000) for _ in closes], "integer"),
        kind.column("change_rate", [change("close", "open")] * len(closes), "percent"),
    ]
    columns = arranged(kind, columns, ("volume", "change_rate"))
    columns = grouped(kind, columns, "group_levels", "open", "high", "low", "close")
    place = desk.levels(market, when)
    return kind.sheet(columns, when, market.name, name=place.sheet)


def _overview(desk: _Desk, when: When) -> Sheet:
    """Make the overview: a row per market, with cells taken from the market's sheet."""
    kind, own, markets = desk.kind("overview"), desk.overview(when), desk.markets
    sources = [desk.levels(market, when).at(own) for market in markets]
    last = len(_sessions(desk, when)) - 1
    growth = change("last_close", "first_close")
    columns = [
        kind.column("ticker", [m.ticker for m in markets], key="index"),
        *(kind.column(c, _described(desk, c, own)) for c in ("market", "country", "currency")),
        kind.column("first_close", [Take(at, "close", 0) for at in sources], "amount"),
        kind.column("last_close", [Take(at, "close", last) for at in sources], "amount"),
        kind.column("change_rate", [growth] * len(markets), "percent"),
        kind.column("year_high", [Total(at, "high", "MAX") for at in sources], "amount"),
        kind.column("year_low", [Total(at, "low", "MIN") for at in sources], "amount"),
        kind.column("average_close", [Total(at, "close", "AVERAGE") for at in sources], "amount"),
        kind.column("days", [Total(at, "close", "COUNT") for at in sources], "integer"),
    ]
    highs_and_lows = ("year_high", "year_low", "average_close", "days")
    optional = ("country", "currency", "change_rate", *highs_and_lows)
    sheet = kind.sheet(arranged(kind, columns, optional), when, name=own.sheet, summary=True)
    if either(desk.house, ID, "chart"):
        return with_chart(sheet, "market", "last_close")
    return sheet


def _described(desk: _Desk, column: str, own: Place) -> list[Value | Recipe]:
    """Return names, countries or currencies, looked up in the register if the house does so."""
    if either(desk.house, ID, "look up"):
        return [looked_up(desk.register().at(own), "ticker", column)] * len(desk.markets)
    texts = {"market": "name", "country": "country", "currency": "currency"}
    return [getattr(market, texts[column]) for market in desk.markets]
