"""Make staff workbooks: roster, payroll, attendance, training and leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sat_retriever.synth.book.build import (
    Cells,
    added,
    less,
    looked_up,
    ratio,
    summed_by,
    times,
    with_chart,
)
from sat_retriever.synth.book.model import (
    Book,
    Choices,
    Column,
    Layout,
    Lookup,
    Number,
    Pivot,
    Recipe,
    SheetAt,
    Total,
)
from sat_retriever.synth.categories.filing import Filed, Filing, Page, changed, tabled
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, days, months, some_days, spoken

ID = "hr"
_CONTRACTS = ("Permanent", "Fixed term", "Part-time", "Apprentice", "Freelance")
_DEGREES = ("Secondary School", "Vocational Training", "Bachelor", "Master", "Doctorate")
_LEVELS = ("P1", "P2", "P3", "P4", "P5", "M1", "M2")
_LEAVES = ("Annual", "Sick", "Parental", "Unpaid", "Study", "Bereavement")
_FIRST, _LAST = date(2006, 1, 1), date(2026, 6, 30)
_PASS = 60


@dataclass(frozen=True, slots=True)
class Person:
    """One employee.

    Attributes:
        time: Share of full time, in (0, 1].
        pay: Monthly base salary on the first day, in whole tens.
    """

    id: str
    name: str
    gender: str
    born: date
    department: str
    position: str
    grade: str
    time: float
    hired: date
    degree: str
    contract: str
    pay: int

    def paid(self, year: int) -> int:
        """Return the monthly base salary of a year, which grows by two per cent each year."""
        return round(self.pay * 1.02 ** max(0, year - self.hired.year) / 10) * 10


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the workbooks of each year: roster, payroll, attendance, training, leave, headcount.

    A house has one payroll and one attendance sheet either per year or per month.
    """
    filing = Filing.of(house, ID, "each", "kind", "kind", "year", beside={"lists": "leave"})
    everyone = _staff(house)
    for year in sorted(years):
        staff = [p for place, p in enumerate(everyone) if place < 12 or p.hired.year <= year]
        yield from filing.bound(_year(filing, staff, When(year)))


def _year(filing: Filing, staff: Sequence[Person], when: When) -> Iterator[Filed]:
    yield _roster(filing, staff, when)
    periods = months(when) if filing.has("monthly", share=0.4) else (when,)
    yield from (_payroll(filing, staff, period) for period in periods)
    yield _training(filing, staff, when)
    yield _leave(filing, staff, when)
    if _has_lists(filing):
        yield _lists(filing, when)
    yield from (_attendance(filing, staff, period) for period in periods)
    yield _headcount(filing, when)


def _departments(house: House) -> tuple[str, ...]:
    return house.pool("departments", house.chance(ID, "departments").randint(5, 8))


def _has_lists(filing: Filing) -> bool:
    return filing.has("lists", share=0.7)


def _staff(house: House) -> tuple[Person, ...]:
    """Draw everyone who ever worked there: 30 to 44 people, in order of their numbers."""
    chance = house.chance(ID, "staff")
    count = chance.randint(30, 44)
    departments, positions = _departments(house), house.pool("job_titles", 14)
    span = (_LAST - _FIRST).days
    hired = sorted(_FIRST + timedelta(int(span * chance.random() ** 2)) for _ in range(count))
    names = zip(house.pool("employee_ids", count), house.pool("employees", count), strict=True)
    staff = []
    for place, (number, name) in enumerate(names):
        level = min(int(chance.expovariate(0.55)), len(_LEVELS) - 1)
        staff.append(
            Person(
                number,
                name,
                chance.choice(("F", "M")),
                hired[place] - timedelta(chance.randint(19 * 366, 45 * 365)),
                departments[place % len(departments)],
                chance.choice(positions),
                _LEVELS[level],
                chance.choice((1.0, 1.0, 1.0, 1.0, 0.8, 0.5)),
                hired[place],
                chance.choice(_DEGREES),
                chance.choice((*_CONTRACTS[:1] * 5, *_CONTRACTS)),
                10 * (280 + 70 * level + chance.randint(0, 90)),
            )
        )
    return tuple(staff)


