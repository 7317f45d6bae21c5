"""Make the sheets beside the statements: fixed assets, key figures, notes, and the overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sat_retriever.synth.book.build import (
    added,
    book,
    change,
    less,
    looked_up,
    ratio,
    with_totals,
)
from sat_retriever.synth.book.model import Book, Chart, Column, Lookup, Recipe, Sheet, SheetAt, Take
from sat_retriever.synth.categories.financial.company import ASSETS, CATEGORY, Company
from sat_retriever.synth.house.when import When

_ASSET_NAMES = {
    "buildings": ("Land and buildings", "Buildings", "Real estate"),
    "machinery": ("Plant and machinery", "Machines", "Production equipment"),
    "vehicles": ("Vehicles", "Motor vehicles", "Fleet"),
    "equipment": ("Fixtures and fittings", "Office equipment", "Furniture and IT"),
}
_INCOME, _BALANCE = "income_statement", "balance_sheet"
_RATIOS = (
    (("Gross margin", "Gross profit ratio"), (_INCOME, "gross"), (_INCOME, "revenue")),
    (("Operating margin", "EBIT margin"), (_INCOME, "operating"), (_INCOME, "revenue")),
    (("Net margin", "Return on sales"), (_INCOME, "net"), (_INCOME, "revenue")),
    (("Cost ratio", "Cost to revenue"), (_INCOME, "cost"), (_INCOME, "revenue")),
    (("Research intensity", "R&D ratio"), (_INCOME, "research"), (_INCOME, "revenue")),
    (("Effective tax rate", "Tax ratio"), (_INCOME, "tax"), (_INCOME, "pretax")),
    (("Equity ratio", "Own funds ratio"), (_BALANCE, "equity"), (_BALANCE, "assets")),
    (("Debt ratio", "Leverage"), (_BALANCE, "liabilities"), (_BALANCE, "equity")),
    (("Current asset share", "Liquidity share"), (_BALANCE, "current"), (_BALANCE, "assets")),
    (("Cash ratio", "Liquid funds ratio"), (_BALANCE, "cash"), (_BALANCE, "liabilities")),
    (("Return on equity", "ROE"), (_INCOME, "net"), (_BALANCE, "equity")),
    (("Return on assets", "ROA"), (_INCOME, "net"), (_BALANCE, "assets")),
    (("Asset turnover", "Turnover of assets"), (_INCOME, "revenue"), (_BALANCE, "assets")),
    (("Stock to sales", "Inventory ratio"), (_BALANCE, "inventory"), (_INCOME, "revenue")),
    (("Receivables to sales", "Debtor ratio"), (_BALANCE, "receivables"), (_INCOME, "revenue")),
)
_NOTES = (
    ("Accounting policies", "Prepared at historical cost under the going concern assumption", None),
    ("Revenue", "Recognised when control of goods passes to the customer", (_INCOME, "revenue")),
    ("Cost of sales", "Materials, wages and other production cost", (_INCOME, "cost")),
    ("Fixed assets", "Straight-line depreciation over three to forty years", (_BALANCE, "ppe")),
    ("Inventories", "Lower of cost and net realisable value", (_BALANCE, "inventory")),
    ("Receivables", "Shown net of an allowance for doubtful debts", (_BALANCE, "receivables")),
    ("Borrowings", "Secured by land charges, interest fixed", (_BALANCE, "long_debt")),
    ("Provisions", "Warranties, pensions and legal disputes", (_BALANCE, "provisions")),
    ("Taxes", "Current tax at the enacted rate, no deferred tax", (_INCOME, "tax")),
    ("Equity", "No shares were issued or bought back", (_BALANCE, "equity")),
    ("Cash", "Bank balances available on demand", (_BALANCE, "cash")),
    ("Subsequent events", "No event after the balance sheet date needs disclosure", None),
)


def fixed_assets(company: Company, year: int) -> Sheet:
    """Make the schedule of fixed assets: opening value, additions, depreciation, closing value."""
    kind, now = company.kind("fixed_assets"), company.figures[year]
    opening: list[int | Recipe] = [now[f"{asset}_opening"] for asset in ASSETS]
    if company.habits.previous != "value" and year - 1 in company.years:
        last = company.at("fixed_assets", year - 1, company.path("fixed_assets", year))
        opening = [Take(last, "closing", row) for row in range(len(ASSETS))]
    closing = less(added("opening", "additions"), "depreciation")
    wording = company.habits.wording
    columns = [
        kind.column("asset", (_ASSET_NAMES[asset][wording] for asset in ASSETS)),
        kind.column("opening", opening, "integer"),
        kind.column("additions", (now[f"{a}_additions"] for a in ASSETS), "integer"),
        kind.column("depreciation", (now[f"{a}_depreciation"] for a in ASSETS), "integer"),
        kind.column("closing", [closing] * len(ASSETS), "integer"),
    ]
    sheet = kind.sheet(columns, When(year))
    return with_totals(sheet, "opening", "additions", "depreciation", "closing")


def key_figures(company: Company, year: int) -> Sheet:
    """Make the ratios of the year and the year before, from the statements."""
    kind = company.kind("key_figures")
    habit = kind.chance("rows")
    rows = sorted(habit.sample(range(len(_RATIOS)), habit.randint(9, len(_RATIOS))))
    ratios = [_RATIOS[row] for row in rows]
    chance = kind.chance("benchmark", year)
    columns = [kind.column("ratio", (names[company.habits.wording % 2] for names, *_ in ratios))]
    if company.habits.looked_up:
        columns += [
            kind.column("numerator", (company.item(*part) for _, part, _ in ratios)),
            kind.column("denominator", (company.item(*part) for _, _, part in ratios)),
        ]
    for column in ("current", "previous"):
        cells = [_ratio(company, year, ratio[1:], column) for ratio in ratios]
        columns.append(kind.column(column, cells, "percent"))
    if habit.random() < 0.5:
        levels = (round(chance.uniform(0.05, 0.9), 3) for _ in ratios)
        columns.append(kind.column("benchmark", levels, "percent"))
    return kind.sheet(columns, When(year), summary=True)


def _ratio(company: Company, year: int, parts: Sequence[tuple[str, str]], column: str) -> Recipe:
    path = company.path("key_figures", year)
    cells: list[Recipe] = []
    for key, (statement, line) in zip(("numerator", "denominator"), parts, strict=True):
        at = company.at(statement, year, path)
        if company.habits.looked_up:
            cells.append(Lookup(at, key, "item", column))
        else:
            cells.append(Take(at, column, company.row(statement, line)))
    return ratio(*cells)


def notes(company: Company, year: int) -> Sheet:
    """Make the notes to the accounts: a text each, with the amount that it explains."""
    kind, path = company.kind("notes"), company.path("notes", year)
    amounts: list[Recipe | None] = []
    for *_, part in _NOTES:
        at = company.at(part[0], year, path) if part else None
        amounts.append(Take(at, "current", company.row(*part)) if at and part else None)
    people = company.house.pool("employees", 12)
    authors = kind.chance("authors", year).choices(people[:4], k=len(_NOTES))
    columns = [
        kind.column("number", range(1, len(_NOTES) + 1), "integer", key="note", unique=True),
        kind.column("subject", (subject for subject, *_ in _NOTES)),
        kind.column("text", (text for _, text, _ in _NOTES)),
        kind.column("amount", amounts, "integer"),
    ]
    if kind.chance("habit").random() < 0.5:
        columns.append(kind.column("prepared", authors))
    return kind.sheet(columns, When(year))


_ITEMS = {
    "revenue": ("income_statement", "revenue"),
    "gross": ("income_statement", "gross"),
    "operating": ("income_statement", "operating"),
    "net": ("income_statement", "net"),
    "assets": ("balance_sheet", "assets"),
    "equity": ("balance_sheet", "equity"),
    "cash": ("balance_sheet", "cash"),
}
_MORE = {
    "cost": ("income_statement", "cost"),
    "depreciation": ("income_statement", "depreciation"),
    "interest": ("income_statement", "interest"),
    "tax": ("income_statement", "tax"),
    "inventory": ("balance_sheet", "inventory"),
    "receivables": ("balance_sheet", "receivables"),
    "liabilities": ("balance_sheet", "liabilities"),
    "operating_cash": ("cash_flow", "operating"),
    "investing_cash": ("cash_flow", "investing"),
    "financing_cash": ("cash_flow", "financing"),
}


def overview(company: Company) -> Book:
    """Make the overview of all years, with cells taken from the yearly workbooks.

    Some companies have a row per year, others a column per year.
    """
    kind = company.kind("trend")
    path = company.house.path(CATEGORY, kind.subject(), None)
    by_year = kind.chance("habit").random() < 0.5
    columns = _year_rows(company, path) if by_year else _item_rows(company, path)
    sheet = kind.sheet(columns, summary=True)
    if by_year:
        chart = Chart(SheetAt(sheet.name), "year", "revenue")
        sheet = replace(sheet, charts=(chart,))
    return book(company.house, CATEGORY, kind.subject(), None, [sheet])


def _year_rows(company: Company, path: str) -> list[Column]:
    kind = company.kind("trend")
    columns = [kind.column("year", company.years, "text")]
    for column, (statement, line) in _ITEMS.items():
        cells = (_taken(company, statement, line, year, path) for year in company.years)
        columns.append(kind.column(column, cells, "integer"))
    margin = ratio("net", "revenue")
    return [*columns, kind.column("margin", [margin] * len(company.years), "percent")]


def _item_rows(company: Company, path: str) -> list[Column]:
    kind = company.kind("trend")
    items = (_ITEMS | _MORE).values()
    columns = [kind.column("item", (company.item(*item) for item in items))]
    by_name = kind.chance("lookup").random() < 0.3
    for year in company.years:
        cells: list[Recipe] = []
        for statement, line in items:
            at = company.at(statement, year, path)
            cells.append(
                looked_up(at, "item", "current")
                if by_name
                else _taken(company, statement, line, year, path)
            )
        column = kind.column("year", cells, "integer")
        columns.append(replace(column, id=f"y{year}", header=f"{column.header} {year}"))
    growth = change(f"y{company.years[-1]}", f"y{company.years[0]}")
    return [*columns, kind.column("growth", [growth] * len(items), "percent")]


def _taken(company: Company, statement: str, line: str, year: int, path: str) -> Take:
    row = company.row(statement, line)
    return Take(company.at(statement, year, path), "current", row)
