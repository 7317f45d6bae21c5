"""Make order lines, price lists and registers, from one company's customers and products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from sat_retriever.synth.book.build import less, looked_up, times, with_totals
from sat_retriever.synth.book.model import Column, Number, Recipe, Sheet, SheetAt
from sat_retriever.synth.categories import company
from sat_retriever.synth.categories.company import drawn, one_of, share
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, months, quarters, some_days

CATEGORY = "sales"
OPTIONAL = ("customer_name", "product_name", "seller", "discount")


@dataclass(frozen=True, slots=True)
class Habits(company.Habits):
    """The habits of one company's sales department."""

    category = CATEGORY

    # Optional columns of the order lines.
    columns: tuple[str, ...] = drawn(
        lambda chance, _: tuple(column for column in OPTIONAL if chance.random() < 0.5)
    )
    # Place of the orders: one tab in a workbook of the quarter, one tab per month there, or four
    # tabs in one workbook of the year.
    split: Literal["quarters", "months", "years"] = one_of(
        "quarters", "quarters", "months", "years"
    )
    registers: bool = share(0.6)  # registers have their own workbook, else tabs beside the orders
    products: bool = share(0.7)  # sales are also summed by product
    # Level of the sales targets.
    targets: Literal["region", "seller"] = drawn(
        lambda chance, habits: (
            "seller" if "seller" in habits["columns"] and chance.random() < 0.6 else "region"
        )
    )
    charted: bool = share(0.5)  # summaries have a chart
    pivoted: bool = share(0.25)  # summaries by region have a pivot table
    priced: bool = share(0.85)  # order lines look up their price in the price list


@dataclass(frozen=True, slots=True)
class Customer:
    """One customer, with region and salesperson."""

    id: str
    name: str
    region: str
    seller: str


@dataclass(frozen=True, slots=True)
class Product:
    """One product, with its first price and its production cost."""

    code: str
    name: str
    line: str
    price: float
    cost: float


@dataclass(frozen=True, slots=True)
class Company(company.Company):
    """A house with its customers and products."""

    category = CATEGORY

    habits: Habits
    regions: tuple[str, ...]
    customers: tuple[Customer, ...]
    products: tuple[Product, ...]

    @classmethod
    def of(cls, house: House, years: Sequence[int]) -> Company:
        """Draw the company of a house."""
        chance = house.chance(CATEGORY, "size")
        regions = house.pool("regions", chance.randint(3, 6))
        sellers = house.pool("employees", chance.randint(4, 8))
        customers = _customers(house, chance.randint(14, 36), regions, sellers)
        products = _products(house, chance.randint(9, 22))
        return cls(house, sorted(set(years)), Habits.of(house), regions, customers, products)

    @property
    def sellers(self) -> tuple[str, ...]:
        """The salespeople, in order of their first customer."""
        return tuple(dict.fromkeys(customer.seller for customer in self.customers))

    def price(self, product: Product, year: int) -> float:
        """Return a product's list price in a year; prices rise over the years."""
        rise = 1.03 ** (year - self.years[0])
        chance = self.kind("prices").chance(product.code, year)
        return round(product.price * rise * chance.uniform(0.98, 1.02), 2)

    def order_tabs(self, year: int) -> tuple[When, ...]:
        """Return the periods that have a tab of orders, in order."""
        return months(When(year)) if self.habits.split == "months" else quarters(year)

    def path(self, when: When) -> str:
        """Return the path of the workbook with the orders of a period."""
        if self.habits.split == "years":
            return self.house.path(CATEGORY, "", When(when.year))
        quarter = when.quarter or (when.month + 2) // 3
        return self.house.path(CATEGORY, "", When(when.year, quarter=quarter))

    def annual_path(self, year: int) -> str:
        """Return the path of the workbook with the summaries of a year."""
        if self.habits.split == "years":
            return self.house.path(CATEGORY, "", When(year))
        return self.house.path(CATEGORY, self.kind("annual").subject(), When(year))

    def orders(self, when: When, seen_from: str) -> SheetAt:
        """Refer to the orders of a period from a workbook's path."""
        path = self.path(when)
        tab = self.kind("orders").tab(None if self.habits.split == "quarters" else when)
        return SheetAt(tab, "" if path == seen_from else path)

    def register(self, name: str) -> SheetAt:
        """Refer to the customers or products from a workbook with orders."""
        path = ""
        if self.habits.registers:
            path = self.house.path(CATEGORY, self.kind("customers").subject(), None)
        return SheetAt(self.kind(name).tab(), path)


def _customers(
    house: House, count: int, regions: Sequence[str], sellers: Sequence[str]
) -> tuple[Customer, ...]:
    ids, names = house.pool("customer_ids", count), house.pool("customers", count)
    found = []
    for place, (name, customer) in enumerate(zip(names, ids, strict=True)):
        chance = house.chance(CATEGORY, "customer", place)
        found.append(Customer(customer, name, chance.choice(regions), chance.choice(sellers)))
    return tuple(found)


def _products(house: House, count: int) -> tuple[Product, ...]:
    codes, names = house.pool("product_codes", count), house.pool("products", count)
    lines = ("Home", "Workshop", "Office", "Outdoor", "Industry")
    found = []
    for place, (code, name) in enumerate(zip(codes, names, strict=True)):
        chance = house.chance(CATEGORY, "product", place)
        price = round(10 ** chance.uniform(1.0, 2.9), 2)
        cost = round(price * chance.uniform(0.45, 0.8), 2)
        found.append(Product(code, name, chance.choice(lines), price, cost))
    return tuple(found)


