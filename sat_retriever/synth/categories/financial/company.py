"""One company's accounting habits, and the places of its statements."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sat_retriever.synth.book.build import walk
from sat_retriever.synth.book.model import SheetAt
from sat_retriever.synth.categories import company
from sat_retriever.synth.categories.company import drawn, one_of, share
from sat_retriever.synth.categories.financial.lines import (
    BALANCE_LONG,
    BALANCE_SHORT,
    CASH,
    INCOME_LONG,
    INCOME_SHORT,
    Line,
    amount,
)
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

ASSETS = ("buildings", "machinery", "vehicles", "equipment")
Figures = Mapping[str, int]

_INCOME = {  # share of revenue: least, greatest
    "materials": (0.34, 0.46),
    "wages": (0.14, 0.22),
    "other_production": (0.04, 0.10),
    "distribution": (0.04, 0.09),
    "administration": (0.04, 0.08),
    "research": (0.01, 0.05),
    "other_income": (0.003, 0.012),
    "goods": (0.55, 0.8),
}
_BALANCE = {  # share of revenue
    "raw_materials": (0.03, 0.07),
    "finished_goods": (0.03, 0.08),
    "receivables": (0.08, 0.16),
    "prepayments": (0.005, 0.02),
    "other_receivables": (0.01, 0.03),
    "payables": (0.05, 0.11),
    "accrued": (0.02, 0.05),
    "provisions": (0.02, 0.05),
}
_NON_CASH = (
    "raw_materials finished_goods receivables prepayments other_receivables intangible "
    "investments ppe".split()
)
_FUNDS = (
    "payables accrued tax_payable provisions short_debt long_debt capital reserves retained".split()
)


def ledger(house: House, years: Sequence[int]) -> Mapping[int, Figures]:
    """Draw whole amounts by year and name, beginning two years before the first year.

    In every year assets equal liabilities and equity, the change in cash is the sum of the
    cash flows, and retained earnings grow by the net profit less the dividends.
    """
    chance = house.chance("financial", "ledger")
    first, last = min(years) - 2, max(years)
    count = last - first + 1
    start = round(chance.uniform(8_000, 120_000) * chance.choice((1, 1, 5)))
    revenues = walk(chance, start, count, chance.uniform(-0.01, 0.09), 0.06)
    shares = {name: chance.uniform(*ends) for name, ends in sorted((_INCOME | _BALANCE).items())}
    books: dict[int, Figures] = {}
    for year, revenue in zip(range(first, last + 1), revenues, strict=True):
        books[year] = _year(chance, round(revenue), shares, books.get(year - 1))
    return books


def _year(
    chance: random.Random, revenue: int, shares: Mapping[str, float], last: Figures | None
) -> Figures:
    """Draw one year, from the year before if there is one."""
    now = {
        name: round(revenue * share * max(1 + chance.gauss(0, 0.04), 0.5))
        for name, share in shares.items()
    }
    now["services"] = revenue - now["goods"]
    now["revenue"] = revenue
    _draw_assets(chance, now, last or _opening_assets(chance, revenue))
    debt = (last or {}).get("long_debt", round(revenue * 0.2)) + (last or {}).get("short_debt", 0)
    now["interest"] = round(debt * chance.uniform(0.03, 0.05))
    _profit(now)
    _financing(chance, now, last)
    return now


def _opening_assets(chance: random.Random, revenue: int) -> Figures:
    values = {asset: round(revenue * chance.uniform(0.04, 0.15)) for asset in ASSETS}
    return values | {"intangible": round(revenue * chance.uniform(0.02, 0.08))}


def _draw_assets(chance: random.Random, now: dict[str, int], last: Figures) -> None:
    """Draw additions, depreciation and closing values of each class of assets."""
    for asset in ASSETS:
        now[f"{asset}_opening"] = last[asset]
        now[f"{asset}_depreciation"] = round(last[asset] * chance.uniform(0.06, 0.14))
        now[f"{asset}_additions"] = round(now[f"{asset}_depreciation"] * chance.uniform(0.6, 1.7))
        now[asset] = last[asset] + now[f"{asset}_additions"] - now[f"{asset}_depreciation"]
    now["ppe"] = sum(now[asset] for asset in ASSETS)
    now["amortisation"] = round(last["intangible"] * chance.uniform(0.1, 0.2))
    now["development"] = round(now["amortisation"] * chance.uniform(0.7, 1.6))
    now["intangible"] = last["intangible"] + now["development"] - now["amortisation"]
    now["capex"] = sum(now[f"{asset}_additions"] for asset in ASSETS)
    now["depreciation"] = (
        sum(now[f"{asset}_depreciation"] for asset in ASSETS) + now["amortisation"]
    )


def _profit(now: dict[str, int]) -> None:
    costs = ("materials", "wages", "other_production")
    now["gross"] = now["revenue"] - sum(now[cost] for cost in costs)
    overheads = ("distribution", "administration", "research", "depreciation")
    now["operating"] = now["gross"] + now["other_income"] - sum(now[x] for x in overheads)
    now["pretax"] = now["operating"] - now["interest"]
    now["tax"] = max(0, round(now["pretax"] * 0.25))
    now["net"] = now["pretax"] - now["tax"]
    now["tax_payable"] = round(now["tax"] * 0.3)


def _financing(chance: random.Random, now: dict[str, int], last: Figures | None) -> None:
    """Draw debt, equity and cash; cash is the remainder, kept between a minimum and a maximum."""
    revenue = now["revenue"]
    if last is None:
        now |= {"long_debt": round(revenue * 0.2), "short_debt": round(revenue * 0.04)}
        now |= {"investments": round(revenue * 0.03), "dividends": 0}
        now["cash"] = round(revenue * chance.uniform(0.06, 0.15))
        assets = now["cash"] + sum(now[name] for name in _NON_CASH)
        funds = ("payables", "accrued", "tax_payable", "provisions", "short_debt", "long_debt")
        equity = assets - sum(now[name] for name in funds)
        now["capital"], now["reserves"] = round(equity * 0.4), round(equity * 0.15)
        now["retained"] = equity - now["capital"] - now["reserves"]
        return
    for name in ("long_debt", "short_debt", "investments", "capital", "reserves"):
        now[name] = last[name]
    repaid = round(last["long_debt"] * chance.uniform(0.0, 0.08))
    now["long_debt"] -= repaid
    now["dividends"] = max(0, round(now["net"] * chance.uniform(0.3, 0.8)))
    now["retained"] = last["retained"] + now["net"] - now["dividends"]
    cash = sum(now[name] for name in _FUNDS) - sum(now[name] for name in _NON_CASH)
    least, most = round(revenue * 0.03), round(revenue * 0.22)
    if cash < least:
        now["short_debt"] += least - cash
    elif cash > most:
        repaid = min(now["short_debt"], cash - most)
        now["short_debt"] -= repaid
        now["investments"] += cash - most - repaid
    now["cash"] = sum(now[name] for name in _FUNDS) - sum(now[name] for name in _NON_CASH)


CATEGORY = "financial"


@dataclass(frozen=True, slots=True)
class Habits(company.Habits):
    """The habits of one company's accounts."""

    category = CATEGORY

    files: bool = share(0.25)  # each statement is a workbook of its own
    long: bool = share(0.55)  # statements have headings and details
    wording: int = one_of(0, 1, 2)  # number of the name that it uses for each line
    formulas: bool = share(0.85)  # subtotals are formulas
    # Source of the comparative column: typed in, or taken from last year's workbook.
    previous: Literal["value", "take", "lookup"] = one_of("value", "take", "lookup")
    # The year's income is summed through four tabs of quarters.
    quarterly: bool = drawn(lambda chance, habits: chance.random() < 0.4 and not habits["files"])
    assets: bool = share(0.6)  # there is a schedule of fixed assets
    noted: bool = share(0.6)  # there are notes, and a column that refers to them
    changes: bool = share(0.4)  # the change on last year is shown
    shares: bool = share(0.35)  # shares of revenue and total assets are shown
    grouped: bool = share(0.2)  # the two years are below one header
    dated: str = one_of("", "", "", "FY {}", "31 Dec {}", "Year {}")  # year in headers, if any
    looked_up: bool = share(0.4)  # ratios look up their items by name


