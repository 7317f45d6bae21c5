"""Make sheets for capital projects, the revenue forecast, operating expenses and allowances."""

from __future__ import annotations

from sat_retriever.synth.book.build import parts, with_totals
from sat_retriever.synth.book.model import (
    Column,
    Combine,
    Lookup,
    Own,
    Recipe,
    Sheet,
    Take,
    TotalWhere,
)
from sat_retriever.synth.categories.budget.company import Company
from sat_retriever.synth.house.when import When

_PHASES = ("Planned", "In Progress", "Completed")
_QUARTERS = ("q1", "q2", "q3", "q4")
_YEAR_SUM = Combine("+", Combine("+", Own("q1"), Own("q2")), Combine("+", Own("q3"), Own("q4")))
_ALLOWANCES = {
    "travel": (500, 6_000),
    "training": (300, 3_000),
    "equipment": (400, 4_000),
    "software": (200, 2_500),
}


def capex(company: Company, year: int) -> Sheet:
    """Make the sheet of capital projects: approved, spent, remaining and completion."""
    kind, when, projects = company.kind("capex"), When(year), company.plans[year].investments
    group = kind.header("group_money") if kind.chance("grouped").random() < 0.25 else ""
    remaining = Combine("-", Own("approved"), Own("spent"))
    amounts: list[tuple[str, list[int | Recipe]]] = [
        ("approved", [each.approved for each in projects]),
        ("spent", [each.spent for each in projects]),
        ("remaining", [remaining] * len(projects)),
    ]
    states = (_PHASES[(each.completion > 0.1) + (each.completion >= 1.0)] for each in projects)
    columns = [
        kind.column("project_id", (each.project_id for each in projects), key="project"),
        kind.column("project", (each.project for each in projects)),
        kind.column("department", (each.department for each in projects), key="department"),
        kind.column("category", (each.category for each in projects)),
        *(
            company.amount(kind.column(name, cells, "integer", group=group), when)
            for name, cells in amounts
        ),
        kind.column("completion", (each.completion for each in projects), "percent"),
        kind.column("status", states),
    ]
    return with_totals(kind.sheet(columns, when), "approved", "spent", "remaining")


def revenue(company: Company, year: int) -> Sheet:
    """Make the revenue forecast by product line and region."""
    kind, when, habit = company.kind("revenue"), When(year), company.kind("revenue").chance("rows")
    lines = company.house.pool("products", habit.randint(4, 6))
    regions = company.house.pool("regions", habit.randint(2, 4))
    rows = [(line, region) for line in lines for region in regions]
    chance = kind.chance(year)
    group = kind.header("group_quarters") if habit.random() < 0.3 else ""
    columns = [
        kind.column("line", (line for line, _ in rows)),
        kind.column("region", (region for _, region in rows), key="region"),
    ]
    size = {row: habit.uniform(60_000, 600_000) for row in rows}
    growth = 1.03 ** (year - company.years[0])
    for quarter, season in (("q1", 0.94), ("q2", 0.99), ("q3", 0.97), ("q4", 1.1)):
        cells = (
            int(round(size[row] * growth * season * chance.gauss(1, 0.06), -2)) for row in rows
        )
        columns.append(kind.column(quarter, cells, "integer", group=group))
    target = kind.column("target", [_YEAR_SUM] * len(rows), "integer")
    columns.append(company.amount(target, when))
    if year - 1 in company.years and habit.random() < 0.5:
        columns += _compared(company, year, len(rows))
    levels = ("High", "Medium", "Low")
    columns.append(kind.column("confidence", chance.choices(levels, (5, 4, 2), k=len(rows))))
    return with_totals(kind.sheet(columns, when), "q1", "q2", "q3", "q4", "target")


def _compared(company: Company, year: int, count: int) -> list[Column]:
    """Return columns with last year's targets, from last year's sheet, and the growth."""
    kind = company.kind("revenue")
    at = company.at("revenue", When(year - 1), company.path("revenue", When(year)))
    growth = Combine("/", Combine("-", Own("target"), Own("last")), Own("last"))
    return [
        kind.column("last", (Take(at, "target", row) for row in range(count)), "integer"),
        kind.column("growth", [growth] * count, "percent"),
    ]


def opex(company: Company, year: int) -> Sheet:
    """Make operating expenses by kind and quarter; their totals are the approved budget."""
    kind, when, plan = company.kind("opex"), When(year), company.plans[year]
    chance, habit = kind.chance(year), kind.chance("columns")
    path, count = company.path("opex", when), len(plan.categories)
    group = kind.header("group_quarters") if habit.random() < 0.3 else ""
    phased = [
        parts(chance, sum(s.approved for s in plan.spends if s.category == category), 4, 60.0)
        for category in plan.categories
    ]
    accounts = company.house.pool("account_codes", count)
    columns = [
        kind.column("account", accounts, key="account", unique=True),
        kind.column("expense", plan.categories),
        *(
            kind.column(name, (each[place] for each in phased), "integer", group=group)
            for place, name in enumerate(_QUARTERS)
        ),
        company.amount(kind.column("total", [_YEAR_SUM] * count, "integer"), when),
    ]
    budget = company.at("annual", when, path)
    if not budget.book and habit.random() < 0.7:
        approved = TotalWhere(budget, "approved", "category", "expense")
        columns.append(kind.column("approved", [approved] * count, "integer"))
    if year - 1 in company.years and habit.random() < 0.7:
        last = company.at("opex", When(year - 1), path)
        cell = Lookup(last, "account", "account", "total")
        columns.append(kind.column("last", [cell] * count, "integer"))
    return with_totals(kind.sheet(columns, when), *_QUARTERS, "total")


def allocation(company: Company, year: int) -> Sheet:
    """Make the allowances of employees for travel, training, equipment and software."""
    kind, when, habit = company.kind("allocation"), When(year), company.kind("allocation").chance()
    count = habit.randint(14, 40)
    kept = [name for name in _ALLOWANCES if name != "software" or habit.random() < 0.6]
    ids, names = (company.house.pool(noun, count) for noun in ("employee_ids", "employees"))
    departments = company.plans[year].departments
    places = [habit.choice(departments) for _ in range(count)]
    chance = kind.chance(year)
    total: Recipe = Own(kept[0])
    for name in kept[1:]:
        total = Combine("+", total, Own(name))
    columns = [kind.column("employee_id", ids, key="employee")]
    if habit.random() < 0.5:
        columns.append(kind.column("employee", names))
    columns.append(kind.column("department", places, key="department"))
    for name in kept:
        amounts = (chance.randrange(*_ALLOWANCES[name], 50) for _ in ids)
        columns.append(company.amount(kind.column(name, amounts, "integer"), when))
    columns.append(kind.column("total", [total] * count, "integer"))
    return with_totals(kind.sheet(columns, when), *kept, "total")
