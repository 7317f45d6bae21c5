"""Make budget plans: annual budgets, quarterly reviews, forecasts and their roll-up."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from sat_retriever.synth.book.model import (
    Book,
    Choices,
    Column,
    Combine,
    Function,
    Own,
    Pivot,
    Sheet,
    Take,
    Through,
    Total,
)
from sat_retriever.synth.categories.filing import Given, Habit, Page, Place, Rows, Shelf, habits
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, quarters

_PERSONNEL = "Personnel"
_COSTS = (
    "Travel", "Training", "Marketing", "Software and IT", "Premises",
    "Consulting", "Office Supplies", "Repairs", "Insurance", "Energy",
)  # fmt: skip
_ASSETS = ("Machinery", "IT Equipment", "Buildings", "Vehicles", "Tools")
_STATUSES = (
    ("On Track", "Over Budget", "Under Spent"),
    ("Green", "Red", "Amber"),
    ("ok", "exceeded", "below plan"),
)
_PHASES = ("Planned", "In Progress", "Completed")
_SEASONS = {"q1": 0.94, "q2": 0.99, "q3": 0.97, "q4": 1.1}
_ALLOWANCES = {
    "travel": (500, 6_000),
    "training": (300, 3_000),
    "equipment": (400, 4_000),
    "software": (200, 2_500),
}
_COMMENTS = (
    "", "", "Late invoices", "Hiring later than planned", "Price increase", "One-off purchase",
    "Moved to next quarter",
)  # fmt: skip
_OPTIONAL = ("headcount", "capex", "revenue", "opex", "allocation")
HABITS: Mapping[str, Habit] = {
    "files": 0.3,  # each kind is a workbook of its own
    # Kinds of sheets beside the annual budget and the quarterly reviews.
    "kinds": lambda chance, _: [kind for kind in _OPTIONAL if chance.random() < 0.75],
    # Place of the reviews: tabs of the year's workbook or of a separate one, or one file each.
    "reviews": lambda chance, found: chance.choice(
        ("tabs", "files") if found.files else ("inside", "inside", "tabs")
    ),
    "dated": 0.35,  # headers of amounts name the year or quarter
    "coded": 0.4,  # budget lines have codes
    "owned": 0.35,  # budget lines have owners
    "rates": 0.6,  # variances are also shown in percent
    "listed": 0.5,  # statuses must be chosen from a hidden list
    "charted": 0.5,  # the summary has a chart
    "pivoted": 0.3,  # the summary has a pivot table
    "linked": 0.6,  # personnel cost is looked up in the headcount plan
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one year: budget lines, staff by department, and capital projects."""

    spends: Rows
    staff: Rows
    investments: Rows

    @property
    def departments(self) -> tuple[str, ...]:
        """The departments, in the order of all sheets."""
        return tuple(each["department"] for each in self.staff)

    @property
    def categories(self) -> tuple[str, ...]:
        """The cost categories, in order of first use."""
        return tuple(dict.fromkeys(spend["category"] for spend in self.spends))

    def spent(self, column: str, name: str, amount: str) -> int:
        """Return the sum of an amount over the lines of a department or category."""
        return sum(spend[amount] for spend in self.spends if spend[column] == name)


