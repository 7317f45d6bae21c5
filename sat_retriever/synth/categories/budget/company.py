"""One company's budget and planning habits, and the places of its planning sheets."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sat_retriever.synth.book.build import dated
from sat_retriever.synth.book.model import Column, SheetAt
from sat_retriever.synth.categories import company
from sat_retriever.synth.categories.company import drawn, share
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, quarters

CATEGORY = "budget"
PERSONNEL = "Personnel"
_COSTS = (
    "Travel",
    "Training",
    "Marketing",
    "Software and IT",
    "Premises",
    "Consulting",
    "Office Supplies",
    "Repairs",
    "Insurance",
    "Energy",
)
_ASSETS = ("Machinery", "IT Equipment", "Buildings", "Vehicles", "Tools")


@dataclass(frozen=True, slots=True)
class Spend:
    """One line of a year's budget, in whole amounts."""

    department: str
    category: str
    planned: int
    approved: int
    actual: int


@dataclass(frozen=True, slots=True)
class Staff:
    """The staff of one department in a year; `salary` is the average cost per person."""

    department: str
    opening: int
    hires: int
    leavers: int
    salary: int

    @property
    def cost(self) -> int:
        """The cost of the staff at the end of the year."""
        return (self.opening + self.hires - self.leavers) * self.salary


@dataclass(frozen=True, slots=True)
class Investment:
    """One capital project in a year; `completion` is a share."""

    project_id: str
    project: str
    department: str
    category: str
    approved: int
    spent: int
    completion: float


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of one year."""

    spends: tuple[Spend, ...]
    staff: tuple[Staff, ...]
    investments: tuple[Investment, ...]

    @property
    def departments(self) -> tuple[str, ...]:
        """The departments, in the order of all sheets."""
        return tuple(each.department for each in self.staff)

    @property
    def categories(self) -> tuple[str, ...]:
        """The cost categories, in order of first use."""
        return tuple(dict.fromkeys(spend.category for spend in self.spends))


def plans(house: House, years: Sequence[int]) -> Mapping[int, Plan]:
    """Draw the plan of each year; staff carries over from one year to the next."""
    chance = house.chance(CATEGORY, "plans")
    departments = house.pool("departments", chance.randint(5, 9))
    costs = sorted(chance.sample(_COSTS, chance.randint(3, 6)), key=_COSTS.index)
    uses = [
        (department, cost)
        for department in departments
        for cost in costs
        if cost == costs[0] or chance.random() < 0.75
    ]
    bases = {use: chance.uniform(8_000, 90_000) for use in uses}
    staff = {name: chance.randint(4, 45) for name in departments}
    salaries = {name: chance.uniform(38_000, 82_000) for name in departments}
    found = {}
    for count, year in enumerate(sorted(set(years))):
        growth = 1.025**count
        people = [
            _staff(chance, name, staff[name], round(salaries[name] * growth, -2))
            for name in departments
        ]
        staff = {each.department: each.opening + each.hires - each.leavers for each in people}
        grown = {use: base * growth for use, base in bases.items()}
        investments = _investments(house, year, count, departments)
        found[year] = Plan(tuple(_spends(chance, people, grown)), tuple(people), investments)
    return found


def _staff(chance: random.Random, department: str, opening: int, salary: float) -> Staff:
    hires = chance.randint(0, max(1, opening // 5))
    leavers = chance.randint(0, max(0, min(opening - 2, opening // 6)))
    return Staff(department, opening, hires, leavers, int(salary))


def _spends(
    chance: random.Random, people: Sequence[Staff], bases: Mapping[tuple[str, str], float]
) -> list[Spend]:
    found = []
    for staff in people:
        used = round(staff.cost * chance.uniform(0.95, 1.03))
        found.append(Spend(staff.department, PERSONNEL, staff.cost, staff.cost, used))
        for (department, category), base in bases.items():
            if department == staff.department:
                planned = round(base * chance.uniform(0.85, 1.15), -2)
                approved = round(planned * chance.uniform(0.82, 1.0), -2)
                actual = approved * max(chance.gauss(0.97, 0.09), 0.4)
                amounts = (round(amount) for amount in (planned, approved, actual))
                found.append(Spend(department, category, *amounts))
    return found


def _investments(
    house: House, year: int, count: int, departments: Sequence[str]
) -> tuple[Investment, ...]:
    """Draw the projects of a year: some continue from the year before, some are new."""
    first, size = 3 * count, house.chance(CATEGORY, "investments").randint(8, 14)
    ids = house.pool("project_ids", first + size)
    names = house.pool("projects", first + size)
    found = []
    for place in range(first, first + size):
        fixed = house.chance(CATEGORY, "investment", place)
        approved = int(round(fixed.uniform(40_000, 900_000), -3))
        department, asset = fixed.choice(departments), fixed.choice(_ASSETS)
        done = house.chance(CATEGORY, "investment", place, year).uniform(0.0, 0.35)
        completion = min(1.0, done + (first + size - place) / size * 0.75)
        spent = round(approved * min(1.08, completion * fixed.uniform(0.85, 1.15)))
        identity = (ids[place], names[place], department, asset)
        found.append(Investment(*identity, approved, spent, round(completion, 2)))
    return tuple(found)


OPTIONAL = ("headcount", "capex", "revenue", "opex", "allocation")


@dataclass(frozen=True, slots=True)
class Habits(company.Habits):
    """The habits of one company's planning."""

    category = CATEGORY

    files: bool = share(0.3)  # each kind is a workbook of its own
    # Kinds of sheets beside the annual budget and the quarterly reviews.
    kinds: tuple[str, ...] = drawn(
        lambda chance, _: tuple(kind for kind in OPTIONAL if chance.random() < 0.75)
    )
    # Place of the reviews: tabs of the year's workbook or of a separate one, or one file each.
    reviews: Literal["inside", "tabs", "files"] = drawn(
        lambda chance, habits: chance.choice(
            ("tabs", "files") if habits["files"] else ("inside", "inside", "tabs")
        )
    )
    dated: bool = share(0.35)  # headers of amounts name the year or quarter
    coded: bool = share(0.4)  # budget lines have codes
    owned: bool = share(0.35)  # budget lines have owners
    rates: bool = share(0.6)  # variances are also shown in percent
    listed: bool = share(0.5)  # statuses must be chosen from a hidden list
    charted: bool = share(0.5)  # the summary has a chart
    pivoted: bool = share(0.3)  # the summary has a pivot table
    linked: bool = share(0.6)  # personnel cost is looked up in the headcount plan


