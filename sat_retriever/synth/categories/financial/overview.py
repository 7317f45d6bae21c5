"""Make the workbook that shows the years side by side."""

from __future__ import annotations

from dataclasses import replace

from sat_retriever.synth.book.build import book
from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Column,
    Combine,
    Lookup,
    Own,
    Recipe,
    SheetAt,
    Take,
)
from sat_retriever.synth.categories.financial.company import CATEGORY, Company

_ITEMS = {
    "revenue": ("income_statement", "revenue"),
    "gross": ("income_statement", "gross"),
    "operating": ("income_statement", "operating"),
    "net": ("income_statement", "net"),
    "assets": ("balance_sheet", "assets"),
    "equity": ("balance_sheet", "equity"),
    "cash": ("balance_sheet", "cash"),
}
_MORE = {
    "cost": ("income_statement", "cost"),
    "depreciation": ("income_statement", "depreciation"),
    "interest": ("income_statement", "interest"),
    "tax": ("income_statement", "tax"),
    "inventory": ("balance_sheet", "inventory"),
    "receivables": ("balance_sheet", "receivables"),
    "liabilities": ("balance_sheet", "liabilities"),
    "operating_cash": ("cash_flow", "operating"),
    "investing_cash": ("cash_flow", "investing"),
    "financing_cash": ("cash_flow", "financing"),
}


def overview(company: Company) -> Book:
    """Make the overview of all years, with cells taken from the yearly workbooks.

    Some companies have a row per year, others a column per year.
    """
    kind = company.kind("trend")
    path = company.house.path(CATEGORY, kind.subject(), None)
    by_year = kind.chance("habit").random() < 0.5
    columns = _year_rows(company, path) if by_year else _item_rows(company, path)
    sheet = kind.sheet(columns, summary=True)
    if by_year:
        chart = Chart(SheetAt(sheet.name), "year", "revenue")
        sheet = replace(sheet, charts=(chart,))
    return book(company.house, CATEGORY, kind.subject(), None, [sheet])


def _year_rows(company: Company, path: str) -> list[Column]:
    kind = company.kind("trend")
    columns = [kind.column("year", company.years, "text")]
    for column, (statement, line) in _ITEMS.items():
        cells = (_taken(company, statement, line, year, path) for year in company.years)
        columns.append(kind.column(column, cells, "integer"))
    margin = Combine("/", Own("net"), Own("revenue"))
    return [*columns, kind.column("margin", [margin] * len(company.years), "percent")]


def _item_rows(company: Company, path: str) -> list[Column]:
    kind = company.kind("trend")
    items = (_ITEMS | _MORE).values()
    columns = [kind.column("item", (company.item(*item) for item in items))]
    looked_up = kind.chance("lookup").random() < 0.3
    for year in company.years:
        cells: list[Recipe] = []
        for statement, line in items:
            at = company.at(statement, year, path)
            cells.append(
                Lookup(at, "item", "item", "current")
                if looked_up
                else _taken(company, statement, line, year, path)
            )
        column = kind.column("year", cells, "integer")
        columns.append(replace(column, id=f"y{year}", header=f"{column.header} {year}"))
    first, last = Own(f"y{company.years[0]}"), Own(f"y{company.years[-1]}")
    growth = Combine("/", Combine("-", last, first), first)
    return [*columns, kind.column("growth", [growth] * len(items), "percent")]


def _taken(company: Company, statement: str, line: str, year: int, path: str) -> Take:
    row = company.row(statement, line)
    return Take(company.at(statement, year, path), "current", row)
