"""Make sales workbooks: registers, order lines by quarter or month, and summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import reduce
from statistics import fmean
from types import SimpleNamespace
from typing import Any

from sat_retriever.synth.book.model import (
    Book,
    Combine,
    Pivot,
    Recipe,
    Sheet,
    SheetAt,
    Total,
    TotalWhere,
)  # fmt: skip
from sat_retriever.synth.categories.filing import Habit, Page, Place, Rows, Shelf, habits
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, months, quarters, spoken

_OPTIONAL = ("customer_name", "product_name", "seller", "discount")
_QUARTERS = ("q1", "q2", "q3", "q4")
_DISCOUNTS = (0.0, 0.0, 0.0, 0.02, 0.03, 0.05, 0.1)
_LINES = ("Home", "Workshop", "Office", "Outdoor", "Industry")
HABITS: Mapping[str, Habit] = {
    # Optional columns of the order lines.
    "columns": lambda chance, _: [column for column in _OPTIONAL if chance.random() < 0.5],
    # Place of the orders: one tab in a workbook of the quarter, one tab per month there, or four
    # tabs in one workbook of the year.
    "split": ("quarters", "quarters", "months", "years"),
    "registers": 0.6,  # registers have their own workbook, else tabs beside the orders
    "products": 0.7,  # sales are also summed by product
    # Level of the sales targets.
    "targets": lambda chance, found: (
        "seller" if "seller" in found.columns and chance.random() < 0.6 else "region"
    ),
    "charted": 0.5,  # summaries have a chart
    "pivoted": 0.25,  # summaries by region have a pivot table
    "priced": 0.85,  # order lines look up their price in the price list
}


@dataclass(frozen=True, slots=True)
class Sales(Shelf):
    """A company's sales workbooks, with its customers and products."""

    years: Sequence[int]
    habits: SimpleNamespace
    regions: Sequence[str]
    customers: Rows
    products: Rows

    @classmethod
    def of(cls, house: House, years: Sequence[int]) -> Sales:
        """Draw the company of a house."""
        chance = house.chance("sales", "size")
        regions = house.pool("regions", chance.randint(3, 6))
        sellers = house.pool("employees", chance.randint(4, 8))
        customers, count = [], chance.randint(14, 36)
        ids = zip(house.pool("customer_ids", count), house.pool("customers", count), strict=True)
        for place, (number, name) in enumerate(ids):
            own = house.chance("sales", "customer", place)
            row = {"customer": number, "customer_name": name}
            customers.append(row | {"region": own.choice(regions), "seller": own.choice(sellers)})
        products, count = [], chance.randint(9, 22)
        ids = zip(house.pool("product_codes", count), house.pool("products", count), strict=True)
        for place, (code, name) in enumerate(ids):
            own = house.chance("sales", "product", place)
            price = round(10 ** own.uniform(1.0, 2.9), 2)
            figures = {"price": price, "cost": round(price * own.uniform(0.45, 0.8), 2)}
            row = {"product": code, "product_name": name, "line": own.choice(_LINES)}
            products.append(row | figures)
        found = habits(house, "sales", HABITS)
        return cls(house, "sales", sorted(set(years)), found, regions, customers, products)

    def place(self, kind: str, when: When | None, part: str = "") -> Place:
        """Return workbook and tab for the sheet of a kind and period."""
        split = self.habits.split
        tab = self.tab(kind, when if kind == "orders" and split != "quarters" else None)
        if when is None or (self.habits.registers and kind in ("customers", "products")):
            return Place(self.path(self.subject("customers"), None), tab)
        if split == "years":
            return Place(self.path("", When(when.year)), tab)
        if kind in ("annual", "annual_regions", "targets"):
            return Place(self.path(self.subject("annual"), When(when.year)), tab)
        quarter = when.quarter or (when.month + 2) // 3
        return Place(self.path("", When(when.year, quarter=quarter)), tab)

    def priced(self, year: int) -> Rows:
        """Return the products with their prices of a year; prices rise over the years."""
        rise, page = 1.03 ** (year - self.years[0]), self.page("prices")
        return [
            row | {"price": round(row["price"] * rise * chance.uniform(0.98, 1.02), 2)}
            for row in self.products
            for chance in (page.chance(row["product"], year),)
        ]

    def tabs(self, when: When) -> tuple[When, ...]:
        """Return the parts of a year or quarter that have a tab of orders, in order."""
        if self.habits.split == "months":
            return months(when)
        return (when,) if when.quarter else quarters(when.year)


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the registers, then the orders of each year with its summaries."""
    sales = Sales.of(house, years)
    if sales.habits.registers:
        registers = [_customers(sales, None), _products(sales, None)]
        yield sales.book(sales.subject("customers"), None, registers)
    for year in map(When, sales.years):
        gathered = [make(sales, year) for make in (_annual, _annual_regions, _targets)]
        if sales.habits.split == "years":
            by_product = [_by_product(sales, year)] if sales.habits.products else []
            orders = [_orders(sales, when) for when in sales.tabs(year)]
            yield sales.book("", year, gathered + by_product + orders + _registers(sales, year))
            continue
        for quarter in quarters(year.year):
            sheets = [_orders(sales, when) for when in sales.tabs(quarter)]
            sheets += [*_registers(sales, quarter), _by_region(sales, quarter)]
            if sales.habits.products:
                sheets.append(_by_product(sales, quarter))
            yield sales.book("", quarter, sheets)
        yield sales.book(sales.subject("annual"), year, gathered)


def _registers(sales: Sales, when: When) -> list[Sheet]:
    makers = (_prices,) if sales.habits.registers else (_prices, _customers, _products)
    return [make(sales, when) for make in makers]


def _orders(sales: Sales, when: When) -> Sheet:
    page = sales.page("orders", when)
    chance = page.chance(when.year, when.quarter, when.month)
    count = chance.randint(10, 24) if when.month else chance.randint(18, 58)
    customers = chance.choices(sales.customers, k=count)
    products = chance.choices(sales.priced(when.year), k=count)
    given: dict[str, Any] = dict.fromkeys(c for c in _OPTIONAL if c not in sales.habits.columns)
    discounts = chance.choices(_DISCOUNTS, k=count)
    if "discount" in sales.habits.columns:
        revenue = page.formula("quantity * price * (1 - discount)")
        given |= {"discount": discounts, "revenue": revenue}
    given["quantity"] = (max(1, round(chance.lognormvariate(2.2, 0.9))) for _ in range(count))
    lines = [customer | product for customer, product in zip(customers, products, strict=True)]
    typed = () if sales.habits.priced else ("price",)
    totals = page.chance("totals").random() < 0.4
    return page.sheet(page.columns(lines, given, typed=typed, chance=chance), totals=totals)


def _prices(sales: Sales, when: When) -> Sheet:
    page, rows = sales.page("prices", when), sales.priced(when.year)
    given: dict[str, Any] = {"from": None}
    if page.chance("dated").random() < 0.5:
        given["from"] = [date(when.year, 1, 1)] * len(rows)
    if page.chance("margins").random() >= 0.5:
        given |= {"cost": None, "margin": None}
    return page.sheet(page.columns(rows, given))


def _customers(sales: Sales, when: When | None) -> Sheet:
    page = sales.page("customers", when)
    chance, start = page.chance("rows"), date(sales.years[0] - 10, 1, 1)
    since = (start + timedelta(chance.randrange(3_600)) for _ in sales.customers)
    columns = page.columns(sales.customers, {"since": since}, chance=chance)
    return page.sheet([*columns[:4], *_some(page, columns[4:])])


def _products(sales: Sales, when: When | None) -> Sheet:
    page, goods = sales.page("products", when), sales.products
    chance, start = page.chance("rows"), date(sales.years[0] - 6, 1, 1)
    given = {
        "weight": (round(chance.uniform(0.2, 40), 1) for _ in goods),
        "launched": (start + timedelta(chance.randrange(2_000)) for _ in goods),
    }
    columns = page.columns(goods, given, chance=chance)
    return page.sheet([*columns[:4], *_some(page, columns[4:])])


def _some(page: Page, columns: Sequence[Any]) -> list[Any]:
    habit = page.chance("columns")
    return [column for column in columns if habit.random() < 0.6]


def _by_region(sales: Sales, when: When) -> Sheet:
    page = sales.page("by_region", when)
    tabs = [page.at("orders", each) for each in sales.tabs(when)]
    given: dict[str, Any] = {
        "quantity": _summed(tabs, "quantity", "region"),
        "revenue": _summed(tabs, "revenue", "region"),
        "share": None,
    }
    if len(tabs) == 3:  # a quarter by months
        monthly = {f"m{n}": _summed([tab], "revenue", "region") for n, tab in enumerate(tabs, 1)}
        given |= {**monthly, "revenue": page.formula("m1 + m2 + m3")}
    else:
        given |= {"m1": None, "m2": None, "m3": None}
    if page.chance("shares").random() < 0.5:
        whole = _added([Total(tab, "revenue") for tab in tabs])
        given["share"] = Combine("/", page.formula("revenue"), whole)
    one = sales.habits.pivoted and len(tabs) == 1
    pivots = [Pivot(tabs[0], "region", "quantity")] if one else []
    columns = page.columns([{"region": region} for region in sales.regions], given)
    return page.sheet(columns, chart=sales.habits.charted, pivots=pivots)


def _by_product(sales: Sales, when: When) -> Sheet:
    page = sales.page("by_product", when)
    tabs = [page.at("orders", each) for each in sales.tabs(when)]
    given: dict[str, Any] = {
        name: _summed(tabs, name, "product") for name in ("quantity", "revenue")
    }
    if page.chance("means").random() >= 0.6:
        given["mean"] = None
    return page.sheet(page.columns(sales.products, given))


def _annual(sales: Sales, when: When) -> Sheet:
    """Make a row for each tab of orders of the year: number of lines, sums, largest order."""
    page, tabs = sales.page("annual", when), sales.tabs(when)
    places = [page.at("orders", each) for each in tabs]
    given = {
        "orders": [Total(at, "quantity", "COUNT") for at in places],
        "quantity": [Total(at, "quantity") for at in places],
        "revenue": [Total(at, "revenue") for at in places],
        "largest": [Total(at, "revenue", "MAX") for at in places],
    }
    columns = page.columns([{"period": spoken(each)} for each in tabs], given)
    return page.sheet(columns, chart=sales.habits.charted)


def _annual_regions(sales: Sales, when: When) -> Sheet:
    """Show revenue by region and quarter, from the quarters' summaries or order tabs."""
    page, given = sales.page("annual_regions", when), {}
    for name, quarter in zip(_QUARTERS, quarters(when.year), strict=True):
        if sales.habits.split == "years":
            given[name] = _summed([page.at("orders", quarter)], "revenue", "region")
        else:  # SUMIFS cannot read closed workbooks, lookups can
            given[name] = page.formula("lookup(by_region.revenue, region)", quarter)
    return page.sheet(page.columns([{"region": region} for region in sales.regions], given))


def _targets(sales: Sales, when: When) -> Sheet:
    page, tabs = sales.page("targets", when), sales.tabs(when)
    by_region = sales.habits.targets == "region"
    sellers = dict.fromkeys(customer["seller"] for customer in sales.customers)
    names = sales.regions if by_region else list(sellers)
    price = fmean(row["price"] for row in sales.priced(when.year))
    lines = 17 if sales.habits.split == "months" else 38
    level, chance = lines * len(tabs) * 13.5 * price / len(names), page.chance(when.year)
    given: dict[str, Any] = {
        "target": [int(round(level * chance.uniform(0.75, 1.3), -3)) for _ in names],
        "seller" if by_region else "region": None,
    }
    if not by_region:
        places = [page.at("orders", each) for each in tabs]
        given["actual"] = _summed(places, "revenue", "seller")
    rows = [{sales.habits.targets: name} for name in names]
    return page.sheet(page.columns(rows, given))


def _summed(tabs: Sequence[SheetAt], column: str, where: str) -> Recipe:
    return _added([TotalWhere(tab, column, where, where) for tab in tabs])


def _added(terms: Sequence[Recipe]) -> Recipe:
    return reduce(lambda left, right: Combine("+", left, right), terms)
