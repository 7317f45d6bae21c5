"""Make quarterly reviews: each department's budget and spending, also for the year to date."""

from __future__ import annotations

from sat_retriever.synth.book.build import parts
from sat_retriever.synth.book.model import Combine, Lookup, Own, Recipe, Sheet, Take
from sat_retriever.synth.categories.budget.company import Company
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
        kind.column("variance", [Combine("-", Own("budget"), Own("actual"))] * count, "integer"),
        kind.column("utilisation", [Combine("/", Own("actual"), Own("budget"))] * count, "percent"),
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
        last = Lookup(at, "department", "department", f"ytd_{name}")
    return Combine("+", last, Own(name))
