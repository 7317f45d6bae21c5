"""Make financial statements: a workbook per year or per statement and year, and an overview."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace
from typing import Any

from sat_retriever.synth.book.model import (
    Book,
    Column,
    Combine,
    Lookup,
    Recipe,
    Sheet,
    Take,
    Through,
    Total,
)  # fmt: skip
from sat_retriever.synth.categories.filing import Habit, Page, Place, Shelf, habits
from sat_retriever.synth.categories.tables import sections
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, quarters

STATEMENTS = ("income_statement", "balance_sheet", "cash_flow")
"""Kinds of sheets whose lines sum up other lines."""
_TAB_ORDER = (
    "balance_sheet", "income_statement", "cash_flow", "fixed_assets", "key_figures", "notes",
)  # fmt: skip
ASSETS = {
    "buildings": ("Land and buildings", "Buildings", "Real estate"),
    "machinery": ("Plant and machinery", "Machines", "Production equipment"),
    "vehicles": ("Vehicles", "Motor vehicles", "Fleet"),
    "equipment": ("Fixtures and fittings", "Office equipment", "Furniture and IT"),
}
_BASE = {"income_statement": "revenue", "balance_sheet": "assets"}
_NOTED = {"revenue": 2, "cost": 3, "ppe": 4, "inventory": 5, "receivables": 6, "long_debt": 7}
_TREND = {
    name: f"{statement}.{name}"
    for statement, names in {
        "income_statement": "revenue gross operating net",
        "balance_sheet": "assets equity cash",
    }.items()
    for name in names.split()
}
"""The columns of the overview by year."""
_MORE = (
    "income_statement.cost income_statement.depreciation income_statement.interest "
    "income_statement.tax balance_sheet.inventory balance_sheet.receivables "
    "balance_sheet.liabilities cash_flow.operating cash_flow.investing cash_flow.financing"
).split()
"""Further rows of the overview by item."""
HABITS: Mapping[str, Habit] = {
    "files": 0.25,  # each statement is a workbook of its own
    "long": 0.55,  # statements have headings and details
    "wording": (0, 1, 2),  # number of the name that it uses for each line
    "formulas": 0.85,  # subtotals are formulas
    # Source of the comparative column: typed in, or taken from last year's workbook.
    "previous": ("value", "take", "lookup"),
    # The year's income is summed through four tabs of quarters.
    "quarterly": lambda chance, found: chance.random() < 0.4 and not found.files,
    "assets": 0.6,  # there is a schedule of fixed assets
    "noted": 0.6,  # there are notes, and a column that refers to them
    "changes": 0.4,  # the change on last year is shown
    "shares": 0.35,  # shares of revenue and total assets are shown
    "grouped": 0.2,  # the two years are below one header
    "dated": ("", "", "", "FY {}", "31 Dec {}", "Year {}"),  # year in headers, if any
    "looked_up": 0.4,  # ratios look up their items by name
}
Figures = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a statement.

    Attributes:
        id: Name used by other lines and sheets.
        names: Its names, one per wording of a house.
        figures: Figures of the ledger that it adds, with "-" before those it subtracts; ">" means
            this year's figure less last year's, "<" the reverse, and a final "@" last year's.
        sums: Lines above it in the same statement that it sums, "-" as before. A line with neither
            is the heading of a group.
    """

    id: str
    names: Sequence[str]
    figures: Sequence[str] = ()
    sums: Sequence[str] = ()

    @property
    def heading(self) -> bool:
        """True if it has no numbers."""
        return not (self.figures or self.sums)

    def amount(self, now: Figures, before: Figures) -> int:
        """Compute the amount of a line with figures from the ledger.

        >>> Line("x", ["X"], [">cash", "-tax"]).amount({"cash": 5, "tax": 1}, {"cash": 2})
        2
        """
        total = 0
        for figure in self.figures:
            mark, name = figure[0], figure.strip("-<>@")
            if figure.endswith("@"):
                total += before[name]
            elif mark in "<>":
                change = now[name] - before[name]
                total += change if mark == ">" else -change
            else:
                total += -now[name] if mark == "-" else now[name]
        return total


