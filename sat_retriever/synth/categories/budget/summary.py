"""Make summaries: the year by department, and the years side by side."""

from __future__ import annotations

from dataclasses import replace

from sat_retriever.synth.book.build import book, with_totals
from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Column,
    Combine,
    Function,
    Lookup,
    Number,
    Own,
    Pivot,
    Recipe,
    Sheet,
    SheetAt,
    Through,
    Total,
    TotalWhere,
)
from sat_retriever.synth.categories.budget.company import Company
from sat_retriever.synth.categories.budget.plan import CATEGORY
from sat_retriever.synth.house.when import When

_AMOUNTS = ("planned", "approved", "actual")


def summary(company: Company, year: int) -> Sheet:
    """Sum the annual budget and the workbook's other sheets by department."""
    kind, when = company.kind("summary"), When(year)
    path, departments = company.path("summary", when), company.plans[year].departments
    budget, count = company.at("annual", when, path), len(departments)
    columns = [kind.column("department", departments, key="department")]
    for name in _AMOUNTS:
        cell = TotalWhere(budget, name, "department", "department")
        columns.append(company.amount(kind.column(name, [cell] * count, "integer"), when))
    columns += _gathered(company, year, path)
    columns += [
        kind.column("variance", [Combine("-", Own("approved"), Own("actual"))] * count, "integer"),
        kind.column("rate", [Combine("/", Own("actual"), Own("approved"))] * count, "percent"),
    ]
    sheet = with_totals(kind.sheet(columns, when, summary=True), *_AMOUNTS, "variance")
    if company.habits.charted:
        chart = Chart(SheetAt(sheet.name), "department", "actual")
        sheet = replace(sheet, charts=(chart,))
    if company.habits.pivoted:
        sheet = replace(sheet, pivots=(Pivot(budget, "department", "approved"),))
    return sheet


def _gathered(company: Company, year: int, path: str) -> list[Column]:
    """Return columns from the investment plan, the headcount plan and the quarterly reviews."""
    kind, when = company.kind("summary"), When(year)
    count = len(company.plans[year].departments)
    columns = []
    if company.has("capex") and not company.at("capex", when, path).book:
        cell = TotalWhere(company.at("capex", when, path), "approved", "department", "department")
        columns.append(kind.column("capex", [cell] * count, "integer"))
    if company.has("headcount"):
        at = company.at("headcount", when, path)
        people = Lookup(at, "department", "department", "closing")
        columns.append(kind.column("people", [people] * count, "integer"))
    reviews = company.reviews(year, path)
    if not reviews[0].book:
        ends = reviews[0].sheet, reviews[-1].sheet
        through = [Through(*ends, "actual", row) for row in range(count)]
        columns.append(kind.column("reviewed", through, "integer"))
    elif kind.chance("reviewed").random() < 0.5:
        last = Lookup(reviews[-1], "department", "department", "ytd_actual")
        columns.append(kind.column("reviewed", [last] * count, "integer"))
    return columns


def rollup(company: Company) -> Book:
    """Make the workbook of all years, with a row per year or a row per department."""
    kind = company.kind("rollup")
    path = company.house.path(CATEGORY, kind.subject(), None)
    by_year = kind.chance("rows").random() < 0.5
    columns = _year_rows(company, path) if by_year else _department_rows(company, path)
    return book(company.house, CATEGORY, kind.subject(), None, [kind.sheet(columns, summary=True)])


def _year_rows(company: Company, path: str) -> list[Column]:
    kind, years = company.kind("rollup"), company.years
    budgets = [company.at("annual", When(year), path) for year in years]
    totals: tuple[tuple[str, str, Function], ...] = (
        ("planned", "planned", "SUM"),
        ("approved", "approved", "SUM"),
        ("actual", "actual", "SUM"),
        ("lines", "approved", "COUNT"),
        ("largest", "approved", "MAX"),
    )
    columns = [kind.column("year", map(str, years))]
    for name, column, function in totals:
        cells = (Total(at, column, function) for at in budgets)
        columns.append(kind.column(name, cells, "integer"))
    variance = Combine("-", Own("approved"), Own("actual"))
    return [*columns, kind.column("variance", [variance] * len(years), "integer")]


def _department_rows(company: Company, path: str) -> list[Column]:
    kind, years = company.kind("rollup"), company.years
    departments = company.plans[years[0]].departments
    columns = [kind.column("department", departments, key="department")]
    total: Recipe | None = None
    for year in years:
        at = company.at("summary", When(year), path)
        cell = Lookup(at, "department", "department", "actual")
        column = kind.column("actual", [cell] * len(departments), "integer")
        header = f"{column.header} {year}"
        columns.append(replace(column, id=f"y{year}", header=header))
        own = Own(f"y{year}")
        total = Combine("+", total, own) if total else own
    if total:
        mean = Combine("/", total, Number(len(years)))
        columns.append(kind.column("mean", [mean] * len(departments), "integer"))
    return columns
