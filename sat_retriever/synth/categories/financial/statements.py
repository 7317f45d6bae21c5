"""Make balance sheets, income statements and cash flows as sheets that refer to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sat_retriever.synth.book.build import less, looked_up, ratio
from sat_retriever.synth.book.model import (
    Column,
    Combine,
    Recipe,
    Sheet,
    SheetAt,
    Take,
    Through,
    Total,
    Value,
)
from sat_retriever.synth.categories.financial.company import Company
from sat_retriever.synth.categories.financial.lines import Line
from sat_retriever.synth.house.when import When, quarters

Cell = Value | Recipe
_BASE = {"income_statement": "revenue", "balance_sheet": "assets"}
_NOTED = {"revenue": 2, "cost": 3, "ppe": 4, "inventory": 5, "receivables": 6, "long_debt": 7}


def statement(company: Company, kind: str, year: int) -> Sheet:
    """Make the sheet of one statement of one year."""
    tab = company.kind(kind).tab()
    own = SheetAt(tab)
    now, last = company.values(kind, year), company.values(kind, year - 1)
    lines = company.lines(kind)
    current = _cells(company, kind, own, "current", now)
    previous = _cells(company, kind, own, "previous", last)
    for name, cell in _linked(company, kind, year).items():
        row = company.row(kind, name)
        if lines[row].figures:
            current[row] = cell
    if company.habits.previous != "value" and year - 1 in company.years:
        at = company.at(kind, year - 1, company.path(kind, year))
        for row, line in enumerate(lines):
            if line.figures:
                previous[row] = _last(company, at, row)
    columns = _columns(company, kind, year, (current, previous), own)
    return company.kind(kind).sheet(columns, When(year), name=tab)


def quarter_statements(company: Company, year: int) -> list[Sheet]:
    """Make the income statements of the four quarters, which the year's sheet sums."""
    kind = company.kind("income_statement")
    found = []
    for when, now, last in zip(
        quarters(year), _quarters(company, year), _quarters(company, year - 1), strict=True
    ):
        own = SheetAt(kind.tab(when))
        current = _cells(company, "income_statement", own, "current", now)
        previous = _cells(company, "income_statement", own, "previous", last)
        columns = _columns(company, "income_statement", year, (current, previous), own)
        found.append(kind.sheet(columns, when, name=own.sheet))
    return found


def _quarters(company: Company, year: int) -> list[dict[str, int]]:
    """Draw the income statement by quarter; the quarters of each line sum to the year's."""
    chance = company.kind("income_statement").chance("quarters", year)
    whole = company.values("income_statement", year)
    shares = [chance.uniform(0.22, 0.27) for _ in range(3)]
    found = [company.values("income_statement", year, share) for share in shares]
    found.append({line: whole[line] - sum(each[line] for each in found) for line in whole})
    return found


def _cells(
    company: Company, kind: str, own: SheetAt, column: str, values: Mapping[str, int]
) -> list[Cell]:
    """Return a column of a statement: typed-in figures, and formulas for subtotals."""
    return [
        _sum(company, kind, line, own, column) or values.get(line.id)
        for line in company.lines(kind)
    ]


def _sum(company: Company, kind: str, line: Line, own: SheetAt, column: str) -> Recipe | None:
    """Return the formula of a subtotal; None for other lines, and if subtotals are typed in."""
    if not line.sums or not company.habits.formulas:
        return None
    total: Recipe | None = None
    for part in line.sums:
        cell = Take(own, column, company.row(kind, part.strip("-")))
        total = Combine("-" if part[0] == "-" else "+", total, cell) if total else cell
    return total


def _last(company: Company, at: SheetAt, row: int) -> Recipe:
    if company.habits.previous == "lookup":
        return looked_up(at, "item", "current")
    return Take(at, "current", row)


def _linked(company: Company, kind: str, year: int) -> dict[str, Recipe]:
    """Return the lines of a statement that are taken from other sheets of the year."""
    path = company.path(kind, year)
    if kind == "income_statement" and company.habits.quarterly:
        tabs = [company.kind(kind).tab(when) for when in quarters(year)]
        return {
            line.id: Through(tabs[0], tabs[-1], "current", row)
            for row, line in enumerate(company.lines(kind))
            if line.figures
        }
    if kind == "balance_sheet" and company.habits.assets:
        return {"ppe": Total(company.at("fixed_assets", year, path), "closing")}
    if kind != "cash_flow":
        return {}
    income = company.at("income_statement", year, path)
    balance = company.at("balance_sheet", year, path)
    linked: dict[str, Recipe] = {
        line: Take(income, "current", company.row("income_statement", line))
        for line in ("net", "depreciation")
    }
    linked["opening"] = Take(balance, "previous", company.row("balance_sheet", "cash"))
    for line, of in (("stock", "inventory"), ("securities", "investments")):
        row = company.row("balance_sheet", of)
        before, now = Take(balance, "previous", row), Take(balance, "current", row)
        linked[line] = less(before, now)
    return linked


def _columns(
    company: Company,
    kind: str,
    year: int,
    years: tuple[list[Cell], list[Cell]],
    own: SheetAt,
) -> list[Column]:
    habits, of, lines = company.habits, company.kind(kind), company.lines(kind)
    group = of.header("group_years") if habits.grouped else ""
    columns = [of.column("item", (company.name(line) for line in lines))]
    if habits.noted and kind in _BASE:
        numbers = (_NOTED.get(line.id) for line in lines)
        columns.append(of.column("note", numbers, "integer", key="note"))
    columns += [
        of.column("current", years[0], "integer", group=group),
        of.column("previous", years[1], "integer", group=group),
    ]
    if habits.dated:
        columns[-2:] = [
            replace(column, header=habits.dated.format(year - back))
            for back, column in enumerate(columns[-2:])
        ]
    if kind in _BASE and habits.changes:
        change = less("current", "previous")
        cells = (None if line.heading else change for line in lines)
        columns.append(of.column("change", cells, "integer", group=group))
    if kind in _BASE and habits.shares:
        base = Take(own, "current", company.row(kind, _BASE[kind]))
        share = ratio("current", base)
        columns.append(
            of.column("share", (None if line.heading else share for line in lines), "percent")
        )
    return columns
