"""Make budget plans: annual budgets, quarterly reviews, forecasts and their roll-up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sat_retriever.synth.book.build import book
from sat_retriever.synth.book.model import Book, Sheet
from sat_retriever.synth.categories.budget.company import CATEGORY, Company
from sat_retriever.synth.categories.budget.reviews import quarterly, rollup, summary
from sat_retriever.synth.categories.budget.sheets import (
    allocation,
    annual,
    capex,
    headcount,
    lists,
    opex,
    revenue,
)
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, quarters

_SHEETS: Mapping[str, Callable[[Company, int], Sheet]] = {
    "headcount": headcount,
    "capex": capex,
    "revenue": revenue,
    "allocation": allocation,
    "annual": annual,
    "opex": opex,
}
"""The functions that make the sheets of a year; each follows the sheets that it refers to."""


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the plans of a company, year by year, then the roll-up of two or more years."""
    company = Company.of(house, years)
    for year in company.years:
        yield from _year(company, year)
    if len(company.years) > 1:
        yield rollup(company)


def _year(company: Company, year: int) -> Iterator[Book]:
    house, when = company.house, When(year)
    reviews = [quarterly(company, quarter) for quarter in quarters(year)]
    subject = company.kind("quarterly").subject()
    if company.habits.reviews == "tabs":
        yield book(house, CATEGORY, subject, when, reviews)
    elif company.habits.reviews == "files":
        for quarter, sheet in zip(quarters(year), reviews, strict=True):
            yield book(house, CATEGORY, subject, quarter, [sheet])
    made = {
        name: make(company, year)
        for name, make in _SHEETS.items()
        if name == "annual" or company.has(name)
    }
    front = [summary(company, year), made.pop("annual")]
    back = [lists(company, year)] if company.habits.listed else []
    if not company.habits.files:
        inside = reviews if company.habits.reviews == "inside" else []
        yield book(house, CATEGORY, "", when, [*front, *inside, *made.values(), *back])
        return
    after = {name: sheet for name, sheet in made.items() if name == "opex"}
    for name, sheet in made.items():
        if name not in after:
            yield book(house, CATEGORY, company.kind(name).subject(), when, [sheet])
    yield book(house, CATEGORY, company.kind("annual").subject(), when, [*front, *back])
    for name, sheet in after.items():
        yield book(house, CATEGORY, company.kind(name).subject(), when, [sheet])
