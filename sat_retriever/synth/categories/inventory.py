"""Make warehouse workbooks: entries, exits, ledgers, stocktakes and a yearly summary."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sat_retriever.synth.book.build import (
    Cells,
    added,
    less,
    looked_up,
    ratio,
    summed_by,
    times,
    with_chart,
)
from sat_retriever.synth.book.model import (
    Book,
    Column,
    Lookup,
    Number,
    Recipe,
    Take,
    Through,
    Total,
)
from sat_retriever.synth.categories.filing import Filed, Filing, Page, changed, tabled
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, months, some_days, spoken

ID = "inventory"
_GROUPS = ("Raw Material", "Component", "Consumable", "Packaging", "Spare Part", "Tool")
_USAGES = ("Production", "Maintenance", "Repair", "Project", "Sample", "Replacement")
_REASONS = ("Counting error", "Damaged", "Unbooked issue", "Wrong bin", "Late posting", "Expired")
_REMARKS = (
    "Partial delivery",
    "Urgent",
    "Quality check passed",
    "Replacement",
    "Packaging damaged",
)


@dataclass(frozen=True, slots=True)
class Item:
    """One material, equal in all workbooks of the house."""

    code: str
    name: str
    specification: str
    unit: str
    group: str
    price: float
    supplier: str
    warehouse: str

    def level(self, house: House, year: int, month: int) -> int:
        """Return the pieces in stock when a month begins; month 13 is the next January."""
        year, month = (year + 1, 1) if month == 13 else (year, month)
        return house.chance(ID, "level", self.code, year, month).randint(40, 460)

    def moved(self, house: House, when: When) -> tuple[int, int]:
        """Return the pieces in and out in a month, which turn its opening into its closing."""
        change = self.level(house, when.year, when.month + 1)
        change -= self.level(house, when.year, when.month)
        chance = house.chance(ID, "moved", self.code, when)
        through = chance.choice((0, 1, 1)) * chance.randint(10, 180)
        return max(change, 0) + through, max(-change, 0) + through


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the register of materials, then for each year entries, exits, ledgers and counts."""
    filing = Filing.of(house, ID, "each", "together", "kind", "kind", "year")
    if filing.mode == "kind":
        filing = replace(filing, beside={"annual": "ledger"})
    items = _items(house)
    yield from filing.bound([_register(filing, items)])
    for year in sorted(years):
        yield from filing.bound(_year(filing, items, year, first=year - 1 not in years))


def _year(filing: Filing, items: Sequence[Item], year: int, *, first: bool) -> Iterator[Filed]:
    """Yield all sheets of a year: by kind if a kind has a workbook, else by month."""
    makers = (_entry, _exit, partial(_ledger, first=first), _stocktake)
    every = months(When(year))
    if filing.mode == "kind":
        yield from (make(filing, items, month) for make in makers for month in every)
    else:
        yield from (make(filing, items, month) for month in every for make in makers)
    yield _annual(filing, items, When(year))


def _items(house: House) -> tuple[Item, ...]:
    chance = house.chance(ID, "items")
    count = chance.randint(11, 20)
    suppliers, warehouses = house.pool("suppliers", 6), house.pool("warehouses", 3)
    nouns = ("material_codes", "materials", "material_specs", "material_units")
    return tuple(
        Item(
            code,
            name,
            specification,
            unit,
            chance.choice(_GROUPS),
            round(chance.lognormvariate(2.6, 1.0), 2),
            chance.choice(suppliers),
            chance.choice(warehouses),
        )
        for code, name, specification, unit in zip(
            *(house.pool(noun, count) for noun in nouns), strict=True
        )
    )


def _described(page: Page, items: Sequence[Item], *, unique: bool = False) -> list[Column]:
    """Return code, name, specification and unit; names are looked up if the house does so."""
    names: Cells | Recipe = [item.name for item in items]
    if page.id != "register" and page.filing.has("look up", page.id):
        names = _from_register(page, "material_name")
    return [
        page.column("material_code", [i.code for i in items], key="material", unique=unique),
        page.column("material_name", names),
        page.column("specification", [item.specification for item in items]),
        page.column("unit_name", [item.unit for item in items]),
    ]


def _from_register(page: Page, column: str) -> Lookup:
    return looked_up(page.at("register", None), "material_code", column)


def _priced(page: Page, items: Sequence[Item]) -> Column:
    """Return the prices of the items, looked up in the register if the house does so."""
    prices: Cells | Recipe = [item.price for item in items]
    if page.filing.has("prices looked up"):
        prices = _from_register(page, "unit_price")
    return page.column("unit_price", prices, "amount")


