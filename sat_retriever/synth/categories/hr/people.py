"""Draw the staff of a house, equal in all its workbooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sat_retriever.synth.house.house import House

ID = "hr"
CONTRACTS = ("Permanent", "Fixed term", "Part-time", "Apprentice", "Freelance")
_DEGREES = ("Secondary School", "Vocational Training", "Bachelor", "Master", "Doctorate")
_LEVELS = ("P1", "P2", "P3", "P4", "P5", "M1", "M2")
_FIRST, _LAST = date(2006, 1, 1), date(2026, 6, 30)


@dataclass(frozen=True, slots=True)
class Person:
    """One employee.

    Attributes:
        id: Employee number.
        name: Given and family name.
        gender: Gender as in the roster.
        born: Date of birth.
        department: Department.
        position: Job title.
        grade: Pay grade.
        time: Share of full time, in (0, 1].
        hired: First day.
        degree: Education.
        contract: Kind of contract.
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


def departments_of(house: House) -> tuple[str, ...]:
    """Return the five to eight departments."""
    return house.pool("departments", house.chance(ID, "departments").randint(5, 8))


def staff_of(house: House) -> tuple[Person, ...]:
    """Draw everyone who ever worked there: 30 to 44 people, in order of their numbers."""
    chance = house.chance(ID, "staff")
    count = chance.randint(30, 44)
    departments, positions = departments_of(house), house.pool("job_titles", 14)
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
                chance.choice((*CONTRACTS[:1] * 5, *CONTRACTS)),
                10 * (280 + 70 * level + chance.randint(0, 90)),
            )
        )
    return tuple(staff)


def staff_in(staff: Sequence[Person], year: int) -> tuple[Person, ...]:
    """Return those hired before the end of a year, and always the first dozen."""
    return tuple(
        person for place, person in enumerate(staff) if place < 12 or person.hired.year <= year
    )
