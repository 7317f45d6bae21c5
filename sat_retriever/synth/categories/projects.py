"""Make project workbooks: budgets, progress, milestones, and the registry of all projects."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sat_retriever.synth.book.build import (
    Cells,
    less,
    looked_up,
    ratio,
    summed_by,
    times,
    with_chart,
)
from sat_retriever.synth.book.model import Book, Column, Number, Recipe
from sat_retriever.synth.categories.filing import Filed, Filing, Page, changed
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, days, months, some_days, spoken

ID = "projects"
_COSTS = ("Staff", "Equipment", "Materials", "Software", "External Services", "Travel")
_FUNDS = ("Own Funds", "Bank Loan", "Public Grant", "Group Funding")
_WORKS = (
    "Requirements agreed",
    "Design reviewed",
    "Orders placed",
    "Installation started",
    "Pilot running",
    "Staff trained",
    "Tests passed",
    "Handover prepared",
)
_ISSUES = ("Late delivery", "Permit missing", "Scope change", "Staff shortage", "Budget tight")
_GATES = ("Kick-off", "Concept", "Design Freeze", "Delivery", "Acceptance", "Closing")


@dataclass(frozen=True, slots=True)
class Project:
    """One project, equal in all workbooks of the house."""

    id: str
    name: str
    department: str
    manager: str
    start: date
    end: date

    def done(self, day: date) -> float:
        """Return the planned share of the work done by a day, in [0, 1]."""
        return min(max((day - self.start) / (self.end - self.start), 0.0), 1.0)

    def so_far(self, when: When) -> float:
        """Return the planned share of the work done by the end of a year."""
        return self.done(date(when.year, 12, 31))

    def pace(self, house: House) -> float:
        """Return the speed relative to the plan."""
        return house.chance(ID, "pace", self.id).uniform(0.7, 1.15)

    def status(self, house: House, when: When) -> str:
        """Return the status at the end of a year."""
        if self.so_far(when) * self.pace(house) >= 1:
            return "Completed"
        return "Delayed" if self.pace(house) < 0.85 else "In Progress"


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield for each year budgets, progress, the registry that sums both, and milestones."""
    filing = Filing.of(house, ID, "each", "each", "year")
    for year in sorted(years):
        running = _running_in(house, year)
        makers = (_budget, _progress, _registry, _milestones)
        yield from filing.bound(make(filing, running, When(year)) for make in makers)


def _running_in(house: House, year: int) -> tuple[Project, ...]:
    """Return the projects begun in a year, and those of the two years before that still run."""
    found = [p for begun in (year - 2, year - 1, year) for p in _begun(house, begun)]
    return tuple(p for p in found if p.end.year >= year)


def _begun(house: House, year: int) -> list[Project]:
    """Draw five projects that start in a year; ids and names continue from year to year."""
    first, count = 5 * ((year - 2015) % 60), 5
    chance = house.chance(ID, "begun", year)
    people, departments = house.pool("employees", 12), house.pool("departments", 6)
    ids = house.pool("project_ids", first + count)[first:]
    names = house.pool("projects", first + count)[first:]
    starts = sorted(date(year, 1, 4) + timedelta(chance.randint(0, 300)) for _ in range(count))
    return [
        Project(
            number,
            name,
            chance.choice(departments),
            chance.choice(people),
            start,
            start + timedelta(chance.randint(120, 800)),
        )
        for number, name, start in zip(ids, names, starts, strict=True)
    ]


def _who(page: Page, projects: Sequence[Project], *, unique: bool = False) -> list[Column]:
    return [
        page.column("project_id", [p.id for p in projects], key="project", unique=unique),
        page.column("project_name", [p.name for p in projects]),
    ]


def _budget(filing: Filing, running: Sequence[Project], when: When) -> Filed:
    chance = filing.chance("budget", when)
    lines = [p for p in running for _ in range(chance.choice((2, 2, 3, 4)))]
    page = filing.page("budget", when, len(lines))
    totals = [5 * chance.randint(8, 160) for _ in lines]
    paid = [int(total * chance.uniform(0.4, 1.0)) for total in totals]
    used = [
        int(amount * p.so_far(when) * chance.uniform(0.6, 1.0))
        for p, amount in zip(lines, paid, strict=True)
    ]
    columns = [
        *_who(page, lines),
        page.column("cost_item", _items(chance, lines)),
        page.column("funding", [chance.choice(_FUNDS) for _ in lines]),
        page.column("total_budget", totals, "amount"),
        page.column("disbursed", paid, "amount"),
        page.column("used", used, "amount"),
        page.column("remaining", less("total_budget", "used"), "amount"),
        page.column("execution_rate", ratio("used", "total_budget"), "percent"),
    ]
    summed = ("total_budget", "used", "remaining")
    return page.filed(
        columns,
        ("funding", "disbursed", "execution_rate"),
        groups={"group_money": ("total_budget", "disbursed", "used", "remaining")},
        totals=summed if filing.has("budget totals") else (),
    )


