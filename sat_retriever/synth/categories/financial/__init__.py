"""Make financial statements: a workbook per year or per statement and year, and an overview."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sat_retriever.synth.book.build import book
from sat_retriever.synth.book.model import Book, Sheet
from sat_retriever.synth.categories.financial.company import CATEGORY, Company
from sat_retriever.synth.categories.financial.details import (
    fixed_assets,
    key_figures,
    notes,
    overview,
)
from sat_retriever.synth.categories.financial.lines import STATEMENTS
from sat_retriever.synth.categories.financial.statements import quarter_statements, statement
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

_TAB_ORDER = ("balance_sheet", "income_statement", "cash_flow", "fixed_assets", "key_figures")


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the accounts of a company, year by year, then the overview of two or more years."""
    company = Company.of(house, years)
    for year in company.years:
        sheets = _sheets(company, year)
        if company.habits.files:
            for name, tabs in sheets.items():
                subject = company.kind(name).subject()
                yield book(house, CATEGORY, subject, When(year), tabs)
        else:
            order = [name for name in (*_TAB_ORDER, "notes") if name in sheets]
            tabs = [sheet for name in order for sheet in sheets[name]]
            yield book(house, CATEGORY, "", When(year), tabs)
    if len(company.years) > 1:
        yield overview(company)


def _sheets(company: Company, year: int) -> dict[str, list[Sheet]]:
    """Return the year's sheets by kind; each follows the sheets that it refers to."""
    found: dict[str, list[Sheet]] = {}
    if company.habits.assets:
        found["fixed_assets"] = [fixed_assets(company, year)]
    for name in STATEMENTS:
        found[name] = [statement(company, name, year)]
    if company.habits.quarterly:
        found["income_statement"] += quarter_statements(company, year)
    found["key_figures"] = [key_figures(company, year)]
    if company.habits.noted:
        found["notes"] = [notes(company, year)]
    return found
