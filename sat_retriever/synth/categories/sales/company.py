"""One company's products, customers and sales habits, the same in all its workbooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sat_retriever.synth.book.build import Kind
from sat_retriever.synth.book.model import SheetAt
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, months, quarters

CATEGORY = "sales"
OPTIONAL = ("customer_name", "product_name", "seller", "discount")


@dataclass(frozen=True, slots=True)
class Habits:
    """The habits of a company, equal in all years.

    Attributes:
        split: Place of the orders: one tab in a workbook of the quarter, one tab per month there,
            or four tabs in one workbook of the year.
        registers: True if customers and products are in a workbook of their own, else on tabs
            beside the orders.
        columns: Optional columns of the order lines.
        products: True if sales are also summed by product.
        targets: Level of the sales targets.
        charted: True if summaries have a chart.
        pivoted: True if summaries by region have a pivot table.
        priced: True if order lines look up their price in the price list.
    """

    split: Literal["quarters", "months", "years"]
    registers: bool
    columns: tuple[str, ...]
    products: bool
    targets: Literal["region", "seller"]
    charted: bool
    pivoted: bool
    priced: bool

    @classmethod
    def of(cls, house: House) -> Habits:
        """Draw the habits of a house."""
        chance = house.chance(CATEGORY, "habits")
        columns = tuple(column for column in OPTIONAL if chance.random() < 0.5)
        return cls(
            split=chance.choice(("quarters", "quarters", "months", "years")),
            registers=chance.random() < 0.6,
            columns=columns,
            products=chance.random() < 0.7,
            targets="seller" if "seller" in columns and chance.random() < 0.6 else "region",
            charted=chance.random() < 0.5,
            pivoted=chance.random() < 0.25,
            priced=chance.random() < 0.85,
        )


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
class Company:
    """A house with its customers and products.

    Attributes:
        house: The house.
        habits: Its habits.
        years: The years, ascending.
        regions: Its sales regions.
        customers: Its customers.
        products: Its products.
    """

    house: House
    habits: Habits
    years: Sequence[int]
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
        ordered = tuple(sorted(set(years)))
        return cls(house, Habits.of(house), ordered, regions, customers, products)

    @property
    def sellers(self) -> tuple[str, ...]:
        """The salespeople, in order of their first customer."""
        return tuple(dict.fromkeys(customer.seller for customer in self.customers))

    def kind(self, name: str) -> Kind:
        """Return a kind of sheet of this company."""
        return Kind(self.house, CATEGORY, name)

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
