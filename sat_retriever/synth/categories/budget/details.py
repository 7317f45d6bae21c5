"""Make the annual budget line by line, its hidden list of choices, and the headcount plan."""

from __future__ import annotations

from dataclasses import replace

from sat_retriever.synth.book.build import with_totals
from sat_retriever.synth.book.model import Choices, Combine, Lookup, Own, Recipe, Sheet
from sat_retriever.synth.categories.budget.company import Company
from sat_retriever.synth.categories.budget.plan import PERSONNEL, Spend
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
        cost = Lookup(at, "department", "department", "cost")
        planned = [cost if spend.category == PERSONNEL else spend.planned for spend in spends]
    amounts = [
        kind.column("planned", planned, "integer"),
        kind.column("approved", (spend.approved for spend in spends), "integer"),
        kind.column("actual", (spend.actual for spend in spends), "integer"),
    ]
    variance = Combine("-", Own("approved"), Own("actual"))
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
        rate = Combine("/", Own("variance"), Own("approved"))
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
        opening = [Lookup(at, "department", "department", "closing")] * len(staff)
    closing = Combine("-", Combine("+", Own("opening"), Own("hires")), Own("leavers"))
    cost = Combine("*", Own("closing"), Own("salary"))
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
