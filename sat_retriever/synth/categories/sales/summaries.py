"""Summarize order lines by region, by product, over the year, and against targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from sat_retriever.synth.book.build import (
    added,
    less,
    looked_up,
    ratio,
    summed_by,
    with_chart,
    with_totals,
)
from sat_retriever.synth.book.model import Function, Pivot, Recipe, Sheet, SheetAt, Style, Total
from sat_retriever.synth.categories.sales.orders import Company
from sat_retriever.synth.house.when import When, quarters, spoken

_QUARTERS = ("q1", "q2", "q3", "q4")


def by_region(company: Company, when: When, tabs: Sequence[SheetAt]) -> Sheet:
    """Sum quantity and revenue of each region over a period's tabs of orders."""
    kind, count = company.kind("by_region"), len(company.regions)
    columns = [
        kind.column("region", company.regions, key="region"),
        kind.column("quantity", [_where(tabs, "quantity", "region")] * count, "integer"),
    ]
    if len(tabs) == 3:  # a quarter by months
        for place, tab in enumerate(tabs, 1):
            cell = summed_by(tab, "region", "revenue")
            columns.append(kind.column(f"m{place}", [cell] * count, "amount"))
        revenue = added("m1", "m2", "m3")
    else:
        revenue = _where(tabs, "revenue", "region")
    columns.append(kind.column("revenue", [revenue] * count, "amount"))
    if kind.chance("shares").random() < 0.5:
        share = ratio("revenue", added(*(Total(tab, "revenue") for tab in tabs)))
        columns.append(kind.column("share", [share] * count, "percent"))
    sheet = with_totals(kind.sheet(columns, when, summary=True), "quantity", "revenue")
    if company.habits.charted:
        sheet = with_chart(sheet, "region", "revenue")
    if company.habits.pivoted and len(tabs) == 1:
        sheet = replace(sheet, pivots=(Pivot(tabs[0], "region", "quantity"),))
    return sheet


def by_product(company: Company, when: When, tabs: Sequence[SheetAt]) -> Sheet:
    """Sum quantity and revenue of each product over a period's tabs of orders."""
    kind, count = company.kind("by_product"), len(company.products)
    name = looked_up(SheetAt(company.kind("prices").tab()), "product", "name")
    codes = (product.code for product in company.products)
    mean = ratio("revenue", "quantity")
    columns = [
        kind.column("product", codes, key="product"),
        kind.column("name", [name] * count),
        kind.column("quantity", [_where(tabs, "quantity", "product")] * count, "integer"),
        kind.column("revenue", [_where(tabs, "revenue", "product")] * count, "amount"),
    ]
    if kind.chance("means").random() < 0.6:
        columns.append(kind.column("mean", [mean] * count, "amount"))
    return with_totals(kind.sheet(columns, when, summary=True), "quantity", "revenue")


def annual(company: Company, year: int, path: str) -> Sheet:
    """Make a row for each tab of orders of the year: number of lines, sums, largest order."""
    kind, tabs = company.kind("annual"), company.order_tabs(year)
    places = [company.orders(when, path) for when in tabs]
    totals: tuple[tuple[str, str, Function], ...] = (
        ("orders", "quantity", "COUNT"),
        ("quantity", "quantity", "SUM"),
        ("revenue", "revenue", "SUM"),
        ("largest", "revenue", "MAX"),
    )
    columns = [kind.column("period", (spoken(when) for when in tabs))]
    for name, column, function in totals:
        cells = (Total(at, column, function) for at in places)
        style: Style = "integer" if column == "quantity" else "amount"
        columns.append(kind.column(name, cells, style))
    mean = ratio("revenue", "orders")
    columns.append(kind.column("mean", [mean] * len(tabs), "amount"))
    sheet = with_totals(
        kind.sheet(columns, When(year), summary=True), "orders", "quantity", "revenue"
    )
    if company.habits.charted:
        sheet = with_chart(sheet, "period", "revenue")
    return sheet


def annual_regions(company: Company, year: int, path: str) -> Sheet:
    """Show revenue by region and quarter, from the quarters' summaries or order tabs."""
    kind, count = company.kind("annual_regions"), len(company.regions)
    columns = [kind.column("region", company.regions, key="region")]
    for name, when in zip(_QUARTERS, quarters(year), strict=True):
        cell: Recipe
        if company.habits.split == "years":
            cell = summed_by(company.orders(when, path), "region", "revenue")
        else:  # SUMIFS cannot read closed workbooks, lookups can
            at = SheetAt(company.kind("by_region").tab(), company.path(when))
            cell = looked_up(at, "region", "revenue")
        columns.append(kind.column(name, [cell] * count, "amount"))
    whole = added(*_QUARTERS)
    columns.append(kind.column("total", [whole] * count, "amount"))
    return with_totals(kind.sheet(columns, When(year), summary=True), *_QUARTERS, "total")


def targets(company: Company, year: int, path: str) -> Sheet:
    """Make the sales targets of each region or salesperson, with the actual sales."""
    kind, of = company.kind("targets"), company.habits.targets
    names = company.regions if of == "region" else company.sellers
    actual: Recipe
    if of == "region":
        actual = looked_up(SheetAt(company.kind("annual_regions").tab()), "region", "total")
    else:
        tabs = [company.orders(when, path) for when in company.order_tabs(year)]
        actual = _where(tabs, "revenue", "seller")
    chance = kind.chance(year)
    level = _expected(company, year) / len(names)
    goals = (int(round(level * chance.uniform(0.75, 1.3), -3)) for _ in names)
    count = len(names)
    columns = [
        kind.column(of, names, key="region" if of == "region" else ""),
        kind.column("target", goals, "integer"),
        kind.column("actual", [actual] * count, "amount"),
        kind.column("variance", [less("actual", "target")] * count, "amount"),
        kind.column("achievement", [ratio("actual", "target")] * count, "percent"),
    ]
    return with_totals(kind.sheet(columns, When(year), summary=True), "target", "actual")


def _expected(company: Company, year: int) -> float:
    lines = 17 if company.habits.split == "months" else 38
    price = fmean(company.price(product, year) for product in company.products)
    return lines * len(company.order_tabs(year)) * 13.5 * price


def _where(tabs: Sequence[SheetAt], column: str, where: str) -> Recipe:
    """Sum a column over several tabs, in the rows that match this row."""
    return added(*(summed_by(tab, where, column) for tab in tabs))