@dataclass(frozen=True, slots=True)
class Budget(Shelf):
    """A company's workbooks of plans."""

    years: Sequence[int]
    habits: SimpleNamespace
    plans: Mapping[int, Plan]

    def place(self, kind: str, when: When | None, part: str = "") -> Place:
        """Return workbook and tab; summary and lists are in the workbook of the annual budget."""
        if when is None:
            return Place(self.path(self.subject(kind), None), self.tab(kind))
        tab, bound, subject = self.tab(kind, when if when.quarter else None), When(when.year), ""
        if self.habits.files:
            subject = self.subject("annual" if kind in ("summary", "lists") else kind)
        if kind == "quarterly" and self.habits.reviews != "inside":
            subject = self.subject(kind)
            bound = when if self.habits.reviews == "files" else bound
        return Place(self.path(subject, bound), tab)

    def filled(
        self, page: Page, rows: Rows, given: Given, *, grouped: bool = False
    ) -> list[Column]:
        """Fill in columns; if that is the habit, headers of amounts name the year or quarter."""
        period = ""
        if self.habits.dated and page.when:
            period = f"Q{page.when.quarter}" if page.when.quarter else str(page.when.year)
        return page.columns(rows, given, grouped=grouped, period=period)


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the plans of a company, year by year, then the roll-up of two or more years."""
    plans = _plans(house, years)
    budget = Budget(house, "budget", sorted(plans), habits(house, "budget", HABITS), plans)
    for year in budget.years:
        yield from _year(budget, When(year))
    if len(budget.years) > 1:
        yield budget.book(budget.subject("rollup"), None, [_rollup(budget)])


def _year(budget: Budget, when: When) -> Iterator[Book]:
    kept = budget.habits
    reviews = [_quarterly(budget, quarter) for quarter in quarters(when.year)]
    subject = budget.subject("quarterly")
    if kept.reviews == "tabs":
        yield budget.book(subject, when, reviews)
    elif kept.reviews == "files":
        for quarter, sheet in zip(quarters(when.year), reviews, strict=True):
            yield budget.book(subject, quarter, [sheet])
    makers = {
        "headcount": _headcount,
        "capex": _capex,
        "revenue": _revenue,
        "allocation": _allocation,
        "opex": _opex,
    }  # each kind follows the sheets that it refers to
    made = {kind: make(budget, when) for kind, make in makers.items() if kind in kept.kinds}
    front = [_summary(budget, when), _annual(budget, when)]
    back = [_lists(budget, when)] if kept.listed else []
    if not kept.files:
        inside = reviews if kept.reviews == "inside" else []
        yield budget.book("", when, [*front, *inside, *made.values(), *back])
        return
    last = {"opex": made.pop("opex")} if "opex" in made else {}
    for kind, sheet in made.items():
        yield budget.book(budget.subject(kind), when, [sheet])
    yield budget.book(budget.subject("annual"), when, [*front, *back])
    for kind, sheet in last.items():
        yield budget.book(budget.subject(kind), when, [sheet])


def _plans(house: House, years: Sequence[int]) -> Mapping[int, Plan]:
    """Draw the plan of each year; staff carries over from one year to the next."""
    chance = house.chance("budget", "plans")
    departments = house.pool("departments", chance.randint(5, 9))
    costs = sorted(chance.sample(_COSTS, chance.randint(3, 6)), key=_COSTS.index)
    uses = [
        (department, cost)
        for department in departments
        for cost in costs
        if cost == costs[0] or chance.random() < 0.75
    ]
    bases = {use: chance.uniform(8_000, 90_000) for use in uses}
    size = {name: chance.randint(4, 45) for name in departments}
    salaries = {name: chance.uniform(38_000, 82_000) for name in departments}
    found = {}
    for count, year in enumerate(sorted(set(years))):
        growth = 1.025**count
        staff = []
        for name in departments:
            hires = chance.randint(0, max(1, size[name] // 5))
            leavers = chance.randint(0, max(0, min(size[name] - 2, size[name] // 6)))
            row = {"department": name, "opening": size[name], "hires": hires, "leavers": leavers}
            size[name] += hires - leavers
            salary = int(round(salaries[name] * growth, -2))
            staff.append(row | {"salary": salary, "cost": size[name] * salary})
        grown = {use: base * growth for use, base in bases.items()}
        investments = _investments(house, year, count, departments)
        found[year] = Plan(list(_spends(chance, staff, grown)), staff, investments)
    return found


def _spends(
    chance: random.Random, staff: Rows, bases: Mapping[tuple[str, str], float]
) -> Iterator[dict[str, Any]]:
    for each in staff:
        name, cost = each["department"], each["cost"]
        used = round(cost * chance.uniform(0.95, 1.03))
        yield _spend(name, _PERSONNEL, cost, cost, used)
        for (department, category), base in bases.items():
            if department == name:
                planned = round(base * chance.uniform(0.85, 1.15), -2)
                approved = round(planned * chance.uniform(0.82, 1.0), -2)
                actual = approved * max(chance.gauss(0.97, 0.09), 0.4)
                yield _spend(name, category, *map(round, (planned, approved, actual)))


def _spend(department: str, category: str, *amounts: int) -> dict[str, Any]:
    named = {"department": department, "category": category}
    return named | dict(zip(("planned", "approved", "actual"), amounts, strict=True))


def _investments(house: House, year: int, count: int, departments: Sequence[str]) -> Rows:
    """Draw the projects of a year: some continue from the year before, some are new."""
    first, size = 3 * count, house.chance("budget", "investments").randint(8, 14)
    ids = house.pool("project_ids", first + size)
    names = house.pool("projects", first + size)
    rows = []
    for place in range(first, first + size):
        fixed = house.chance("budget", "investment", place)
        approved = int(round(fixed.uniform(40_000, 900_000), -3))
        row = {"department": fixed.choice(departments), "category": fixed.choice(_ASSETS)}
        done = house.chance("budget", "investment", place, year).uniform(0.0, 0.35)
        completion = min(1.0, done + (first + size - place) / size * 0.75)
        spent = round(approved * min(1.08, completion * fixed.uniform(0.85, 1.15)))
        figures = {"approved": approved, "spent": spent, "completion": round(completion, 2)}
        rows.append({"project_id": ids[place], "project": names[place], **row, **figures})
    return rows


def _annual(budget: Budget, when: When) -> Sheet:
    page, plan, kept = budget.page("annual", when), budget.plans[when.year], budget.habits
    given: dict[str, Any] = {
        "code": [f"B{when.year % 100}-{n:03}" for n in range(1, len(plan.spends) + 1)],
        "status": [_status(budget, spend) for spend in plan.spends],
        "owner": None,
    }
    if kept.linked and "headcount" in kept.kinds:
        cost = page.formula("lookup(headcount.cost, department)")
        given["planned"] = [
            cost if spend["category"] == _PERSONNEL else spend["planned"] for spend in plan.spends
        ]
    if not kept.coded:
        given["code"] = None
    if not kept.rates:
        given["percent"] = None
    if kept.owned:
        managers = budget.house.pool("managers", len(plan.departments))
        owners = dict(zip(plan.departments, managers, strict=True))
        given["owner"] = [owners[spend["department"]] for spend in plan.spends]
    choices = []
    if kept.listed:
        chosen = ("department", "category", "status")
        choices = [Choices(name, page.at("lists"), name) for name in chosen]
    return page.sheet(budget.filled(page, plan.spends, given), choices=choices)


def _lists(budget: Budget, when: When) -> Sheet:
    plan = budget.plans[when.year]
    texts = (_statuses(budget), plan.departments, plan.categories)
    longest = max(map(len, texts))
    padded = ((*text, *[None] * (longest - len(text))) for text in texts)
    given: dict[str, Any] = dict(zip(("status", "department", "category"), padded, strict=True))
    page = budget.page("lists", when)
    return page.sheet(page.columns((), given | {"number": range(1, longest + 1)}))


def _statuses(budget: Budget) -> tuple[str, ...]:
    return budget.page("annual").chance("statuses").choice(_STATUSES)


def _status(budget: Budget, spend: Mapping[str, Any]) -> str:
    fine, over, under = _statuses(budget)
    if spend["actual"] > spend["approved"] * 1.02:
        return over
    return under if spend["actual"] < spend["approved"] * 0.9 else fine


def _headcount(budget: Budget, when: When) -> Sheet:
    page, given = budget.page("headcount", when), {}
    if when.year - 1 in budget.years and page.chance("carried").random() < 0.5:
        last = When(when.year - 1)
        given["opening"] = page.formula("lookup(headcount.closing, department)", last)
    return page.sheet(page.columns(budget.plans[when.year].staff, given, grouped=False))


def _capex(budget: Budget, when: When) -> Sheet:
    projects = budget.plans[when.year].investments
    done = (each["completion"] for each in projects)
    given = {"status": [_PHASES[(share > 0.1) + (share >= 1.0)] for share in done]}
    page = budget.page("capex", when)
    grouped = page.chance("grouped").random() < 0.25
    return page.sheet(budget.filled(page, projects, given, grouped=grouped))


def _revenue(budget: Budget, when: When) -> Sheet:
    page = budget.page("revenue", when)
    habit, chance = page.chance("rows"), page.chance(when.year)
    lines = budget.house.pool("products", habit.randint(4, 6))
    regions = budget.house.pool("regions", habit.randint(2, 4))
    rows = [{"line": line, "region": region} for line in lines for region in regions]
    grouped = habit.random() < 0.3
    sizes = [habit.uniform(60_000, 600_000) for _ in rows]
    growth = 1.03 ** (when.year - budget.years[0])
    given: dict[str, Any] = {
        quarter: [int(round(size * growth * season * chance.gauss(1, 0.06), -2)) for size in sizes]
        for quarter, season in _SEASONS.items()
    }
    given["confidence"] = chance.choices(("High", "Medium", "Low"), (5, 4, 2), k=len(rows))
    if when.year - 1 in budget.years and habit.random() < 0.5:
        at = page.at("revenue", When(when.year - 1))
        given["last"] = [Take(at, "target", row) for row in range(len(rows))]
    else:
        given |= {"last": None, "growth": None}
    return page.sheet(budget.filled(page, rows, given, grouped=grouped))


def _opex(budget: Budget, when: When) -> Sheet:
    page, plan = budget.page("opex", when), budget.plans[when.year]
    chance, habit = page.chance(when.year), page.chance("columns")
    grouped = habit.random() < 0.3
    totals = [plan.spent("category", name, "approved") for name in plan.categories]
    phased = [parts(chance, total, 4, 60.0) for total in totals]
    rows = [dict(zip(_SEASONS, each, strict=True)) for each in phased]
    given: dict[str, Any] = {
        "account": budget.house.pool("account_codes", len(rows)),
        "expense": plan.categories,
        "last": None,
    }
    if page.at("annual").book or habit.random() >= 0.7:
        given["approved"] = None
    if when.year - 1 in budget.years and habit.random() < 0.7:
        given["last"] = page.formula("lookup(opex.total, account)", When(when.year - 1))
    return page.sheet(budget.filled(page, rows, given, grouped=grouped))


def _allocation(budget: Budget, when: When) -> Sheet:
    page = budget.page("allocation", when)
    habit, chance = page.chance(), page.chance(when.year)
    count = habit.randint(14, 40)
    kept = [name for name in _ALLOWANCES if name != "software" or habit.random() < 0.6]
    departments = budget.plans[when.year].departments
    given: dict[str, Any] = {
        "software": None,
        "employee_id": budget.house.pool("employee_ids", count),
        "department": [habit.choice(departments) for _ in range(count)],
        "employee": budget.house.pool("employees", count) if habit.random() < 0.5 else None,
        "total": page.formula(" + ".join(kept)),
    }
    for name in kept:
        given[name] = [chance.randrange(*_ALLOWANCES[name], 50) for _ in range(count)]
    return page.sheet(budget.filled(page, [{}] * count, given))


def _quarterly(budget: Budget, when: When) -> Sheet:
    """Make the review of one quarter: one row per department, the same layout in all quarters."""
    page, plan = budget.page("quarterly", when), budget.plans[when.year]
    chance = page.chance(when.year, when.quarter)
    rows, given = [{"department": name} for name in plan.departments], dict[str, Any]()
    for name, amount in (("budget", "approved"), ("actual", "actual")):
        given[name] = []
        for department in plan.departments:  # four quarters sum to the year
            own = page.chance(when.year, department, name)
            total = plan.spent("department", department, amount)
            given[name].append(parts(own, total, 4, 200.0)[when.quarter - 1])
        ytd = f"ytd_{name}"
        given[ytd] = page.formula(name)
        if when.quarter > 1:
            before = When(when.year, quarter=when.quarter - 1)
            given[ytd] = page.formula(f"lookup(quarterly.{ytd}, department) + {name}", before)
            at = page.at("quarterly", before)
            if not at.book:  # other files are looked up by name; within a workbook, rows are equal
                given[ytd] = [
                    Combine("+", Take(at, ytd, row), Own(name)) for row in range(len(rows))
                ]
    given |= {"adjustment": None, "comment": None}
    if page.chance("columns", "adjustment").random() < 0.6:
        given["adjustment"] = [chance.choice((0, 0, 500, -500, 1_000, -2_000)) for _ in rows]
    if page.chance("columns", "comment").random() < 0.5:
        given["comment"] = chance.choices(_COMMENTS, k=len(rows))
    return page.sheet(budget.filled(page, rows, given))


def _summary(budget: Budget, when: When) -> Sheet:
    page, kept = budget.page("summary", when), budget.habits
    rows: Rows = [{"department": name} for name in budget.plans[when.year].departments]
    given: dict[str, Any] = {"reviewed": None}
    if "capex" not in kept.kinds or page.at("capex").book:
        given["capex"] = None
    if "headcount" not in kept.kinds:
        given["people"] = None
    first, *_, last = quarters(when.year)
    ends = page.at("quarterly", first), page.at("quarterly", last)
    if not ends[0].book:
        one, other = (at.sheet for at in ends)
        given["reviewed"] = [Through(one, other, "actual", row) for row in range(len(rows))]
    elif page.chance("reviewed").random() < 0.5:
        given["reviewed"] = page.formula("lookup(quarterly.ytd_actual, department)", last)
    pivots = [Pivot(page.at("annual"), "department", "approved")] if kept.pivoted else []
    return page.sheet(budget.filled(page, rows, given), chart=kept.charted, pivots=pivots)


def _rollup(budget: Budget) -> Sheet:
    by_year = budget.page("rollup").chance("rows").random() < 0.5
    page, years = budget.page("rollup", form="years" if by_year else "departments"), budget.years
    if by_year:
        totals: dict[str, tuple[str, Function]] = {
            "planned": ("planned", "SUM"),
            "approved": ("approved", "SUM"),
            "actual": ("actual", "SUM"),
            "lines": ("approved", "COUNT"),
            "largest": ("approved", "MAX"),
        }
        budgets = [page.at("annual", When(year)) for year in years]
        sums = {name: [Total(at, *total) for at in budgets] for name, total in totals.items()}
        return page.sheet(page.columns([{"year": str(year)} for year in years], sums))
    rows = [{"department": name} for name in budget.plans[years[0]].departments]
    actual = []
    for year in years:
        cell = page.formula("lookup(summary.actual, department)", When(year))
        column = page.column("actual", [cell] * len(rows), "integer")
        actual.append(replace(column, id=f"y{year}", header=f"{column.header} {year}"))
    mean = page.formula(f"({' + '.join(each.id for each in actual)}) / {len(years)}")
    names, means = page.columns(rows, {"mean": mean})
    return page.sheet([names, *actual, means])


def parts(chance: random.Random, total: int, count: int, even: float = 4.0) -> tuple[int, ...]:
    """Return whole numbers that sum to `total`; a greater `even` makes them more similar.

    >>> sum(parts(random.Random(1), 1000, 7))
    1000
    """
    weights = [chance.gammavariate(even, 1.0) for _ in range(count)]
    scale = math.fsum(weights)
    shares = [int(total * weight / scale) for weight in weights]
    shares[shares.index(max(shares))] += total - sum(shares)
    return tuple(shares)
