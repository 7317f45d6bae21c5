"""Make sales workbooks: registers, order lines by quarter or month, and summaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sat_retriever.synth.book.build import book
from sat_retriever.synth.book.model import Book, Sheet
from sat_retriever.synth.categories.sales.orders import (
    CATEGORY,
    Company,
    customers,
    orders,
    prices,
    products,
)
from sat_retriever.synth.categories.sales.summaries import (
    annual,
    annual_regions,
    by_product,
    by_region,
    targets,
)
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, months, quarters


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the registers, then the orders of each year with its summaries."""
    company = Company.of(house, years)
    if company.habits.registers:
        subject = company.kind("customers").subject()
        yield book(
            house, CATEGORY, subject, None, [customers(company, None), products(company, None)]
        )
    for year in company.years:
        if company.habits.split == "years":
            yield _whole_year(company, year)
            continue
        for quarter in quarters(year):
            yield _quarter(company, quarter)
        subject, path = company.kind("annual").subject(), company.annual_path(year)
        yield book(house, CATEGORY, subject, When(year), _gathered(company, year, path))


def _quarter(company: Company, quarter: When) -> Book:
    """Make a quarter's workbook: orders on one tab or by month, price list and summaries."""
    by_month = company.habits.split == "months"
    tabs = months(quarter) if by_month else (quarter,)
    sheets = [orders(company, when) for when in tabs]
    places = [company.orders(when, company.path(quarter)) for when in tabs]
    sheets += _registers(company, quarter)
    sheets.append(by_region(company, quarter, places))
    if company.habits.products:
        sheets.append(by_product(company, quarter, places))
    return book(company.house, CATEGORY, "", quarter, sheets)


def _whole_year(company: Company, year: int) -> Book:
    """Make one workbook with all sheets of a year."""
    path = company.annual_path(year)
    places = [company.orders(when, path) for when in quarters(year)]
    sheets = _gathered(company, year, path)
    if company.habits.products:
        sheets.append(by_product(company, When(year), places))
    sheets += [orders(company, when) for when in quarters(year)]
    sheets += _registers(company, When(year))
    return book(company.house, CATEGORY, "", When(year), sheets)


def _registers(company: Company, when: When) -> list[Sheet]:
    """Return the price list, and the registers if they are beside the orders."""
    makers = [prices] if company.habits.registers else [prices, customers, products]
    return [make(company, when) for make in makers]


def _gathered(company: Company, year: int, path: str) -> list[Sheet]:
    makers = (annual, annual_regions, targets)
    return [make(company, year, path) for make in makers]
