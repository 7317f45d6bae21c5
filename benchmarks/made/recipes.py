"""Make workbooks that use every recipe, dialect and part of a layout."""

from __future__ import annotations

from datetime import date, timedelta

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Choices,
    Column,
    Combine,
    Dialect,
    Layout,
    Lookup,
    Number,
    Own,
    Pivot,
    Recipe,
    Sheet,
    SheetAt,
    Take,
    Through,
    Total,
    TotalWhere,
)
from sat_retriever.synth.house.when import When

STORE = "stock/Store.xlsx"
_NAMES = ("Bolt", "Anchor", "Washer", "Spring", "Gasket", "Bearing", "Flange", "Valve")
_PLACES = ("North", "South", "West")
DIALECTS = (
    Dialect(),
    Dialect("index_match", "column", "E2EFDA", "Arial"),
    Dialect("vlookup", "name"),
    Dialect("index_match", "table", "FCE4D6"),
    Dialect("xlookup", "area"),
)


def store(dialect: Dialect = DIALECTS[0], *, path: str = STORE, rows: int = 24) -> Book:
    """Make a workbook of a store: things, goods in by month, their sums, a hidden list."""
    months = ("Jan", "Feb", "Mar")
    sheets = (
        _things(),
        *(_month(name, number, rows) for number, name in enumerate(months, 1)),
        _summary(months),
        _lists(),
    )
    return Book(path, "Inventory Products", sheets, dialect, "by hand")


def report(dialect: Dialect = DIALECTS[0], *, path: str = "reports/2024/Report 2024.xlsx") -> Book:
    """Make a workbook that reads the store's workbook."""
    jan, things = SheetAt("Jan", STORE), SheetAt("Things", STORE)
    codes = tuple(_code(number) for number in range(6))
    columns = (
        Column("code", "Code", codes, key="store/thing"),
        Column("name", "Name", tuple(Lookup(things, "code", "code", "name") for _ in codes)),
        Column(
            "jan",
            "In January",
            tuple(TotalWhere(jan, "quantity", "code", "code") for _ in codes),
            "integer",
        ),
        Column("first", "First day", tuple(Take(jan, "day", row) for row in range(6)), "date"),
        Column(
            "share",
            "Share",
            tuple(Combine("/", Own("jan"), Total(jan, "quantity")) for _ in codes),
            "percent",
        ),
    )
    over = Sheet(
        "Overview",
        columns,
        layout=Layout(("Report on the store", "Internal use only"), gap=2),
        table_name="Overview",
    )
    notes = Sheet("Read me", (), layout=Layout(("How to read this report", "Ask before you edit")))
    return Book(path, "Inventory Products", (over, notes), dialect, "by hand")


def every_book() -> list[list[Book]]:
    """Return groups of workbooks that refer to each other, one group per dialect."""
    return [[store(dialect), report(dialect)] for dialect in DIALECTS]


def _code(number: int) -> str:
    return f"TH-{100 + number}"


def _things() -> Sheet:
    """Make a sheet of things with their key: a title, a units row and a plain table."""
    count = len(_NAMES)
    columns = (
        Column(
            "code",
            "Code",
            tuple(_code(number) for number in range(count)),
            key="store/thing",
            unique=True,
        ),
        Column("name", "Name", _NAMES),
        Column(
            "weight", "Weight", tuple(1.25 * (n + 1) for n in range(count)), "amount", unit="kg"
        ),
        Column("price", "Price", tuple(2.5 + n for n in range(count)), "amount", unit="EUR"),
    )
    layout = Layout(("Things in store",), first_row=1, first_column=1, notes=("Prices as of May.",))
    return Sheet("Things", columns, layout=layout)


def _month(name: str, number: int, rows: int) -> Sheet:
    """Make a sheet of one month's goods in: looked-up names and prices, running stock, choices."""
    things = SheetAt("Things")
    every = range(rows)
    running: list[int | Recipe] = [40 * number]
    running += [
        Combine("+", Take(SheetAt(name), "stock", row - 1), Own("quantity")) for row in every[1:]
    ]
    columns = (
        Column(
            "day", "Day", tuple(date(2024, number, 1) + timedelta(row) for row in every), "date"
        ),
        Column(
            "code",
            "Code",
            tuple(_code((row * 5 + number) % len(_NAMES)) for row in every),
            key="store/thing",
        ),
        Column("name", "Name", tuple(Lookup(things, "code", "code", "name") for _ in every)),
        Column("place", "Place", tuple(_PLACES[row % 3] for row in every)),
        Column("quantity", "Quantity", tuple((row * 7) % 11 + number for row in every), "integer"),
        Column(
            "value",
            "Value",
            tuple(
                Combine("*", Own("quantity"), Lookup(things, "code", "code", "price"))
                for _ in every
            ),
            "amount",
        ),
        Column("stock", "Stock", tuple(running), "integer"),
    )
    facts = SheetFacts(
        sheet_id=f"{STORE}#{name}",
        category="inventory",
        kind="goods in",
        period=When(2024, month=number).period("store/goods in"),
    )
    return Sheet(
        name,
        columns,
        facts,
        layout=Layout((f"Goods in, {name} 2024",), gap=2),
        table_name=f"Goods_{name}",
        choices=(Choices("code", things, "code"), Choices("place", SheetAt("Lists"), "place")),
    )


def _summary(months: tuple[str, ...]) -> Sheet:
    """Make a sheet of sums over the months with two header rows, totals, a chart and a pivot."""
    by_month = [
        Column(
            f"in_{name}",
            name,
            tuple(TotalWhere(SheetAt(name), "quantity", "place", "place") for _ in _PLACES),
            "integer",
            group="Quantity",
        )
        for name in months
    ]
    together = Combine("+", Combine("+", Own("in_Jan"), Own("in_Feb")), Own("in_Mar"))
    columns = (
        Column("place", "Place", _PLACES),
        *by_month,
        Column("all", "All", tuple(together for _ in _PLACES), "integer", group="Quantity"),
        Column(
            "mean",
            "Average",
            tuple(Total(SheetAt(name), "quantity", "AVERAGE") for name in months),
            "amount",
            group="By month",
        ),
        Column(
            "most",
            "Most",
            tuple(Total(SheetAt(name), "quantity", "MAX") for name in months),
            "integer",
            group="By month",
        ),
        Column(
            "row",
            "First rows",
            tuple(Through("Jan", "Mar", "quantity", row) for row in range(3)),
            "integer",
        ),
        Column(
            "less",
            "After loss",
            tuple(
                Combine("*", Combine("-", Own("all"), Number(2.0)), Number(0.5)) for _ in _PLACES
            ),
            "amount",
        ),
    )
    return Sheet(
        "Summary",
        columns,
        layout=Layout(("Goods in by place",), first_column=1, notes=("Losses are estimated.",)),
        totals=(("all", "SUM"), ("most", "MAX")),
        charts=(Chart(SheetAt("Jan"), "code", "quantity"),),
        pivots=(Pivot(SheetAt("Feb"), "place", "quantity"),),
    )


def _lists() -> Sheet:
    number = Column("number", "Number", tuple(range(1, 1 + len(_PLACES))), "integer")
    return Sheet("Lists", (Column("place", "Place", _PLACES), number), hidden=True)
