"""Make sheets with a row per employee (roster, payroll, attendance) and their summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from sat_retriever.synth.book.build import with_totals
from sat_retriever.synth.book.model import (
    Chart,
    Choices,
    Column,
    Combine,
    Lookup,
    Number,
    Own,
    Pivot,
    Recipe,
    SheetAt,
    Total,
    TotalWhere,
    Value,
)
from sat_retriever.synth.categories.filing import (
    Filed,
    Filing,
    arranged,
    either,
    grouped,
    noted,
    tabled,
)
from sat_retriever.synth.categories.hr.people import ID, Person, departments_of
from sat_retriever.synth.house.when import When, days, months, spoken


def roster(filing: Filing, staff: Sequence[Person], when: When) -> Filed:
    """Make the roster of a year, the sheet that owns the employee numbers."""
    kind = filing.kind("roster")
    end = date(when.year, 12, 31)
    columns = [
        kind.column("employee_id", [p.id for p in staff], key="employee", unique=True),
        kind.column("name", [p.name for p in staff]),
        kind.column("gender", [p.gender for p in staff]),
        kind.column("age", [(end - p.born).days // 365 for p in staff], "integer"),
        kind.column("department", [p.department for p in staff]),
        kind.column("position", [p.position for p in staff]),
        kind.column("grade", [p.grade for p in staff]),
        kind.column("fte", [p.time for p in staff], "amount"),
        kind.column("hire_date", [p.hired for p in staff], "date"),
        kind.column("education", [p.degree for p in staff]),
        kind.column("base_salary", [p.paid(when.year) for p in staff], "amount"),
        kind.column("contract", [p.contract for p in staff]),
    ]
    optional = ("gender", "age", "position", "grade", "education", "contract")
    filed = filing.sheet("roster", when, arranged(kind, columns, optional))
    if filing.mode == "year" and either(filing.house, ID, "lists", share=0.7):
        at = SheetAt(filing.place("lists", when).sheet)
        choices = (Choices("department", at, "department"),)
        filed = noted(filed, lambda sheet: replace(sheet, choices=choices))
    return noted(filed, lambda sheet: tabled(sheet, "Staff"))


def who(filing: Filing, kind_id: str, staff: Sequence[Person], when: When) -> list[Column]:
    """Return number, name and department columns, looked up in the roster if the house does so."""
    kind = filing.kind(kind_id)
    names: list[Value | Recipe] = [p.name for p in staff]
    departments: list[Value | Recipe] = [p.department for p in staff]
    if either(filing.house, ID, "look up", kind_id, share=0.6):
        names = [_from_roster(filing, kind_id, when, "name")] * len(staff)
        departments = [_from_roster(filing, kind_id, when, "department")] * len(staff)
    return [
        kind.column("employee_id", [p.id for p in staff], key="employee"),
        kind.column("name", names),
        kind.column("department", departments),
    ]


def _from_roster(filing: Filing, kind: str, when: When, column: str) -> Lookup:
    at = filing.place("roster", When(when.year)).at(filing.place(kind, when))
    return Lookup(at, "employee_id", "employee_id", column)


def payroll(filing: Filing, staff: Sequence[Person], when: When) -> Filed:
    """Make the payroll of a month, or of a year with the averages of its months."""
    kind, chance = filing.kind("payroll"), filing.house.chance(ID, "payroll", when)
    count = len(staff)
    base: list[Value | Recipe] = [_from_roster(filing, "payroll", when, "base_salary")] * count
    if not either(filing.house, ID, "base looked up", share=0.75):
        base = [p.paid(when.year) for p in staff]
    extras = ("bonus", "overtime_pay", "allowance")
    gross: Recipe = Own("base_salary")
    for extra in extras:
        gross = Combine("+", gross, Own(extra))
    net = _less(_less(Own("gross"), Own("social_security")), Own("income_tax"))
    columns: Sequence[Column] = [
        *who(filing, "payroll", staff, when),
        kind.column("month", [spoken(when)] * count),
        kind.column("base_salary", base, "amount"),
        kind.column("bonus", [10 * chance.randint(0, 90) for _ in staff], "amount"),
        kind.column(
            "overtime_pay", [chance.choice((0, 0, 60, 120, 185, 240)) for _ in staff], "amount"
        ),
        kind.column("allowance", [chance.choice((0, 50, 80, 150)) for _ in staff], "amount"),
        kind.column("gross", [gross] * count, "amount"),
        kind.column("social_security", [_share("gross", 0.105)] * count, "amount"),
        kind.column("income_tax", [_share("gross", 0.16)] * count, "amount"),
        kind.column("net", [net] * count, "amount"),
    ]
    columns = arranged(kind, columns, ("department", "month"))
    columns = grouped(kind, columns, "group_earnings", "base_salary", *extras)
    columns = grouped(kind, columns, "group_deductions", "social_security", "income_tax")
    filed = filing.sheet("payroll", when, columns)
    if either(filing.house, ID, "payroll totals"):
        return noted(filed, lambda sheet: with_totals(sheet, "gross", "net"))
    return filed


def _share(column: str, rate: float) -> Combine:
    return Combine("*", Own(column), Number(rate))


def _less(left: Recipe, right: Recipe) -> Combine:
    return Combine("-", left, right)


def attendance(filing: Filing, staff: Sequence[Person], when: When) -> Filed:
    """Make the days and hours of everyone in a month or a year."""
    kind, chance = filing.kind("attendance"), filing.house.chance(ID, "attendance", when)
    count, due, span = len(staff), len(days(when)), len(months(when))
    absent: list[Value | Recipe] = [chance.choice((0, 0, 1, 1, 2, 3)) for _ in staff]
    if not when.month:  # a year's leave is in the leave records
        at = filing.place("leave", when).at(filing.place("attendance", when))
        absent = [TotalWhere(at, "days", "employee_id", "employee_id")] * count
    columns = [
        *who(filing, "attendance", staff, when),
        kind.column("month", [spoken(when)] * count),
        kind.column("workdays", [due] * count, "integer"),
        kind.column("attended", [_less(Own("workdays"), Own("leave_days"))] * count, "integer"),
        kind.column("late", [chance.randint(0, 2 + span) for _ in staff], "integer"),
        kind.column("early", [chance.randint(0, 1 + span // 2) for _ in staff], "integer"),
        kind.column("leave_days", absent, "integer"),
        kind.column("overtime_hours", [chance.randint(0, 12 * span) for _ in staff], "integer"),
        kind.column("rate", [Combine("/", Own("attended"), Own("workdays"))] * count, "percent"),
    ]
    optional = ("department", "month", "late", "early", "rate")
    return filing.sheet("attendance", when, arranged(kind, columns, optional))


def headcount(filing: Filing, when: When) -> Filed:
    """Sum staff, pay, training and leave by department from the sheets of the year."""
    kind, departments = filing.kind("headcount"), departments_of(filing.house)
    own, count = filing.place("headcount", when), len(departments)

    def by_department(source: str, column: str) -> list[TotalWhere]:
        at = filing.place(source, when).at(own)
        return [TotalWhere(at, column, "department", "department")] * count

    everyone = Total(filing.place("roster", when).at(own), "fte")
    columns = [
        kind.column("department", departments),
        kind.column("headcount", by_department("roster", "fte"), "amount"),
        kind.column("salary_cost", by_department("roster", "base_salary"), "amount"),
        kind.column(
            "average_salary", [Combine("/", Own("salary_cost"), Own("headcount"))] * count, "amount"
        ),
        kind.column("training_hours", by_department("training", "hours"), "integer"),
        kind.column("leave_days", by_department("leave", "days"), "integer"),
        kind.column("share", [Combine("/", Own("headcount"), everyone)] * count, "percent"),
    ]
    columns_kept = arranged(
        kind, columns, ("average_salary", "training_hours", "leave_days", "share")
    )
    filed = filing.sheet("headcount", when, columns_kept, summary=True)
    filed = noted(filed, lambda sheet: with_totals(sheet, "headcount", "salary_cost"))
    at = SheetAt(filed[2].name)
    if either(filing.house, ID, "chart"):
        charts = (Chart(at, "department", "headcount"),)
        filed = noted(filed, lambda sheet: replace(sheet, charts=charts))
    if filing.mode == "year" and either(filing.house, ID, "pivot", share=0.3):
        source = SheetAt(filing.place("roster", when).sheet)
        pivots = (Pivot(source, "department", "base_salary"),)
        filed = noted(filed, lambda sheet: replace(sheet, pivots=pivots))
    return filed
