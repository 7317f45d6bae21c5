"""Make project workbooks: budgets, progress, milestones, and the registry of all projects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from sat_retriever.synth.book.model import Book
from sat_retriever.synth.categories.filing import Filed, Filing, Rows
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, days, months, some_days, spoken

_COSTS = ("Staff", "Equipment", "Materials", "Software", "External Services", "Travel")
_ISSUES = ("Late delivery", "Permit missing", "Scope change", "Staff shortage", "Budget tight")


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield for each year budgets, progress, the registry that sums both, and milestones."""
    filing = Filing.of(house, "projects", "each", "each", "year")
    for year in sorted(years):
        begun = [p for first in (year - 2, year - 1, year) for p in _begun(house, first)]
        running = [p for p in begun if p["planned_end"].year >= year]
        makers = (_budget, _progress, _registry, _milestones)
        yield from filing.bound(make(filing, running, When(year)) for make in makers)


def _begun(house: House, year: int) -> Rows:
    """Draw five projects that start in a year; ids and names continue from year to year."""
    first, count = 5 * ((year - 2015) % 60), 5
    chance = house.chance("projects", "begun", year)
    people, departments = house.pool("employees", 12), house.pool("departments", 6)
    ids = house.pool("project_ids", first + count)[first:]
    names = house.pool("projects", first + count)[first:]
    starts = sorted(date(year, 1, 4) + timedelta(chance.randint(0, 300)) for _ in range(count))
    return [
        {
            "project_id": number,
            "project_name": name,
            "department": chance.choice(departments),
            "manager": chance.choice(people),
            "start": start,
            "planned_end": start + timedelta(chance.randint(120, 800)),
            "pace": house.chance("projects", "pace", number).uniform(0.7, 1.15),
        }
        for number, name, start in zip(ids, names, starts, strict=True)
    ]


def _done(project: dict[str, Any], day: date) -> float:
    """Return the planned share of the work done by a day, in [0, 1]."""
    start, end = project["start"], project["planned_end"]
    return float(min(max((day - start) / (end - start), 0.0), 1.0))


def _budget(filing: Filing, running: Rows, when: When) -> Filed:
    chance = filing.chance("budget", when)
    lines = [p for p in running for _ in range(chance.choice((2, 2, 3, 4)))]
    totals = [5 * chance.randint(8, 160) for _ in lines]
    paid = [int(total * chance.uniform(0.4, 1.0)) for total in totals]
    used = [
        int(amount * _done(p, date(when.year, 12, 31)) * chance.uniform(0.6, 1.0))
        for p, amount in zip(lines, paid, strict=True)
    ]
    ids = dict.fromkeys(p["project_id"] for p in lines)
    items = {each: chance.sample(_COSTS, len(_COSTS)) for each in ids}  # none twice in a project
    given = {
        "cost_item": [items[p["project_id"]].pop() for p in lines],
        "total_budget": totals,
        "disbursed": paid,
        "used": used,
    }
    page, summed = filing.page("budget", when), filing.has("budget totals")
    return page.filed(lines, given, chance=chance, totals=summed)


def _progress(filing: Filing, running: Rows, when: When) -> Filed:
    """Make up to four reports per project, newest first; the newest is for December."""
    chance = filing.chance("progress", when)
    lines: list[tuple[dict[str, Any], When, date]] = []
    for project in running:
        ran = [m for m in months(when) if days(m)[-1] >= project["start"]]
        chosen = chance.sample(ran[:-1], min(len(ran) - 1, chance.randint(1, 3)))
        reported = (ran[-1], *sorted(chosen, reverse=True))
        lines += [(project, month, days(month)[-1]) for month in reported]
    planned = [round(_done(p, day), 2) for p, _, day in lines]
    actual = [
        round(min(share * p["pace"], 1.0), 2) for (p, *_), share in zip(lines, planned, strict=True)
    ]
    late = [real < plan for real, plan in zip(actual, planned, strict=True)]
    given: dict[str, Any] = {
        "month": [spoken(month) for _, month, _ in lines],
        "planned": planned,
        "actual": actual,
        "issues": (chance.choice(_ISSUES) if slow else None for slow in late),
        "updated": [day for *_, day in lines],
    }
    return filing.page("progress", when).filed([p for p, *_ in lines], given, chance=chance)


def _registry(filing: Filing, running: Rows, when: When) -> Filed:
    def status(project: dict[str, Any]) -> str:
        if _done(project, date(when.year, 12, 31)) * project["pace"] >= 1:
            return "Completed"
        return "Delayed" if project["pace"] < 0.85 else "In Progress"

    return filing.page("registry", when).filed(running, {"status": map(status, running)})


def _milestones(filing: Filing, running: Rows, when: When) -> Filed:
    chance = filing.chance("milestones", when)
    lines = [p for p in running for _ in range(chance.randint(1, 2))]
    due = some_days(chance, when, len(lines))
    delays = [chance.choice((0, 0, 0, 3, 7, 14, 30)) for _ in lines]
    done = [day + timedelta(late) for day, late in zip(due, delays, strict=True)]
    typed = () if filing.has("look up", share=0.6) else ("project_name", "manager")
    given = {"due": due, "done": done, "delay": delays}
    return filing.page("milestones", when).filed(lines, given, typed=typed, chance=chance)
