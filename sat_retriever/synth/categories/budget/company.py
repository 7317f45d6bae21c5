"""One company's planning habits, and the places of its planning sheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sat_retriever.synth.book.build import Kind, dated
from sat_retriever.synth.book.model import Column, SheetAt
from sat_retriever.synth.categories.budget.plan import CATEGORY, Plan, plans
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, quarters

OPTIONAL = ("headcount", "capex", "revenue", "opex", "allocation")


@dataclass(frozen=True, slots=True)
class Habits:
    """The habits of a company, equal in all years.

    Attributes:
        kinds: Kinds of sheets beside the annual budget and the quarterly reviews.
        files: True if each kind is a workbook of its own.
        reviews: Place of the quarterly reviews: tabs of the year's workbook, tabs of a separate
            workbook, or one file each.
        dated: True if headers of amounts name the year or quarter.
        coded: True if budget lines have codes.
        owned: True if budget lines have owners.
        rates: True if variances are also shown in percent.
        listed: True if statuses must be chosen from a hidden list.
        charted: True if the summary has a chart.
        pivoted: True if the summary has a pivot table.
        linked: True if personnel cost is looked up in the headcount plan.
    """

    kinds: tuple[str, ...]
    files: bool
    reviews: Literal["inside", "tabs", "files"]
    dated: bool
    coded: bool
    owned: bool
    rates: bool
    listed: bool
    charted: bool
    pivoted: bool
    linked: bool

    @classmethod
    def of(cls, house: House) -> Habits:
        """Draw the habits of a house."""
        chance = house.chance(CATEGORY, "habits")
        files = chance.random() < 0.3
        return cls(
            kinds=tuple(kind for kind in OPTIONAL if chance.random() < 0.75),
            files=files,
            reviews=chance.choice(("tabs", "files") if files else ("inside", "inside", "tabs")),
            dated=chance.random() < 0.35,
            coded=chance.random() < 0.4,
            owned=chance.random() < 0.35,
            rates=chance.random() < 0.6,
            listed=chance.random() < 0.5,
            charted=chance.random() < 0.5,
            pivoted=chance.random() < 0.3,
            linked=chance.random() < 0.6,
        )


@dataclass(frozen=True, slots=True)
class Company:
    """A house with its plans and habits.

    Attributes:
        house: The house.
        habits: Its habits.
        plans: Its plans by year.
        years: The years, ascending.
    """

    house: House
    habits: Habits
    plans: Mapping[int, Plan]
    years: Sequence[int]

    @classmethod
    def of(cls, house: House, years: Sequence[int]) -> Company:
        """Make the company of a house."""
        return cls(house, Habits.of(house), plans(house, years), tuple(sorted(set(years))))

    def kind(self, name: str) -> Kind:
        """Return a kind of sheet of this company."""
        return Kind(self.house, CATEGORY, name)

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