_DISCOUNTS = (0.0, 0.0, 0.0, 0.02, 0.03, 0.05, 0.1)


def orders(company: Company, when: When) -> Sheet:
    """Make the order lines of a quarter or month, by date."""
    kind = company.kind("orders")
    chance = kind.chance(when.year, when.quarter, when.month)
    count = chance.randint(10, 24) if when.month else chance.randint(18, 58)
    customers = chance.choices(company.customers, k=count)
    products = chance.choices(company.products, k=count)
    part = when.month or when.quarter
    numbers = (f"{when.year % 100:02}{part:02}{line:04}" for line in range(1, count + 1))
    quantities = (max(1, round(chance.lognormvariate(2.2, 0.9))) for _ in range(count))
    at = SheetAt(company.kind("prices").tab())
    prices: list[float | Recipe] = [company.price(product, when.year) for product in products]
    if company.habits.priced:
        prices = [looked_up(at, "product", "price")] * count
    optional: dict[str, Column] = {
        "customer_name": kind.column(
            "customer_name",
            [looked_up(company.register("customers"), "customer", "name")] * count,
        ),
        "product_name": kind.column("product_name", (product.name for product in products)),
        "seller": kind.column("seller", (customer.seller for customer in customers)),
        "discount": kind.column("discount", chance.choices(_DISCOUNTS, k=count), "percent"),
    }
    revenue = times("quantity", "price")
    if "discount" in company.habits.columns:
        revenue = times(revenue, less(Number(1), "discount"))
    columns = [
        kind.column("date", some_days(chance, when, count), "date"),
        kind.column("order", numbers, key="order", unique=True),
        kind.column("customer", (customer.id for customer in customers), key="customer"),
        kind.column("product", (product.code for product in products), key="product"),
        kind.column("region", (customer.region for customer in customers), key="region"),
        kind.column("quantity", quantities, "integer"),
        kind.column("price", prices, "amount"),
        kind.column("revenue", [revenue] * count, "amount"),
    ]
    places = {"customer_name": "customer", "product_name": "product", "seller": "region"}
    places["discount"] = "price"
    for name in company.habits.columns:
        after = next(i for i, column in enumerate(columns) if column.id == places[name])
        columns.insert(after + 1, optional[name])
    sheet = kind.sheet(columns, when, name=company.orders(when, company.path(when)).sheet)
    if kind.chance("totals").random() < 0.4:
        sheet = with_totals(sheet, "quantity", "revenue")
    return sheet


def prices(company: Company, when: When) -> Sheet:
    """Make the price list of a period; costs are looked up in the product register."""
    kind, count = company.kind("prices"), len(company.products)
    columns = [
        kind.column(
            "product", (product.code for product in company.products), key="product", unique=True
        ),
        kind.column("name", (product.name for product in company.products)),
        kind.column(
            "price", (company.price(product, when.year) for product in company.products), "amount"
        ),
    ]
    if kind.chance("dated").random() < 0.5:
        columns.append(kind.column("from", [date(when.year, 1, 1)] * count, "date"))
    if kind.chance("margins").random() < 0.5:
        cost = looked_up(company.register("products"), "product", "cost")
        margin = less("price", "cost")
        columns.append(kind.column("cost", [cost] * count, "amount"))
        columns.append(kind.column("margin", [margin] * count, "amount"))
    return kind.sheet(columns, when)


def customers(company: Company, when: When | None) -> Sheet:
    """Make the register of customers, for one period if it is kept by period."""
    kind, buyers = company.kind("customers"), company.customers
    habit, chance = kind.chance("columns"), kind.chance("rows")
    cities = company.house.pool("cities", 12)
    start = date(company.years[0] - 10, 1, 1)
    columns = [
        kind.column("customer", (buyer.id for buyer in buyers), key="customer", unique=True),
        kind.column("name", (buyer.name for buyer in buyers)),
        kind.column("region", (buyer.region for buyer in buyers), key="region"),
        kind.column("city", chance.choices(cities, k=len(buyers))),
    ]
    days = (start + timedelta(chance.randrange(3_600)) for _ in buyers)
    limits = (chance.randrange(5, 120) * 1_000 for _ in buyers)
    optional = (
        kind.column("since", days, "date"),
        kind.column("terms", chance.choices((14, 30, 45, 60), k=len(buyers)), "integer"),
        kind.column("limit", limits, "integer"),
        kind.column("seller", (buyer.seller for buyer in buyers)),
    )
    columns += [column for column in optional if habit.random() < 0.6]
    return kind.sheet(columns, when)


def products(company: Company, when: When | None) -> Sheet:
    """Make the register of products, for one period if it is kept by period."""
    kind, goods = company.kind("products"), company.products
    habit, chance = kind.chance("columns"), kind.chance("rows")
    start = date(company.years[0] - 6, 1, 1)
    launched = (start + timedelta(chance.randrange(2_000)) for _ in goods)
    columns = [
        kind.column("product", (product.code for product in goods), key="product", unique=True),
        kind.column("name", (product.name for product in goods)),
        kind.column("line", (product.line for product in goods)),
        kind.column("cost", (product.cost for product in goods), "amount"),
    ]
    optional = (
        kind.column("unit", chance.choices(("pcs", "pcs", "box", "set"), k=len(goods))),
        kind.column("weight", (round(chance.uniform(0.2, 40), 1) for _ in goods), "amount"),
        kind.column("launched", launched, "date"),
    )
    columns += [column for column in optional if habit.random() < 0.6]
    return kind.sheet(columns, when)