def _items(chance: random.Random, lines: Sequence[Project]) -> list[str]:
    """Draw cost items, none twice in one project."""
    items = {p.id: chance.sample(_COSTS, len(_COSTS)) for p in dict.fromkeys(lines)}
    return [items[p.id].pop() for p in lines]


def _progress(filing: Filing, running: Sequence[Project], when: When) -> Filed:
    """Make up to four reports per project, newest first; the newest is for December."""
    chance = filing.chance("progress", when)
    lines: list[tuple[Project, When]] = []
    for project in running:
        ran = [m for m in months(when) if days(m)[-1] >= project.start]
        chosen = chance.sample(ran[:-1], min(len(ran) - 1, chance.randint(1, 3)))
        lines += [(project, month) for month in (ran[-1], *sorted(chosen, reverse=True))]
    page = filing.page("progress", when, len(lines))
    planned = [round(p.done(days(month)[-1]), 2) for p, month in lines]
    actual = [
        round(min(share * p.pace(filing.house), 1.0), 2)
        for (p, _), share in zip(lines, planned, strict=True)
    ]
    late = [real < plan for real, plan in zip(actual, planned, strict=True)]
    budget = summed_by(page.at("budget", when), "project_id", "total_budget")
    columns = [
        *_who(page, [p for p, _ in lines]),
        page.column("month", [spoken(month) for _, month in lines]),
        page.column("work", [chance.choice(_WORKS) for _ in lines]),
        page.column("planned", planned, "percent"),
        page.column("actual", actual, "percent"),
        page.column("remaining", less(Number(1), "actual"), "percent"),
        page.column("total_budget", budget, "amount"),
        page.column("earned", times("actual", "total_budget"), "amount"),
        page.column("issues", [chance.choice(_ISSUES) if slow else None for slow in late]),
        page.column("updated", [days(month)[-1] for _, month in lines], "date"),
    ]
    return page.filed(columns, ("month", "work", "remaining", "earned", "issues", "updated"))


def _registry(filing: Filing, running: Sequence[Project], when: When) -> Filed:
    """Make the registry: every project with its budget sums and its latest progress."""
    page = filing.page("registry", when, len(running), summary=True)
    budgets = page.at("budget", when)
    latest = looked_up(page.at("progress", when), "project_id", "actual")
    columns = [
        *_who(page, running, unique=True),
        page.column("department", [p.department for p in running]),
        page.column("manager", [p.manager for p in running]),
        page.column("status", [p.status(filing.house, when) for p in running]),
        page.column("start", [p.start for p in running], "date"),
        page.column("planned_end", [p.end for p in running], "date"),
        page.column("budget", summed_by(budgets, "project_id", "total_budget"), "amount"),
        page.column("spent", summed_by(budgets, "project_id", "used"), "amount"),
        page.column("left", less("budget", "spent"), "amount"),
        page.column("completion", latest, "percent"),
    ]
    filed = page.filed(columns, ("department", "status", "start", "left"))
    if filing.has("chart", share=0.4):
        filed = changed(filed, with_chart, "project_name", "budget")
    return filed


def _milestones(filing: Filing, running: Sequence[Project], when: When) -> Filed:
    """Make the year's milestones; names and managers are looked up if the house does so."""
    chance = filing.chance("milestones", when)
    lines = [p for p in running for _ in range(chance.randint(1, 2))]
    page = filing.page("milestones", when, len(lines))
    names: Cells | Recipe = [p.name for p in lines]
    managers: Cells | Recipe = [p.manager for p in lines]
    if filing.has("look up", share=0.6):
        names, managers = (
            looked_up(page.at("registry", when), "project_id", column)
            for column in ("project_name", "manager")
        )
    due = some_days(chance, when, page.rows)
    delays = [chance.choice((0, 0, 0, 3, 7, 14, 30)) for _ in lines]
    done = [day + timedelta(late) for day, late in zip(due, delays, strict=True)]
    numbers = [f"MS{when.year % 100:02}{n:03}" for n in range(1, page.rows + 1)]
    columns = [
        page.column("milestone_no", numbers),
        page.column("project_id", [p.id for p in lines], key="project"),
        page.column("project_name", names),
        page.column("milestone", [chance.choice(_GATES) for _ in lines]),
        page.column("due", due, "date"),
        page.column("done", done, "date"),
        page.column("delay", delays, "integer"),
        page.column("manager", managers),
        page.column("payment", [chance.choice((0.0, 0.1, 0.2, 0.3)) for _ in lines], "percent"),
    ]
    return page.filed(columns, ("milestone_no", "delay", "manager", "payment"))