@dataclass(frozen=True, slots=True)
class Company(company.Company):
    """A house with its ledger, by year, and habits."""

    category = CATEGORY

    habits: Habits
    figures: Mapping[int, Figures]

    @classmethod
    def of(cls, house: House, years: Sequence[int]) -> Company:
        """Make the company of a house."""
        return cls(house, sorted(set(years)), Habits.of(house), ledger(house, years))

    def lines(self, statement: str) -> tuple[Line, ...]:
        """Return the lines of a statement in this company's length."""
        long, short = {
            "income_statement": (INCOME_LONG, INCOME_SHORT),
            "balance_sheet": (BALANCE_LONG, BALANCE_SHORT),
            "cash_flow": (CASH, CASH),
        }[statement]
        return long if self.habits.long else short

    def row(self, statement: str, line: str) -> int:
        """Return the data row of a line, from 0."""
        return next(row for row, each in enumerate(self.lines(statement)) if each.id == line)

    def name(self, line: Line) -> str:
        """Return this company's name for a line."""
        return line.names[self.habits.wording % len(line.names)]

    def item(self, statement: str, line: str) -> str:
        """Return this company's name for the line of an id."""
        return self.name(self.lines(statement)[self.row(statement, line)])

    def values(self, statement: str, year: int, share: float = 1.0) -> dict[str, int]:
        """Return all lines of a statement that have numbers, by id.

        Args:
            statement: Kind of the statement.
            year: The year.
            share: Share of the year's figures, which are rounded; sums still agree.
        """
        found: dict[str, int] = {}
        now, before = self.figures[year], self.figures[year - 1]
        for line in self.lines(statement):
            if line.figures:
                found[line.id] = round(amount(line, now, before) * share)
            elif line.sums:
                signed = ((-1 if part[0] == "-" else 1, part.strip("-")) for part in line.sums)
                found[line.id] = sum(sign * found[part] for sign, part in signed)
        return found

    def path(self, name: str, year: int) -> str:
        """Return the path of the workbook with a kind of sheet for a year."""
        subject = self.kind(name).subject() if self.habits.files else ""
        return self.house.path(CATEGORY, subject, When(year))

    def at(self, name: str, year: int, seen_from: str) -> SheetAt:
        """Refer to a kind's sheet of a year from a workbook's path."""
        path = self.path(name, year)
        return SheetAt(self.kind(name).tab(), "" if path == seen_from else path)
