"""One company's accounting habits, and the places of its statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sat_retriever.synth.book.build import Kind
from sat_retriever.synth.book.model import SheetAt
from sat_retriever.synth.categories.financial.ledger import Figures, ledger
from sat_retriever.synth.categories.financial.lines import (
    BALANCE_LONG,
    BALANCE_SHORT,
    CASH,
    INCOME_LONG,
    INCOME_SHORT,
    Line,
    amount,
)
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

CATEGORY = "financial"
STATEMENTS = ("income_statement", "balance_sheet", "cash_flow")


@dataclass(frozen=True, slots=True)
class Habits:
    """The habits of a company, equal in all years.

    Attributes:
        long: True if statements have headings and details.
        wording: Number of the name that it uses for each line.
        files: True if each statement is a workbook of its own.
        formulas: True if subtotals are formulas.
        previous: Source of the comparative column: typed in, or taken from or looked up in last
            year's workbook.
        quarterly: True if the year's income is summed through four tabs of quarters.
        assets: True if there is a schedule of fixed assets.
        noted: True if there are notes, and a column that refers to them.
        changes: True if the change on last year is shown.
        shares: True if shares of revenue and total assets are shown.
        grouped: True if the two years are below one header.
        dated: Format of a year in headers ("FY {}"); empty if headers do not name it.
        looked_up: True if ratios look up their items by name.
    """

    long: bool
    wording: int
    files: bool
    formulas: bool
    previous: Literal["value", "take", "lookup"]
    quarterly: bool
    assets: bool
    noted: bool
    changes: bool
    shares: bool
    grouped: bool
    dated: str
    looked_up: bool

    @classmethod
    def of(cls, house: House) -> Habits:
        """Draw the habits of a house."""
        chance = house.chance(CATEGORY, "habits")
        files = chance.random() < 0.25
        return cls(
            long=chance.random() < 0.55,
            wording=chance.randrange(3),
            files=files,
            formulas=chance.random() < 0.85,
            previous=chance.choice(("value", "take", "lookup")),
            quarterly=chance.random() < 0.4 and not files,
            assets=chance.random() < 0.6,
            noted=chance.random() < 0.6,
            changes=chance.random() < 0.4,
            shares=chance.random() < 0.35,
            grouped=chance.random() < 0.2,
            dated=chance.choice(("", "", "", "FY {}", "31 Dec {}", "Year {}")),
            looked_up=chance.random() < 0.4,
        )


@dataclass(frozen=True, slots=True)
class Company:
    """A house with its figures and habits.

    Attributes:
        house: The house.
        habits: Its habits.
        figures: Its ledger, by year.
        years: The years it reports, ascending.
    """

    house: House
    habits: Habits
    figures: Mapping[int, Figures]
    years: Sequence[int]

    @classmethod
    def of(cls, house: House, years: Sequence[int]) -> Company:
        """Make the company of a house."""
        return cls(house, Habits.of(house), ledger(house, years), tuple(sorted(set(years))))

    def kind(self, name: str) -> Kind:
        """Return a kind of sheet of this company."""
        return Kind(self.house, CATEGORY, name)

    def lines(self, statement: str) -> tuple[Line, ...]:
        """Return the lines of a statement in this company's length."""
        long, short = {
            "income_statement": (INCOME_LONG, INCOME_SHORT),
            "balance_sheet": (BALANCE_LONG, BALANCE_SHORT),
            "cash_flow": (CASH, CASH),
        }[statement]
        return long if self.habits.long else short

    def row(self, statement: str, line: str) -> int:
        """Return the data row of a line, from 0."""
        return next(row for row, each in enumerate(self.lines(statement)) if each.id == line)

    def name(self, line: Line) -> str:
        """Return this company's name for a line."""
        return line.names[self.habits.wording % len(line.names)]

    def item(self, statement: str, line: str) -> str:
        """Return this company's name for the line of an id."""
        return self.name(self.lines(statement)[self.row(statement, line)])

    def values(self, statement: str, year: int, share: float = 1.0) -> dict[str, int]:
        """Return all lines of a statement that have numbers, by id.

        Args:
            statement: Kind of the statement.
            year: The year.
            share: Share of the year's figures, which are rounded; sums still agree.
        """
        found: dict[str, int] = {}
        now, before = self.figures[year], self.figures[year - 1]
        for line in self.lines(statement):
            if line.figures:
                found[line.id] = round(amount(line, now, before) * share)
            elif line.sums:
                signed = ((-1 if part[0] == "-" else 1, part.strip("-")) for part in line.sums)
                found[line.id] = sum(sign * found[part] for sign, part in signed)
        return found

    def path(self, name: str, year: int) -> str:
        """Return the path of the workbook with a kind of sheet for a year."""
        subject = self.kind(name).subject() if self.habits.files else ""
        return self.house.path(CATEGORY, subject, When(year))

    def at(self, name: str, year: int, seen_from: str) -> SheetAt:
        """Refer to a kind's sheet of a year from a workbook's path."""
        path = self.path(name, year)
        return SheetAt(self.kind(name).tab(), "" if path == seen_from else path)
