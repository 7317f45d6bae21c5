"""Make order lines, price lists, and the registers of customers and products."""

from __future__ import annotations

from datetime import date, timedelta

from sat_retriever.synth.book.build import with_totals
from sat_retriever.synth.book.model import (
    Column,
    Combine,
    Lookup,
    Number,
    Own,
    Recipe,
    Sheet,
    SheetAt,
)
from sat_retriever.synth.categories.sales.company import Company
from sat_retriever.synth.house.when import When, some_days

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
        prices = [Lookup(at, "product", "product", "price")] * count
    optional: dict[str, Column] = {
        "customer_name": kind.column(
            "customer_name",
            [Lookup(company.register("customers"), "customer", "customer", "name")] * count,
        ),
        "product_name": kind.column("product_name", (product.name for product in products)),
        "seller": kind.column("seller", (customer.seller for customer in customers)),
        "discount": kind.column("discount", chance.choices(_DISCOUNTS, k=count), "percent"),
    }
    revenue: Recipe = Combine("*", Own("quantity"), Own("price"))
    if "discount" in company.habits.columns:
        revenue = Combine("*", revenue, Combine("-", Number(1), Own("discount")))
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
        cost = Lookup(company.register("products"), "product", "product", "cost")
        margin = Combine("-", Own("price"), Own("cost"))
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