@cache
def statement_lines(statement: str, *, long: bool) -> tuple[Line, ...]:
    """Return the lines of a statement from `statements.txt`."""
    found = sections("statements")
    rows = (long and found.get(f"{statement}:long")) or found[f"{statement}:short"]
    return tuple(
        Line(name, names.split(" / "), figures.split(), sums.split())
        for name, names, figures, sums in rows
    )


@dataclass(frozen=True, slots=True)
class Accounts(Shelf):
    """A company's workbooks of accounts, with its ledger by year."""

    years: Sequence[int]
    habits: SimpleNamespace
    figures: Mapping[int, Figures]

    @classmethod
    def of(cls, house: House, years: Sequence[int]) -> Accounts:
        """Draw the accounts of a house."""
        found = habits(house, "financial", HABITS)
        return cls(house, "financial", sorted(set(years)), found, ledger(house, years))

    def place(self, kind: str, when: When | None, part: str = "") -> Place:
        """Return workbook and tab for the sheet of a kind and period."""
        if when is None:
            return Place(self.path(self.subject(kind), None), self.tab(kind))
        path = self.path(self.subject(kind) if self.habits.files else "", When(when.year))
        return Place(path, self.tab(kind, when if when.quarter else None))

    def lines(self, statement: str) -> tuple[Line, ...]:
        """Return the lines of a statement in this company's length."""
        return statement_lines(statement, long=self.habits.long)

    def row(self, statement: str, line: str) -> int:
        """Return the data row of a line, from 0."""
        return next(row for row, each in enumerate(self.lines(statement)) if each.id == line)

    def name(self, line: Line) -> str:
        """Return this company's name for a line."""
        wording: int = self.habits.wording
        return line.names[wording % len(line.names)]

    def item(self, of: str) -> str:
        """Return this company's name for a line, given as "statement.line"."""
        statement, line = of.split(".")
        return self.name(self.lines(statement)[self.row(statement, line)])

    def values(self, statement: str, year: int, share: float = 1.0) -> dict[str, int]:
        """Return a share of all lines of a statement that have numbers, by id; sums still agree."""
        found: dict[str, int] = {}
        now, before = self.figures[year], self.figures[year - 1]
        for line in self.lines(statement):
            if line.figures:
                found[line.id] = round(line.amount(now, before) * share)
            elif line.sums:
                signed = ((-1 if part[0] == "-" else 1, part.strip("-")) for part in line.sums)
                found[line.id] = sum(sign * found[part] for sign, part in signed)
        return found

    def quarters(self, year: int) -> list[dict[str, int]]:
        """Draw the income statement by quarter; the quarters of each line sum to the year's."""
        chance = self.page("income_statement").chance("quarters", year)
        whole = self.values("income_statement", year)
        shares = [chance.uniform(0.22, 0.27) for _ in range(3)]
        found = [self.values("income_statement", year, share) for share in shares]
        return [*found, {line: whole[line] - sum(each[line] for each in found) for line in whole}]

    def taken(self, page: Page, of: str, year: int, column: str = "current") -> Take:
        """Take a line of a year's statement, given as "statement.line", onto a page."""
        statement, line = of.split(".")
        return Take(page.at(statement, When(year)), column, self.row(statement, line))


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the accounts of a company, year by year, then the overview of two or more years."""
    accounts = Accounts.of(house, years)
    for year in accounts.years:
        sheets = _sheets(accounts, When(year))
        if accounts.habits.files:
            for kind, tabs in sheets.items():
                yield accounts.book(accounts.subject(kind), When(year), tabs)
        else:
            tabs = [sheet for kind in _TAB_ORDER for sheet in sheets.get(kind, ())]
            yield accounts.book("", When(year), tabs)
    if len(accounts.years) > 1:
        yield accounts.book(accounts.subject("trend"), None, [_trend(accounts)])


def _sheets(accounts: Accounts, when: When) -> dict[str, list[Sheet]]:
    """Return the year's sheets by kind; each follows the sheets that it refers to."""
    found: dict[str, list[Sheet]] = {}
    if accounts.habits.assets:
        found["fixed_assets"] = [_fixed_assets(accounts, when)]
    for kind in STATEMENTS:
        found[kind] = [_year_statement(accounts, kind, when)]
    if accounts.habits.quarterly:
        now, last = accounts.quarters(when.year), accounts.quarters(when.year - 1)
        for quarter, *values in zip(quarters(when.year), now, last, strict=True):
            page = accounts.page("income_statement", quarter)
            cells = [
                _cells(accounts, page, *each)
                for each in zip(("current", "previous"), values, strict=True)
            ]
            found["income_statement"].append(_statement(accounts, page, *cells))
    found["key_figures"] = [_key_figures(accounts, when)]
    if accounts.habits.noted:
        found["notes"] = [_notes(accounts, when)]
    return found


