"""Make the sheets of a year's plan: budget, list of choices, headcount, projects, forecasts."""

from __future__ import annotations

from dataclasses import replace

from sat_retriever.synth.book.build import added, less, looked_up, parts, ratio, times, with_totals
from sat_retriever.synth.book.model import Choices, Column, Recipe, Sheet, Take, TotalWhere
from sat_retriever.synth.categories.budget.company import PERSONNEL, Company, Spend
from sat_retriever.synth.house.when import When

_STATUSES = (
    ("On Track", "Over Budget", "Under Spent"),
    ("Green", "Red", "Amber"),
    ("ok", "exceeded", "below plan"),
)


def annual(company: Company, year: int) -> Sheet:
    """Make the annual budget: a line for each department and cost category."""
    kind, when, habits = company.kind("annual"), When(year), company.habits
    spends, count = company.plans[year].spends, len(company.plans[year].spends)
    planned: list[int | Recipe] = [spend.planned for spend in spends]
    if habits.linked and company.has("headcount"):
        at = company.at("headcount", when, company.path("annual", when))
        cost = looked_up(at, "department", "cost")
        planned = [cost if spend.category == PERSONNEL else spend.planned for spend in spends]
    amounts = [
        kind.column("planned", planned, "integer"),
        kind.column("approved", (spend.approved for spend in spends), "integer"),
        kind.column("actual", (spend.actual for spend in spends), "integer"),
    ]
    variance = less("approved", "actual")
    columns = [
        kind.column("department", (spend.department for spend in spends), key="department"),
        kind.column("category", (spend.category for spend in spends)),
        *(company.amount(column, when) for column in amounts),
        kind.column("variance", [variance] * count, "integer"),
    ]
    if habits.coded:
        codes = (f"B{year % 100}-{place:03}" for place in range(1, count + 1))
        columns.insert(0, kind.column("code", codes, key="budget line", unique=True))
    if habits.rates:
        rate = ratio("variance", "approved")
        columns.append(kind.column("percent", [rate] * count, "percent"))
    columns.append(kind.column("status", (_status(company, spend) for spend in spends)))
    if habits.owned:
        departments = company.plans[year].departments
        managers = company.house.pool("managers", len(departments))
        owners = dict(zip(departments, managers, strict=True))
        columns.append(kind.column("owner", (owners[spend.department] for spend in spends)))
    sheet = with_totals(kind.sheet(columns, when), "planned", "approved", "actual", "variance")
    if habits.listed:
        at = company.at("lists", when, company.path("annual", when))
        chosen = ("department", "category", "status")
        sheet = replace(sheet, choices=tuple(Choices(name, at, name) for name in chosen))
    return sheet


def lists(company: Company, year: int) -> Sheet:
    """Make the hidden sheet with the choices for the annual budget."""
    kind, plan = company.kind("lists"), company.plans[year]
    found = {
        "status": _statuses(company),
        "department": plan.departments,
        "category": plan.categories,
    }
    longest = max(map(len, found.values()))
    columns = [
        kind.column("number", range(1, longest + 1), "integer"),
        *(
            kind.column(name, (*choices, *[None] * (longest - len(choices))))
            for name, choices in found.items()
        ),
    ]
    return Sheet(kind.tab(), tuple(columns), hidden=True)


def _statuses(company: Company) -> tuple[str, ...]:
    return company.kind("annual").chance("statuses").choice(_STATUSES)


def _status(company: Company, spend: Spend) -> str:
    fine, over, under = _statuses(company)
    if spend.actual > spend.approved * 1.02:
        return over
    return under if spend.actual < spend.approved * 0.9 else fine


def headcount(company: Company, year: int) -> Sheet:
    """Make the headcount plan: joiners, leavers and cost by department."""
    kind, staff = company.kind("headcount"), company.plans[year].staff
    opening: list[int | Recipe] = [each.opening for each in staff]
    if year - 1 in company.years and kind.chance("carried").random() < 0.5:
        at = company.at("headcount", When(year - 1), company.path("headcount", When(year)))
        opening = [looked_up(at, "department", "closing")] * len(staff)
    closing = less(added("opening", "hires"), "leavers")
    cost = times("closing", "salary")
    columns = [
        kind.column("department", (each.department for each in staff), key="department"),
        kind.column("opening", opening, "integer"),
        kind.column("hires", (each.hires for each in staff), "integer"),
        kind.column("leavers", (each.leavers for each in staff), "integer"),
        kind.column("closing", [closing] * len(staff), "integer"),
        kind.column("salary", (each.salary for each in staff), "integer"),
        kind.column("cost", [cost] * len(staff), "integer"),
    ]
    return with_totals(kind.sheet(columns, When(year)), "hires", "leavers", "closing", "cost")


_PHASES = ("Planned", "In Progress", "Completed")
_QUARTERS = ("q1", "q2", "q3", "q4")
_YEAR_SUM = added(added("q1", "q2"), added("q3", "q4"))
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
    remaining = less("approved", "spent")
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
    growth = ratio(less("target", "last"), "last")
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
        cell = looked_up(last, "account", "total")
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
    columns = [kind.column("employee_id", ids, key="employee")]
    if habit.random() < 0.5:
        columns.append(kind.column("employee", names))
    columns.append(kind.column("department", places, key="department"))
    for name in kept:
        amounts = (chance.randrange(*_ALLOWANCES[name], 50) for _ in ids)
        columns.append(company.amount(kind.column(name, amounts, "integer"), when))
    columns.append(kind.column("total", [added(*kept)] * count, "integer"))
    return with_totals(kind.sheet(columns, when), *kept, "total")
