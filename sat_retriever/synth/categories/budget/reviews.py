"""Make quarterly reviews, the summary of a year, and the years side by side."""

from __future__ import annotations

from dataclasses import replace

from sat_retriever.synth.book.build import (
    added,
    book,
    less,
    looked_up,
    parts,
    ratio,
    summed_by,
    with_totals,
)
from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Column,
    Function,
    Number,
    Own,
    Pivot,
    Recipe,
    Sheet,
    SheetAt,
    Take,
    Through,
    Total,
)
from sat_retriever.synth.categories.budget.company import CATEGORY, Company
from sat_retriever.synth.house.when import When

_COMMENTS = (
    "",
    "",
    "Late invoices",
    "Hiring later than planned",
    "Price increase",
    "One-off purchase",
    "Moved to next quarter",
)


def quarterly(company: Company, when: When) -> Sheet:
    """Make the review of one quarter: one row per department, the same layout in all quarters."""
    kind, plan = company.kind("quarterly"), company.plans[when.year]
    count = len(plan.departments)
    chance = kind.chance(when.year, when.quarter)
    columns = [kind.column("department", plan.departments, key="department")]
    for name in ("budget", "actual"):
        amounts = (_share(company, when, department, name) for department in plan.departments)
        columns.append(company.amount(kind.column(name, amounts, "integer"), when))
    columns += [
        kind.column("variance", [less("budget", "actual")] * count, "integer"),
        kind.column("utilisation", [ratio("actual", "budget")] * count, "percent"),
    ]
    for name in ("budget", "actual"):
        cells = (_since_january(company, when, name, row) for row in range(count))
        columns.append(kind.column(f"ytd_{name}", cells, "integer"))
    if kind.chance("columns", "adjustment").random() < 0.6:
        shifts = [chance.choice((0, 0, 500, -500, 1_000, -2_000)) for _ in range(count)]
        columns.append(kind.column("adjustment", shifts, "integer"))
    if kind.chance("columns", "comment").random() < 0.5:
        columns.append(kind.column("comment", chance.choices(_COMMENTS, k=count)))
    return kind.sheet(columns, when, name=company.tab("quarterly", when))


def _share(company: Company, when: When, department: str, name: str) -> int:
    """Return a department's approved or actual amount in a quarter; four sum to the year's."""
    spends = [s for s in company.plans[when.year].spends if s.department == department]
    total = sum(spend.approved if name == "budget" else spend.actual for spend in spends)
    chance = company.kind("quarterly").chance(when.year, department, name)
    return parts(chance, total, 4, 200.0)[when.quarter - 1]


def _since_january(company: Company, when: When, name: str, row: int) -> Recipe:
    """Add the quarter's amount to the year-to-date amount of the quarter before."""
    if when.quarter == 1:
        return Own(name)
    before = When(when.year, quarter=when.quarter - 1)
    at = company.at("quarterly", before, company.path("quarterly", when))
    last: Recipe = Take(at, f"ytd_{name}", row)
    if at.book:  # other files are looked up by name; within a workbook, rows are equal
        last = looked_up(at, "department", f"ytd_{name}")
    return added(last, name)


_AMOUNTS = ("planned", "approved", "actual")


def summary(company: Company, year: int) -> Sheet:
    """Sum the annual budget and the workbook's other sheets by department."""
    kind, when = company.kind("summary"), When(year)
    path, departments = company.path("summary", when), company.plans[year].departments
    budget, count = company.at("annual", when, path), len(departments)
    columns = [kind.column("department", departments, key="department")]
    for name in _AMOUNTS:
        cell = summed_by(budget, "department", name)
        columns.append(company.amount(kind.column(name, [cell] * count, "integer"), when))
    columns += _gathered(company, year, path)
    columns += [
        kind.column("variance", [less("approved", "actual")] * count, "integer"),
        kind.column("rate", [ratio("actual", "approved")] * count, "percent"),
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
        cell = summed_by(company.at("capex", when, path), "department", "approved")
        columns.append(kind.column("capex", [cell] * count, "integer"))
    if company.has("headcount"):
        at = company.at("headcount", when, path)
        people = looked_up(at, "department", "closing")
        columns.append(kind.column("people", [people] * count, "integer"))
    reviews = company.reviews(year, path)
    if not reviews[0].book:
        ends = reviews[0].sheet, reviews[-1].sheet
        through = [Through(*ends, "actual", row) for row in range(count)]
        columns.append(kind.column("reviewed", through, "integer"))
    elif kind.chance("reviewed").random() < 0.5:
        last = looked_up(reviews[-1], "department", "ytd_actual")
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
    variance = less("approved", "actual")
    return [*columns, kind.column("variance", [variance] * len(years), "integer")]


def _department_rows(company: Company, path: str) -> list[Column]:
    kind, years = company.kind("rollup"), company.years
    departments = company.plans[years[0]].departments
    columns = [kind.column("department", departments, key="department")]
    for year in years:
        at = company.at("summary", When(year), path)
        cell = looked_up(at, "department", "actual")
        column = kind.column("actual", [cell] * len(departments), "integer")
        header = f"{column.header} {year}"
        columns.append(replace(column, id=f"y{year}", header=header))
    mean = ratio(added(*(f"y{year}" for year in years)), Number(len(years)))
    return [*columns, kind.column("mean", [mean] * len(departments), "integer")]