def _year_statement(accounts: Accounts, kind: str, when: When) -> Sheet:
    page, lines = accounts.page(kind, when), accounts.lines(kind)
    current = _cells(accounts, page, "current", accounts.values(kind, when.year))
    previous = _cells(accounts, page, "previous", accounts.values(kind, when.year - 1))
    linked = _linked(accounts, page)
    last = page.at(kind, When(when.year - 1))
    for row, line in enumerate(lines):
        if line.figures and line.id in linked:
            current[row] = linked[line.id]
        if line.figures and accounts.habits.previous != "value" and when.year - 1 in accounts.years:
            taken = Take(last, "current", row)
            by_name = accounts.habits.previous == "lookup"
            previous[row] = Lookup(last, "item", "item", "current") if by_name else taken
    return _statement(accounts, page, current, previous)


def _cells(accounts: Accounts, page: Page, column: str, values: Figures) -> list[Any]:
    """Return a column of a statement: typed-in figures, and formulas for subtotals."""
    own, cells = page.at(page.id, page.when), list[Any]()
    for line in accounts.lines(page.id):
        total: Recipe | None = None
        for part in line.sums if accounts.habits.formulas else ():
            cell = Take(own, column, accounts.row(page.id, part.strip("-")))
            total = Combine("-" if part[0] == "-" else "+", total, cell) if total else cell
        cells.append(total or values.get(line.id))
    return cells


def _linked(accounts: Accounts, page: Page) -> Mapping[str, Recipe]:
    """Return the lines of a year's statement that are taken from other sheets of the year."""
    year = page.when.year if page.when else 0
    if page.id == "income_statement" and accounts.habits.quarterly:
        first, *_, last = (page.at(page.id, when).sheet for when in quarters(year))
        lines = enumerate(accounts.lines(page.id))
        return {line.id: Through(first, last, "current", row) for row, line in lines}
    if page.id == "balance_sheet" and accounts.habits.assets:
        return {"ppe": Total(page.at("fixed_assets"), "closing")}
    if page.id != "cash_flow":
        return {}
    linked: dict[str, Recipe] = {
        line: accounts.taken(page, f"income_statement.{line}", year)
        for line in ("net", "depreciation")
    }
    linked["opening"] = accounts.taken(page, "balance_sheet.cash", year, "previous")
    for line, of in (("stock", "inventory"), ("securities", "investments")):
        before, now = (
            accounts.taken(page, f"balance_sheet.{of}", year, column)
            for column in ("previous", "current")
        )
        linked[line] = Combine("-", before, now)
    return linked


def _statement(accounts: Accounts, page: Page, current: list[Any], previous: list[Any]) -> Sheet:
    kept, lines = accounts.habits, accounts.lines(page.id)
    given: dict[str, Any] = {
        "item": [accounts.name(line) for line in lines],
        "note": [_NOTED.get(line.id) for line in lines] if kept.noted else None,
        "current": current,
        "previous": previous,
        "change": None,
        "share": None,
    }
    if kept.changes:
        change = page.formula("current - previous")
        given["change"] = [None if line.heading else change for line in lines]
    if kept.shares and page.id in _BASE:
        base = Take(page.at(page.id, page.when), "current", accounts.row(page.id, _BASE[page.id]))
        share = Combine("/", page.formula("current"), base)
        given["share"] = [None if line.heading else share for line in lines]
    columns = page.columns((), given, grouped=kept.grouped)
    if kept.dated and page.when:
        years = {"current": page.when.year, "previous": page.when.year - 1}
        columns = [
            replace(each, header=kept.dated.format(years[each.id])) if each.id in years else each
            for each in columns
        ]
    return page.sheet(columns)


