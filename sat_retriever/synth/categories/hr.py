"""Make staff workbooks: roster, payroll, attendance, training and leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from sat_retriever.synth.book.model import Book, Choices, Pivot, SheetAt
from sat_retriever.synth.categories.filing import Filed, Filing, Rows
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, days, months, some_days

_CONTRACTS = ("Permanent", "Fixed term", "Part-time", "Apprentice", "Freelance")
_DEGREES = ("Secondary School", "Vocational Training", "Bachelor", "Master", "Doctorate")
_LEVELS = ("P1", "P2", "P3", "P4", "P5", "M1", "M2")
_LEAVES = ("Annual", "Sick", "Parental", "Unpaid", "Study", "Bereavement")
_FIRST, _LAST = date(2006, 1, 1), date(2026, 6, 30)
_PASS = 60
_WHO = ("name", "department")


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the workbooks of each year: roster, payroll, attendance, training, leave, headcount.

    A house has one payroll and one attendance sheet either per year or per month.
    """
    filing = Filing.of(house, "hr", "each", "kind", "kind", "year", beside={"lists": "leave"})
    everyone = _staff(house)
    for year in sorted(years):
        staff = [p for place, p in enumerate(everyone) if place < 12 or p["hire_date"].year <= year]
        yield from filing.bound(_year(filing, staff, When(year)))


def _year(filing: Filing, staff: Rows, when: When) -> Iterator[Filed]:
    departments = _departments(filing.house)
    listed, inside = filing.has("lists", share=0.7), filing.mode == "year"

    def chosen(column: str) -> Choices:
        return Choices(column, SheetAt(filing.place("lists", when).sheet), column)

    paid = {p["employee_id"]: _pay(p, when.year) for p in staff}
    yield filing.page("roster", when).filed(
        staff,
        {
            "age": [(date(when.year, 12, 31) - p["born"]).days // 365 for p in staff],
            "base_salary": list(paid.values()),
        },
        choices=[chosen("department")] if listed and inside else [],
    )
    periods = months(when) if filing.has("monthly", share=0.4) else (when,)
    for period in periods:
        base = {} if filing.has("base looked up", share=0.75) else {"base_salary": paid.values()}
        yield filing.page("payroll", period).filed(
            staff, base, typed=_typed(filing, "payroll"), totals=filing.has("payroll totals")
        )
    yield _training(filing, staff, when)
    yield _leave(filing, staff, when, [chosen("leave_type")] if listed else [])
    if listed:
        texts = (departments, _LEAVES, filing.house.pool("courses", 8), _CONTRACTS)
        longest = max(map(len, texts))
        padded = ((*text, *[None] * (longest - len(text))) for text in texts)
        names = ("department", "leave_type", "course", "contract")
        yield filing.page("lists", when).filed((), dict(zip(names, padded, strict=True)))
    yield from (_attendance(filing, staff, period) for period in periods)
    pivots = []
    if inside and filing.has("pivot", share=0.3):
        roster = SheetAt(filing.place("roster", when).sheet)
        pivots = [Pivot(roster, "department", "base_salary")]
    rows = [{"department": department} for department in departments]
    yield filing.page("headcount", when).filed(rows, pivots=pivots)


def _departments(house: House) -> tuple[str, ...]:
    return house.pool("departments", house.chance("hr", "departments").randint(5, 8))


def _staff(house: House) -> Rows:
    """Draw everyone who ever worked there: 30 to 44 people, in order of their numbers."""
    chance = house.chance("hr", "staff")
    count = chance.randint(30, 44)
    departments, positions = _departments(house), house.pool("job_titles", 14)
    span = (_LAST - _FIRST).days
    hired = sorted(_FIRST + timedelta(int(span * chance.random() ** 2)) for _ in range(count))
    names = zip(house.pool("employee_ids", count), house.pool("employees", count), strict=True)
    staff = []
    for place, (number, name) in enumerate(names):
        level = min(int(chance.expovariate(0.55)), len(_LEVELS) - 1)
        staff.append(
            {
                "employee_id": number,
                "name": name,
                "gender": chance.choice(("F", "M")),
                "born": hired[place] - timedelta(chance.randint(19 * 366, 45 * 365)),
                "department": departments[place % len(departments)],
                "position": chance.choice(positions),
                "grade": _LEVELS[level],
                "fte": chance.choice((1.0, 1.0, 1.0, 1.0, 0.8, 0.5)),
                "hire_date": hired[place],
                "education": chance.choice(_DEGREES),
                "contract": chance.choice((*_CONTRACTS[:1] * 5, *_CONTRACTS)),
                "pay": 10 * (280 + 70 * level + chance.randint(0, 90)),
            }
        )
    return staff


def _pay(person: dict[str, Any], year: int) -> int:
    """Return the monthly base salary of a year, in whole tens; it grows by two per cent a year."""
    pay, hired = int(person["pay"]), int(person["hire_date"].year)
    return round(pay * 1.02 ** max(0, year - hired) / 10) * 10


def _typed(filing: Filing, kind: str) -> tuple[str, ...]:
    return () if filing.has("look up", kind, share=0.6) else _WHO


def _training(filing: Filing, staff: Rows, when: When) -> Filed:
    page, chance = filing.page("training", when), filing.chance("training", when)
    some = chance.choices(staff, k=chance.randint(11, 24))
    scores = [chance.randint(52, 100) for _ in some]
    results = ["Passed" if score >= _PASS else "Failed" for score in scores]
    given = {"score": scores, "result": results}
    return page.filed(some, given, typed=_typed(filing, page.id), chance=chance)


def _leave(filing: Filing, staff: Rows, when: When, choices: Sequence[Choices]) -> Filed:
    page, chance = filing.page("leave", when), filing.chance("leave", when)
    some = chance.choices(staff, k=chance.randint(14, 30))
    starts = some_days(chance, when, len(some))
    lengths = [chance.choice((1, 1, 2, 3, 5, 5, 10)) for _ in some]
    # Five workdays make a week, and weekends are skipped, so an end is a workday like its start.
    ends = [
        start + timedelta(days - 1 + 2 * ((start.weekday() + days - 1) // 5))
        for start, days in zip(starts, lengths, strict=True)
    ]
    given = {"start": starts, "end": ends, "days": lengths}
    typed = _typed(filing, page.id)
    return page.filed(some, given, typed=typed, chance=chance, choices=choices)


def _attendance(filing: Filing, staff: Rows, when: When) -> Filed:
    page, chance = filing.page("attendance", when), filing.chance("attendance", when)
    span = len(months(when))
    given: dict[str, Any] = {
        "leave_days": [chance.choice((0, 0, 1, 1, 2, 3)) for _ in staff],
        "late": [chance.randint(0, 2 + span) for _ in staff],
        "early": [chance.randint(0, 1 + span // 2) for _ in staff],
        "overtime_hours": [chance.randint(0, 12 * span) for _ in staff],
        "workdays": [len(days(when))] * len(staff),
    }
    if not when.month:  # a year's leave is in the leave records
        del given["leave_days"]
    return page.filed(staff, given, typed=_typed(filing, page.id), chance=chance)
