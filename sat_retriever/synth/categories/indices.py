"""Make stock index sheets: a register, levels per market and period, and an overview."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sat_retriever.synth.book.model import Book, Sheet, Take, Total
from sat_retriever.synth.categories.filing import Place, Rows, Shelf
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, days, quarters


@dataclass(frozen=True, slots=True)
class _Desk(Shelf):
    """A house's workbooks: one for each market and period, or one for all markets of a period."""

    by_market: bool

    def place(self, kind: str, when: When | None, part: str = "") -> Place:
        """Return workbook and tab; `part` is the market of a sheet of levels."""
        subject = part or self.subject(kind)
        if not self.by_market and kind != "constituents":
            subject = ""
        return Place(self.path(subject, when), self.tab(kind, part="" if self.by_market else part))


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the register, then for each period the levels of every market and the overview.

    A period is a quarter with every workday, or a year by fortnights.
    """
    by_market = house.chance("habit", "indices", "by market").random() < 0.5
    desk = _Desk(house, "indices", by_market)
    markets, chance = _markets(house), desk.chance("register")
    page = desk.page("constituents")
    since = (date(chance.randint(1950, 2012), 1, 2) for _ in markets)
    register = page.sheet(page.columns(markets, {"since": since}, chance=chance))
    yield desk.book(desk.subject("constituents"), None, [register])
    quarterly = desk.has("quarterly")
    for year in sorted(years):
        for when in quarters(year) if quarterly else (When(year),):
            every = days(when)
            sessions = every[:60] if quarterly else every[9::10]
            levels = [_levels(desk, market, when, sessions) for market in markets]
            overview = _overview(desk, markets, when, len(sessions) - 1)
            if by_market:
                for market, sheet in zip(markets, levels, strict=True):
                    yield desk.book(market["market"], when, [sheet])
                yield desk.book(desk.subject("overview"), when, [overview])
            else:
                yield desk.book("", when, [*levels, overview])


def _markets(house: House) -> Rows:
    """Draw the indices, equal in all workbooks of the house, in the order of its tabs."""
    chance = house.chance("indices", "desk")
    count = chance.randint(6, 9)
    countries = house.vocabulary.lists["countries"]
    rows = []
    for ticker, name in zip(
        house.pool("index_codes", count), house.pool("indices", count), strict=True
    ):
        alike = (c for c in countries if c[:5].casefold() == name[:5].casefold())
        country = next(alike, countries[0])
        rows.append(
            {
                "ticker": ticker,
                "market": name,
                "country": country,
                "currency": f"{country[:2].upper()}{chance.choice('DFKP')}",
                "base": round(chance.lognormvariate(8, 0.9), 2),
                "phase": chance.uniform(0, 6.28),
            }
        )
    return rows


def _close(house: House, market: dict[str, Any], day: date) -> float:
    """Return the level at the close of a day: growth, a wave and some noise."""
    t = day.toordinal() - date(2015, 1, 1).toordinal()
    wave = 0.0001 * t + 0.18 * math.sin(2 * math.pi * t / 1300 + market["phase"])
    noise = house.chance("indices", "noise", market["ticker"], day).gauss(0, 0.008)
    return float(round(market["base"] * math.exp(wave + noise), 2))


def _levels(desk: _Desk, market: dict[str, Any], when: When, sessions: Sequence[date]) -> Sheet:
    page = desk.page("levels", when, market["market"])
    chance = desk.chance("levels", market["ticker"], when)
    rows = [market | {"date": day, "close": _close(desk.house, market, day)} for day in sessions]
    opens = [round(row["close"] * chance.uniform(0.99, 1.01), 2) for row in rows]
    pairs = [(row["close"], start) for row, start in zip(rows, opens, strict=True)]
    given: dict[str, Any] = {
        "open": opens,
        "high": [round(max(pair) * chance.uniform(1, 1.01), 2) for pair in pairs],
        "low": [round(min(pair) * chance.uniform(0.99, 1), 2) for pair in pairs],
    }
    if not desk.has("adjusted"):
        given["adj_close"] = None
    return page.sheet(page.columns(rows, given, chance=chance))


def _overview(desk: _Desk, markets: Rows, when: When, last: int) -> Sheet:
    page = desk.page("overview", when)
    sources = [page.at("levels", part=market["market"]) for market in markets]
    given = {
        "first_close": [Take(at, "close", 0) for at in sources],
        "last_close": [Take(at, "close", last) for at in sources],
        "year_high": [Total(at, "high", "MAX") for at in sources],
        "year_low": [Total(at, "low", "MIN") for at in sources],
        "average_close": [Total(at, "close", "AVERAGE") for at in sources],
        "days": [Total(at, "close", "COUNT") for at in sources],
    }
    typed = () if desk.has("look up") else ("market", "country", "currency")
    return page.sheet(page.columns(markets, given, typed=typed))
