"""Draw a company's figures year by year, with consistent sums and balanced accounts."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from sat_retriever.synth.book.build import walk
from sat_retriever.synth.house.house import House

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

    Args:
        house: The company.
        years: The years of the corpus, at least one.
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
    _fixed_assets(chance, now, last or _opening_assets(chance, revenue))
    debt = (last or {}).get("long_debt", round(revenue * 0.2)) + (last or {}).get("short_debt", 0)
    now["interest"] = round(debt * chance.uniform(0.03, 0.05))
    _profit(now)
    _financing(chance, now, last)
    return now


def _opening_assets(chance: random.Random, revenue: int) -> Figures:
    values = {asset: round(revenue * chance.uniform(0.04, 0.15)) for asset in ASSETS}
    return values | {"intangible": round(revenue * chance.uniform(0.02, 0.08))}


def _fixed_assets(chance: random.Random, now: dict[str, int], last: Figures) -> None:
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
    """Compute the subtotals of the income statement."""
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
