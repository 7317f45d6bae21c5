"""Make the four sheets of a year: budget, progress, registry and milestones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from sat_retriever.synth.book.build import with_totals
from sat_retriever.synth.book.model import (
    Chart,
    Column,
    Combine,
    Lookup,
    Number,
    Own,
    Recipe,
    SheetAt,
    TotalWhere,
    Value,
)
from sat_retriever.synth.categories.filing import Filed, Filing, arranged, either, grouped, noted
from sat_retriever.synth.categories.projects.plan import ID, Project, pace, so_far, status
from sat_retriever.synth.house.when import When, days, months, some_days, spoken

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


def _who(
    filing: Filing, kind_id: str, projects: Sequence[Project], *, unique: bool
) -> list[Column]:
    kind = filing.kind(kind_id)
    ids = [p.id for p in projects]
    return [
        kind.column("project_id", ids, key="project", unique=unique),
        kind.column("project_name", [p.name for p in projects]),
    ]


def budget(filing: Filing, running: Sequence[Project], when: When) -> Filed:
    """Make the budget, with two to four cost items per project."""
    kind, chance = filing.kind("budget"), filing.house.chance(ID, "budget", when)
    lines = [p for p in running for _ in range(chance.choice((2, 2, 3, 4)))]
    count = len(lines)
    totals = [5 * chance.randint(8, 160) for _ in lines]
    paid = [int(total * chance.uniform(0.4, 1.0)) for total in totals]
    used = [
        int(amount * so_far(p, when) * chance.uniform(0.6, 1.0))
        for p, amount in zip(lines, paid, strict=True)
    ]
    left = Combine("-", Own("total_budget"), Own("used"))
    columns: Sequence[Column] = [
        *_who(filing, "budget", lines, unique=False),
        kind.column("cost_item", _items(chance, lines)),
        kind.column("funding", [chance.choice(_FUNDS) for _ in lines]),
        kind.column("total_budget", totals, "amount"),
        kind.column("disbursed", paid, "amount"),
        kind.column("used", used, "amount"),
        kind.column("remaining", [left] * count, "amount"),
        kind.column("execution_rate", [_ratio("used", "total_budget")] * count, "percent"),
    ]
    columns = arranged(kind, columns, ("funding", "disbursed", "execution_rate"))
    columns = grouped(
        kind, columns, "group_money", "total_budget", "disbursed", "used", "remaining"
    )
    filed = filing.sheet("budget", when, columns)
    if either(filing.house, ID, "budget totals"):
        return noted(filed, lambda sheet: with_totals(sheet, "total_budget", "used", "remaining"))
    return filed


def _items(chance: random.Random, lines: Sequence[Project]) -> list[str]:
    """Draw cost items, none twice in one project."""
    items = {p.id: chance.sample(_COSTS, len(_COSTS)) for p in dict.fromkeys(lines)}
    return [items[p.id].pop() for p in lines]


def _ratio(left: str, right: str) -> Combine:
    return Combine("/", Own(left), Own(right))


def progress(filing: Filing, running: Sequence[Project], when: When) -> Filed:
    """Make up to four reports per project, newest first; the newest is for December."""
    kind, chance = filing.kind("progress"), filing.house.chance(ID, "progress", when)
    lines: list[tuple[Project, When]] = []
    for project in running:
        ran = [m for m in months(when) if days(m)[-1] >= project.start]
        chosen = chance.sample(ran[:-1], min(len(ran) - 1, chance.randint(1, 3)))
        lines += [(project, month) for month in (ran[-1], *sorted(chosen, reverse=True))]
    projects, count = [p for p, _ in lines], len(lines)
    planned = [round(p.done(days(month)[-1]), 2) for p, month in lines]
    actual = [
        round(min(share * pace(filing.house, p), 1.0), 2)
        for p, share in zip(projects, planned, strict=True)
    ]
    late = [real < plan for real, plan in zip(actual, planned, strict=True)]
    at = filing.place("budget", when).at(filing.place("progress", when))
    budget = TotalWhere(at, "total_budget", "project_id", "project_id")
    columns = [
        *_who(filing, "progress", projects, unique=False),
        kind.column("month", [spoken(month) for _, month in lines]),
        kind.column("work", [chance.choice(_WORKS) for _ in lines]),
        kind.column("planned", planned, "percent"),
        kind.column("actual", actual, "percent"),
        kind.column("remaining", [Combine("-", Number(1), Own("actual"))] * count, "percent"),
        kind.column("total_budget", [budget] * count, "amount"),
        kind.column("earned", [Combine("*", Own("actual"), Own("total_budget"))] * count, "amount"),
        kind.column("issues", [chance.choice(_ISSUES) if slow else None for slow in late]),
        kind.column("updated", [days(month)[-1] for _, month in lines], "date"),
    ]
    optional = ("month", "work", "remaining", "earned", "issues", "updated")
    return filing.sheet("progress", when, arranged(kind, columns, optional))


def registry(filing: Filing, running: Sequence[Project], when: When) -> Filed:
    """Make the registry: every project with its budget sums and its latest progress."""
    kind, own, count = filing.kind("registry"), filing.place("registry", when), len(running)
    budgets, progress = (filing.place(k, when).at(own) for k in ("budget", "progress"))

    def of_budget(column: str) -> list[TotalWhere]:
        return [TotalWhere(budgets, column, "project_id", "project_id")] * count

    latest = Lookup(progress, "project_id", "project_id", "actual")
    columns = [
        *_who(filing, "registry", running, unique=True),
        kind.column("department", [p.department for p in running]),
        kind.column("manager", [p.manager for p in running]),
        kind.column("status", [status(filing.house, p, when) for p in running]),
        kind.column("start", [p.start for p in running], "date"),
        kind.column("planned_end", [p.end for p in running], "date"),
        kind.column("budget", of_budget("total_budget"), "amount"),
        kind.column("spent", of_budget("used"), "amount"),
        kind.column("left", [Combine("-", Own("budget"), Own("spent"))] * count, "amount"),
        kind.column("completion", [latest] * count, "percent"),
    ]
    optional = ("department", "status", "start", "left")
    filed = filing.sheet("registry", when, arranged(kind, columns, optional), summary=True)
    if either(filing.house, ID, "chart", share=0.4):
        charts = (Chart(SheetAt(filed[2].name), "project_name", "budget"),)
        filed = noted(filed, lambda sheet: replace(sheet, charts=charts))
    return filed


def milestones(filing: Filing, running: Sequence[Project], when: When) -> Filed:
    """Make the year's milestones; names and managers are looked up if the house does so."""
    kind, chance = filing.kind("milestones"), filing.house.chance(ID, "milestones", when)
    lines = [p for p in running for _ in range(chance.randint(1, 2))]
    count = len(lines)
    names: list[Value | Recipe] = [p.name for p in lines]
    managers: list[Value | Recipe] = [p.manager for p in lines]
    if either(filing.house, ID, "look up", share=0.6):
        at = filing.place("registry", when).at(filing.place("milestones", when))
        names = [Lookup(at, "project_id", "project_id", "project_name")] * count
        managers = [Lookup(at, "project_id", "project_id", "manager")] * count
    due = some_days(chance, when, count)
    delays = [chance.choice((0, 0, 0, 3, 7, 14, 30)) for _ in lines]
    done = [day + timedelta(late) for day, late in zip(due, delays, strict=True)]
    columns = [
        kind.column("milestone_no", [f"MS{when.year % 100:02}{n:03}" for n in range(1, count + 1)]),
        kind.column("project_id", [p.id for p in lines], key="project"),
        kind.column("project_name", names),
        kind.column("milestone", [chance.choice(_GATES) for _ in lines]),
        kind.column("due", due, "date"),
        kind.column("done", done, "date"),
        kind.column("delay", delays, "integer"),
        kind.column("manager", managers),
        kind.column("payment", [chance.choice((0.0, 0.1, 0.2, 0.3)) for _ in lines], "percent"),
    ]
    optional = ("milestone_no", "delay", "manager", "payment")
    return filing.sheet("milestones", when, arranged(kind, columns, optional))