def _roster(filing: Filing, staff: Sequence[Person], when: When) -> Filed:
    """Make the roster of a year, the sheet that owns the employee numbers."""
    page = filing.page("roster", when, len(staff))
    end = date(when.year, 12, 31)
    columns = [
        page.column("employee_id", [p.id for p in staff], key="employee", unique=True),
        page.column("name", [p.name for p in staff]),
        page.column("gender", [p.gender for p in staff]),
        page.column("age", [(end - p.born).days // 365 for p in staff], "integer"),
        page.column("department", [p.department for p in staff]),
        page.column("position", [p.position for p in staff]),
        page.column("grade", [p.grade for p in staff]),
        page.column("fte", [p.time for p in staff], "amount"),
        page.column("hire_date", [p.hired for p in staff], "date"),
        page.column("education", [p.degree for p in staff]),
        page.column("base_salary", [p.paid(when.year) for p in staff], "amount"),
        page.column("contract", [p.contract for p in staff]),
    ]
    optional = ("gender", "age", "position", "grade", "education", "contract")
    choices: tuple[Choices, ...] = ()
    if filing.mode == "year" and _has_lists(filing):
        choices = (_chosen(filing, "department", when),)
    return changed(page.filed(columns, optional, choices=choices), tabled, "Staff")


def _chosen(filing: Filing, column: str, when: When) -> Choices:
    return Choices(column, SheetAt(filing.place("lists", when).sheet), column)


def _who(page: Page, staff: Sequence[Person]) -> list[Column]:
    """Return number, name and department columns, looked up in the roster if the house does so."""
    names: Cells | Recipe = [p.name for p in staff]
    departments: Cells | Recipe = [p.department for p in staff]
    if page.filing.has("look up", page.id, share=0.6):
        names, departments = _from_roster(page, "name"), _from_roster(page, "department")
    return [
        page.column("employee_id", [p.id for p in staff], key="employee"),
        page.column("name", names),
        page.column("department", departments),
    ]


def _from_roster(page: Page, column: str) -> Lookup:
    year = When(page.when.year) if page.when else None
    return looked_up(page.at("roster", year), "employee_id", column)


def _payroll(filing: Filing, staff: Sequence[Person], when: When) -> Filed:
    """Make the payroll of a month, or of a year with the averages of its months."""
    page, chance = filing.page("payroll", when, len(staff)), filing.chance("payroll", when)
    base: Cells | Recipe = [p.paid(when.year) for p in staff]
    if filing.has("base looked up", share=0.75):
        base = _from_roster(page, "base_salary")
    earnings = ("base_salary", "bonus", "overtime_pay", "allowance")
    deductions = ("social_security", "income_tax")
    bonuses = [10 * chance.randint(0, 90) for _ in staff]
    overtime = [chance.choice((0, 0, 60, 120, 185, 240)) for _ in staff]
    columns = [
        *_who(page, staff),
        page.column("month", [spoken(when)] * len(staff)),
        page.column("base_salary", base, "amount"),
        page.column("bonus", bonuses, "amount"),
        page.column("overtime_pay", overtime, "amount"),
        page.column("allowance", [chance.choice((0, 50, 80, 150)) for _ in staff], "amount"),
        page.column("gross", added(*earnings), "amount"),
        page.column("social_security", times("gross", Number(0.105)), "amount"),
        page.column("income_tax", times("gross", Number(0.16)), "amount"),
        page.column("net", less(less("gross", "social_security"), "income_tax"), "amount"),
    ]
    return page.filed(
        columns,
        ("department", "month"),
        groups={"group_earnings": earnings, "group_deductions": deductions},
        totals=("gross", "net") if filing.has("payroll totals") else (),
    )


def _training(filing: Filing, staff: Sequence[Person], when: When) -> Filed:
    chance = filing.chance("training", when)
    count = chance.randint(11, 24)
    page = filing.page("training", when, count)
    some = chance.choices(staff, k=count)
    scores = [chance.randint(52, 100) for _ in some]
    columns = [
        page.column("record_no", [f"T{when.year % 100:02}-{n:03}" for n in range(1, count + 1)]),
        *_who(page, some),
        page.column("course", chance.choices(filing.house.pool("courses", 8), k=count)),
        page.column("course_date", some_days(chance, when, count), "date"),
        page.column("hours", [chance.choice((2, 4, 8, 8, 16, 24)) for _ in some], "integer"),
        page.column("score", scores, "integer"),
        page.column("result", ["Passed" if score >= _PASS else "Failed" for score in scores]),
    ]
    return page.filed(columns, ("record_no", "course_date", "score", "result"))


def _leave(filing: Filing, staff: Sequence[Person], when: When) -> Filed:
    """Make the sheet of a year's leaves, whose types are chosen from the hidden list."""
    chance = filing.chance("leave", when)
    count = chance.randint(14, 30)
    page = filing.page("leave", when, count)
    some = chance.choices(staff, k=count)
    starts = some_days(chance, when, count)
    lengths = [chance.choice((1, 1, 2, 3, 5, 5, 10)) for _ in some]
    # Five workdays make a week, and weekends are skipped, so an end is a workday like its start.
    ends = [
        start + timedelta(days - 1 + 2 * ((start.weekday() + days - 1) // 5))
        for start, days in zip(starts, lengths, strict=True)
    ]
    managers = filing.house.pool("employees", 6)
    columns = [
        page.column("leave_no", [f"LV-{when.year}-{n:03}" for n in range(1, count + 1)]),
        *_who(page, some),
        page.column("leave_type", [chance.choice((*_LEAVES[:1] * 4, *_LEAVES)) for _ in some]),
        page.column("start", starts, "date"),
        page.column("end", ends, "date"),
        page.column("days", lengths, "integer"),
        page.column("approver", [chance.choice(managers) for _ in some]),
    ]
    choices = (_chosen(filing, "leave_type", when),) if _has_lists(filing) else ()
    return page.filed(columns, ("leave_no", "end", "approver"), choices=choices)


def _lists(filing: Filing, when: When) -> Filed:
    texts = {
        "department": _departments(filing.house),
        "leave_type": _LEAVES,
        "course": filing.house.pool("courses", 8),
        "contract": _CONTRACTS,
    }
    page = filing.page("lists", when, max(map(len, texts.values())))
    columns = [
        page.column(column, (*cells, *[None] * (page.rows - len(cells))))
        for column, cells in texts.items()
    ]
    return page.filed(columns, facts=None, hidden=True, layout=Layout())


def _attendance(filing: Filing, staff: Sequence[Person], when: When) -> Filed:
    """Make the days and hours of everyone in a month or a year."""
    page, chance = filing.page("attendance", when, len(staff)), filing.chance("attendance", when)
    due, span = len(days(when)), len(months(when))
    absent: Cells | Recipe = [chance.choice((0, 0, 1, 1, 2, 3)) for _ in staff]
    if not when.month:  # a year's leave is in the leave records
        absent = summed_by(page.at("leave", when), "employee_id", "days")
    columns = [
        *_who(page, staff),
        page.column("month", [spoken(when)] * len(staff)),
        page.column("workdays", [due] * len(staff), "integer"),
        page.column("attended", less("workdays", "leave_days"), "integer"),
        page.column("late", [chance.randint(0, 2 + span) for _ in staff], "integer"),
        page.column("early", [chance.randint(0, 1 + span // 2) for _ in staff], "integer"),
        page.column("leave_days", absent, "integer"),
        page.column("overtime_hours", [chance.randint(0, 12 * span) for _ in staff], "integer"),
        page.column("rate", ratio("attended", "workdays"), "percent"),
    ]
    return page.filed(columns, ("department", "month", "late", "early", "rate"))


def _headcount(filing: Filing, when: When) -> Filed:
    """Sum staff, pay, training and leave by department from the sheets of the year."""
    departments = _departments(filing.house)
    page = filing.page("headcount", when, len(departments), summary=True)

    def by_department(source: str, column: str) -> Recipe:
        return summed_by(page.at(source, when), "department", column)

    everyone = Total(page.at("roster", when), "fte")
    columns = [
        page.column("department", departments),
        page.column("headcount", by_department("roster", "fte"), "amount"),
        page.column("salary_cost", by_department("roster", "base_salary"), "amount"),
        page.column("average_salary", ratio("salary_cost", "headcount"), "amount"),
        page.column("training_hours", by_department("training", "hours"), "integer"),
        page.column("leave_days", by_department("leave", "days"), "integer"),
        page.column("share", ratio("headcount", everyone), "percent"),
    ]
    optional = ("average_salary", "training_hours", "leave_days", "share")
    pivots: tuple[Pivot, ...] = ()
    if filing.mode == "year" and filing.has("pivot", share=0.3):
        source = SheetAt(filing.place("roster", when).sheet)
        pivots = (Pivot(source, "department", "base_salary"),)
    filed = page.filed(columns, optional, totals=("headcount", "salary_cost"), pivots=pivots)
    return changed(filed, with_chart, "department", "headcount") if filing.has("chart") else filed