def _fixed_assets(accounts: Accounts, when: When) -> Sheet:
    page, now = accounts.page("fixed_assets", when), accounts.figures[when.year]
    given: dict[str, Any] = {
        part: [now[f"{asset}_{part}"] for asset in ASSETS]
        for part in ("opening", "additions", "depreciation")
    }
    given["asset"] = [names[accounts.habits.wording] for names in ASSETS.values()]
    if accounts.habits.previous != "value" and when.year - 1 in accounts.years:
        last = page.at("fixed_assets", When(when.year - 1))
        given["opening"] = [Take(last, "closing", row) for row in range(len(ASSETS))]
    return page.sheet(page.columns([{}] * len(ASSETS), given))


def _key_figures(accounts: Accounts, when: When) -> Sheet:
    page, declared = accounts.page("key_figures", when), sections("statements")["key_figures"]
    habit, chance = page.chance("rows"), page.chance("benchmark", when.year)
    chosen = sorted(habit.sample(range(len(declared)), habit.randint(9, len(declared))))
    ratios = [declared[row][:3] for row in chosen]
    given: dict[str, Any] = {
        "ratio": [names.split(" / ")[accounts.habits.wording % 2] for names, *_ in ratios],
        "benchmark": None,
    }
    for place, key in enumerate(("numerator", "denominator"), 1):
        items = [accounts.item(ratio[place]) for ratio in ratios]
        given[key] = items if accounts.habits.looked_up else None

    def part(key: str, of: str, column: str) -> Recipe:
        if accounts.habits.looked_up:
            return Lookup(page.at(of.split(".", maxsplit=1)[0]), key, "item", column)
        return accounts.taken(page, of, when.year, column)

    for column in ("current", "previous"):
        given[column] = [
            Combine("/", part("numerator", of, column), part("denominator", over, column))
            for _, of, over in ratios
        ]
    if habit.random() < 0.5:
        given["benchmark"] = [round(chance.uniform(0.05, 0.9), 3) for _ in ratios]
    return page.sheet(page.columns((), given))


def _notes(accounts: Accounts, when: When) -> Sheet:
    page, notes = accounts.page("notes", when), sections("statements")["notes"]
    people = accounts.house.pool("employees", 12)
    authors = page.chance("authors", when.year).choices(people[:4], k=len(notes))
    given: dict[str, Any] = {
        "number": range(1, len(notes) + 1),
        "subject": [subject for subject, *_ in notes],
        "text": [text for _, text, *_ in notes],
        "amount": [accounts.taken(page, of, when.year) if of else None for *_, of, _ in notes],
        "prepared": authors if page.chance("habit").random() < 0.5 else None,
    }
    return page.sheet(page.columns((), given))


def _trend(accounts: Accounts) -> Sheet:
    """Make the overview of all years from the yearly workbooks, with years as rows or columns."""
    by_year = accounts.page("trend").chance("habit").random() < 0.5
    page, years = accounts.page("trend", form="years" if by_year else "items"), accounts.years
    if by_year:
        given = {
            column: [accounts.taken(page, of, year) for year in years]
            for column, of in _TREND.items()
        }
        return page.sheet(page.columns([{"year": year} for year in years], given), chart=True)
    items, by_name = [*_TREND.values(), *_MORE], page.chance("lookup").random() < 0.3
    columns: list[Column] = []
    for year in years:
        taken = [accounts.taken(page, of, year) for of in items]
        looked_up = [Lookup(cell.at, "item", "item", "current") for cell in taken]
        column = page.column("year", looked_up if by_name else taken, "integer")
        columns.append(replace(column, id=f"y{year}", header=f"{column.header} {year}"))
    first, last = columns[0].id, columns[-1].id
    growth = page.formula(f"({last} - {first}) / {first}")
    rows = [{"item": accounts.item(of)} for of in items]
    names, growths = page.columns(rows, {"growth": growth})
    return page.sheet([names, *columns, growths])