@dataclass(frozen=True, slots=True)
class Company(company.Company):
    """A house with its plans, by year, and habits."""

    category = CATEGORY

    habits: Habits
    plans: Mapping[int, Plan]

    @classmethod
    def of(cls, house: House, years: Sequence[int]) -> Company:
        """Make the company of a house."""
        return cls(house, sorted(set(years)), Habits.of(house), plans(house, years))

    def has(self, name: str) -> bool:
        """True if the company makes sheets of an optional kind."""
        return name in self.habits.kinds

    def tab(self, name: str, when: When) -> str:
        """Return the name of a kind's tab."""
        return self.kind(name).tab(when if when.quarter else None)

    def path(self, name: str, when: When) -> str:
        """Return the path of the workbook with a kind of sheet for a year or quarter.

        Summary and lists are in the workbook of the annual budget.
        """
        habits = self.habits
        year = When(when.year)
        if name == "quarterly" and habits.reviews != "inside":
            subject = self.kind(name).subject()
            return self.house.path(CATEGORY, subject, when if habits.reviews == "files" else year)
        subject = ""
        if habits.files:
            subject = self.kind("annual" if name in ("summary", "lists") else name).subject()
        return self.house.path(CATEGORY, subject, year)

    def at(self, name: str, when: When, seen_from: str) -> SheetAt:
        """Refer to a kind's sheet of a year or quarter from a workbook's path."""
        path = self.path(name, when)
        return SheetAt(self.tab(name, when), "" if path == seen_from else path)

    def reviews(self, year: int, seen_from: str) -> list[SheetAt]:
        """Refer to the four quarterly reviews from a workbook's path."""
        return [self.at("quarterly", when, seen_from) for when in quarters(year)]

    def amount(self, column: Column, when: When) -> Column:
        """Add the period to the header of a column of amounts, if that is the habit."""
        if not self.habits.dated:
            return column
        return dated(column, f"Q{when.quarter}" if when.quarter else str(when.year))