def _register(filing: Filing, items: Sequence[Item]) -> Filed:
    """Make the register, the sheet that owns the material codes."""
    page, chance = filing.page("register", None, len(items)), filing.chance("register")
    days = (3, 5, 7, 10, 14, 21, 30)
    columns = [
        *_described(page, items, unique=True),
        page.column("group", [item.group for item in items]),
        page.column("unit_price", [item.price for item in items], "amount"),
        page.column("supplier", [item.supplier for item in items]),
        page.column("warehouse", [item.warehouse for item in items]),
        page.column("safety_stock", [10 * chance.randint(2, 20) for _ in items], "integer"),
        page.column("lead_time", [chance.choice(days) for _ in items], "integer"),
        page.column("remark", [chance.choice((None, *_REMARKS)) for _ in items]),
    ]
    optional = ("specification", "group", "supplier", "warehouse", "lead_time", "remark")
    return changed(page.filed(columns, optional), tabled, "Materials")


def _lines(chance: random.Random, moved: Sequence[tuple[Item, int]]) -> list[tuple[Item, int]]:
    """Split the quantities into movements, in random order; large ones become two."""
    lines = []
    for item, quantity in moved:
        first = chance.randint(quantity // 3, quantity // 2) if quantity > 250 else quantity
        lines += [(item, part) for part in (first, quantity - first) if part]
    return chance.sample(lines, len(lines))


def _entry(filing: Filing, items: Sequence[Item], when: When) -> Filed:
    house = filing.house
    chance = filing.chance("entry", when)
    lines = _lines(chance, [(item, item.moved(house, when)[0]) for item in items])
    page, some = filing.page("entry", when, len(lines)), [item for item, _ in lines]
    people = house.pool("employees", 5)
    columns = [
        page.column("entry_no", _numbers("IN", when, len(some))),
        page.column("entry_date", some_days(chance, when, len(some)), "date"),
        *_described(page, some),
        page.column("entry_quantity", [quantity for _, quantity in lines], "integer"),
        _priced(page, some),
        page.column("entry_amount", times("entry_quantity", "unit_price"), "amount"),
        page.column("supplier", [item.supplier for item in some]),
        page.column("warehouse", [item.warehouse for item in some]),
        page.column("acceptor", [chance.choice(people) for _ in some]),
        page.column("remark", [chance.choice((None, *_REMARKS)) for _ in some]),
    ]
    optional = ("specification", "unit_name", "supplier", "warehouse", "acceptor", "remark")
    return page.filed(columns, optional, head=2)


def _exit(filing: Filing, items: Sequence[Item], when: When) -> Filed:
    house = filing.house
    chance = filing.chance("exit", when)
    lines = _lines(chance, [(item, item.moved(house, when)[1]) for item in items])
    page, some = filing.page("exit", when, len(lines)), [item for item, _ in lines]
    people, departments = house.pool("employees", 8), house.pool("departments", 6)
    columns = [
        page.column("exit_no", _numbers("OUT", when, len(some))),
        page.column("exit_date", some_days(chance, when, len(some)), "date"),
        *_described(page, some),
        page.column("exit_quantity", [quantity for _, quantity in lines], "integer"),
        _priced(page, some),
        page.column("exit_amount", times("exit_quantity", "unit_price"), "amount"),
        page.column("department", [chance.choice(departments) for _ in some]),
        page.column("usage", [chance.choice(_USAGES) for _ in some]),
        page.column("handler", [chance.choice(people) for _ in some]),
        page.column("warehouse", [item.warehouse for item in some]),
        page.column("remark", [chance.choice((None, *_REMARKS)) for _ in some]),
    ]
    optional = ("specification", "unit_name", "usage", "handler", "warehouse", "remark")
    return page.filed(columns, optional, head=2)


def _numbers(prefix: str, when: When, count: int) -> list[str]:
    return [f"{prefix}{when.year}{when.month:02}{n:03}" for n in range(1, count + 1)]


def _ledger(filing: Filing, items: Sequence[Item], when: When, *, first: bool) -> Filed:
    """Make a month's ledger; `first` if the year before has no ledgers."""
    page = filing.page("ledger", when, len(items))
    quantities = ("opening", "inbound", "outbound", "closing")
    columns = [
        *_described(page, items),
        page.column("warehouse", [item.warehouse for item in items]),
        page.column("opening", _opening(page, items, when, first=first), "integer"),
        page.column("inbound", _booked(page, "entry"), "integer"),
        page.column("outbound", _booked(page, "exit"), "integer"),
        page.column("closing", less(added("opening", "inbound"), "outbound"), "integer"),
        _priced(page, items),
        page.column("closing_amount", times("closing", "unit_price"), "amount"),
        page.column("updated", some_days(page.chance(when), when, len(items)), "date"),
    ]
    return page.filed(
        columns,
        ("specification", "unit_name", "warehouse", "updated"),
        groups={"group_quantities": quantities},
        totals=("closing_amount",) if filing.has("ledger totals", share=0.4) else (),
    )


def _booked(page: Page, kind: str) -> Recipe:
    """Sum the month's entries or exits of the row's material."""
    return summed_by(page.at(kind, page.when), "material_code", f"{kind}_quantity")


def _opening(page: Page, items: Sequence[Item], when: When, *, first: bool) -> Cells | Recipe:
    """Return last month's closing stock; numbers in the very first month."""
    if first and when.month == 1:
        return [item.level(page.house, when.year, 1) for item in items]
    year, month = (when.year, when.month - 1) if when.month > 1 else (when.year - 1, 12)
    before = page.at("ledger", When(year, month=month))
    if page.filing.has("opening looked up"):
        return looked_up(before, "material_code", "closing")
    return [Take(before, "closing", row) for row in range(len(items))]


def _stocktake(filing: Filing, items: Sequence[Item], when: When) -> Filed:
    """Make the stocktake at the end of a month, compared with the ledger."""
    house, chance = filing.house, filing.chance("stocktake", when)
    some = [item for item in items if chance.random() < 0.9] or list(items)
    page = filing.page("stocktake", when, len(some))
    booked = [item.level(house, when.year, when.month + 1) for item in some]
    counted = [max(0, count + chance.choice((0, 0, 0, 0, 1, -1, -2, 3, -5))) for count in booked]
    same = [one == other for one, other in zip(booked, counted, strict=True)]
    in_ledger = looked_up(page.at("ledger", when), "material_code", "closing")
    people, day = house.pool("employees", 4), some_days(chance, when, 40)[-1]
    columns = [
        *_described(page, some),
        page.column("warehouse", [item.warehouse for item in some]),
        page.column("book_quantity", in_ledger, "integer"),
        page.column("counted", counted, "integer"),
        page.column("variance", less("counted", "book_quantity"), "integer"),
        _priced(page, some),
        page.column("variance_amount", times("variance", "unit_price"), "amount"),
        page.column("count_date", [day] * len(some), "date"),
        page.column("counter", [chance.choice(people) for _ in some]),
        page.column("reason", [None if equal else chance.choice(_REASONS) for equal in same]),
    ]
    optional = ("specification", "unit_name", "warehouse", "variance_amount", "counter", "reason")
    quantities = ("book_quantity", "counted", "variance")
    return page.filed(columns, optional, groups={"group_quantities": quantities})


def _annual(filing: Filing, items: Sequence[Item], when: When) -> Filed:
    """Make the year by materials if the ledgers are tabs of one workbook, else by months."""
    by_material = filing.mode == "kind" and filing.has("through", share=0.7)
    page = filing.page("annual", when, len(items) if by_material else 12, summary=True)
    columns = _material_rows(page, items, when) if by_material else _month_rows(page, when)
    dropped = ("specification", "unit_name", "turnover")
    optional = dropped if by_material else ("opening", "closing_amount")
    filed = page.filed(columns, optional, totals=("inbound", "outbound"))
    names = "material_code" if by_material else "month"
    return changed(filed, with_chart, names, "outbound") if filing.has("chart") else filed


def _material_rows(page: Page, items: Sequence[Item], when: When) -> list[Column]:
    every = months(when)
    first, last = page.at("ledger", every[0]), page.at("ledger", every[-1])
    rows = range(len(items))

    def through(column: str) -> list[Recipe]:
        return [Through(first.sheet, last.sheet, column, row) for row in rows]

    average = times(added("opening", "closing"), Number(0.5))
    return [
        *_described(page, items),
        page.column("opening", [Take(first, "opening", row) for row in rows], "integer"),
        page.column("inbound", through("inbound"), "integer"),
        page.column("outbound", through("outbound"), "integer"),
        page.column("closing", [Take(last, "closing", row) for row in rows], "integer"),
        page.column("turnover", ratio("outbound", average), "amount"),
    ]


def _month_rows(page: Page, when: When) -> list[Column]:
    ledgers = [page.at("ledger", month) for month in months(when)]
    columns = [page.column("month", [spoken(month) for month in months(when)])]
    for column in ("opening", "inbound", "outbound", "closing"):
        columns.append(page.column(column, [Total(at, column) for at in ledgers], "integer"))
    amounts = [Total(at, "closing_amount") for at in ledgers]
    return [*columns, page.column("closing_amount", amounts, "amount")]