_SHARES = {  # of revenue: least, greatest
    "materials": (0.34, 0.46),
    "wages": (0.14, 0.22),
    "other_production": (0.04, 0.10),
    "distribution": (0.04, 0.09),
    "administration": (0.04, 0.08),
    "research": (0.01, 0.05),
    "other_income": (0.003, 0.012),
    "goods": (0.55, 0.8),
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
_DEBTS = "payables accrued tax_payable provisions short_debt long_debt".split()
_FUNDS = [*_DEBTS, "capital", "reserves", "retained"]


def ledger(house: House, years: Sequence[int]) -> Mapping[int, Figures]:
    """Draw whole amounts by year and name, beginning two years before the first year.

    In every year assets equal liabilities and equity, the change in cash is the sum of the
    cash flows, and retained earnings grow by the net profit less the dividends.
    """
    chance = house.chance("financial", "ledger")
    first, last = min(years) - 2, max(years)
    start = round(chance.uniform(8_000, 120_000) * chance.choice((1, 1, 5)))
    revenues = walk(chance, start, last - first + 1, chance.uniform(-0.01, 0.09), 0.06)
    shares = {name: chance.uniform(*ends) for name, ends in sorted(_SHARES.items())}
    books: dict[int, Figures] = {}
    for year, revenue in enumerate(map(round, revenues), first):
        before = books.get(year - 1)
        now = {
            name: round(revenue * share * max(1 + chance.gauss(0, 0.04), 0.5))
            for name, share in shares.items()
        }
        now |= {"services": revenue - now["goods"], "revenue": revenue}
        opening = before
        if opening is None:
            values = {asset: round(revenue * chance.uniform(0.04, 0.15)) for asset in ASSETS}
            opening = values | {"intangible": round(revenue * chance.uniform(0.02, 0.08))}
        _draw_assets(chance, now, opening)
        owed = before or {"long_debt": round(revenue * 0.2), "short_debt": 0}
        debt = owed["long_debt"] + owed["short_debt"]
        now["interest"] = round(debt * chance.uniform(0.03, 0.05))
        _profit(now)
        _financing(chance, now, before)
        books[year] = now
    return books


def _draw_assets(chance: random.Random, now: dict[str, int], last: Figures) -> None:
    for asset in ASSETS:
        lost = round(last[asset] * chance.uniform(0.06, 0.14))
        bought = round(lost * chance.uniform(0.6, 1.7))
        now |= {f"{asset}_opening": last[asset], f"{asset}_depreciation": lost}
        now |= {f"{asset}_additions": bought, asset: last[asset] + bought - lost}
    now["ppe"] = sum(now[asset] for asset in ASSETS)
    now["amortisation"] = round(last["intangible"] * chance.uniform(0.1, 0.2))
    now["development"] = round(now["amortisation"] * chance.uniform(0.7, 1.6))
    now["intangible"] = last["intangible"] + now["development"] - now["amortisation"]
    now["capex"] = sum(now[f"{asset}_additions"] for asset in ASSETS)
    lost = sum(now[f"{asset}_depreciation"] for asset in ASSETS)
    now["depreciation"] = lost + now["amortisation"]


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
        equity = assets - sum(now[name] for name in _DEBTS)
        now["capital"], now["reserves"] = round(equity * 0.4), round(equity * 0.15)
        now["retained"] = equity - now["capital"] - now["reserves"]
        return
    for name in ("long_debt", "short_debt", "investments", "capital", "reserves"):
        now[name] = last[name]
    now["long_debt"] -= round(last["long_debt"] * chance.uniform(0.0, 0.08))
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


def walk(
    chance: random.Random, start: float, count: int, drift: float = 0.0, noise: float = 0.05
) -> tuple[float, ...]:
    """Return a series that grows by `drift` per step, with noise (both are shares, not percent)."""
    values = [start]
    while len(values) < count:
        values.append(max(values[-1] * (1 + drift + chance.gauss(0, noise)), start * 0.05))
    return tuple(round(value, 2) for value in values[:count])
