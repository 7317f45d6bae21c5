"""Make the register of materials, and the sheets of entries and exits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sat_retriever.synth.book.model import Column, Combine, Lookup, Own, Recipe, Value
from sat_retriever.synth.categories.filing import Filed, Filing, arranged, either, noted, tabled
from sat_retriever.synth.categories.inventory.items import ID, Item, lines, moved
from sat_retriever.synth.house.when import When, some_days

_USAGES = ("Production", "Maintenance", "Repair", "Project", "Sample", "Replacement")
_REMARKS = (
    "Partial delivery",
    "Urgent",
    "Quality check passed",
    "Replacement",
    "Packaging damaged",
)


def described(
    filing: Filing, kind_id: str, own: When | None, items: Sequence[Item]
) -> list[Column]:
    """Return code, name, specification and unit; names are looked up if the house does so."""
    kind, house = filing.kind(kind_id), filing.house
    names: list[Value | Recipe] = [item.name for item in items]
    if kind_id != "register" and either(house, ID, "look up", kind_id):
        names = [_from_register(filing, kind_id, own, "material_name")] * len(items)
    return [
        kind.column("material_code", [item.code for item in items], key="material"),
        kind.column("material_name", names),
        kind.column("specification", [item.specification for item in items]),
        kind.column("unit_name", [item.unit for item in items]),
    ]


def _from_register(filing: Filing, kind: str, when: When | None, column: str) -> Lookup:
    at = filing.place("register", None).at(filing.place(kind, when))
    return Lookup(at, "material_code", "material_code", column)


def prices(filing: Filing, kind: str, when: When, items: Sequence[Item]) -> list[Value | Recipe]:
    """Return the prices of the items, or lookups in the register if the house does so."""
    if either(filing.house, ID, "prices looked up"):
        return [_from_register(filing, kind, when, "unit_price")] * len(items)
    return [item.price for item in items]


def register(filing: Filing, items: Sequence[Item]) -> Filed:
    """Make the register, the sheet that owns the material codes."""
    kind, chance = filing.kind("register"), filing.house.chance(ID, "register")
    code, *more = described(filing, "register", None, items)
    columns = [
        replace(code, unique=True),
        *more,
        kind.column("group", [item.group for item in items]),
        kind.column("unit_price", [item.price for item in items], "amount"),
        kind.column("supplier", [item.supplier for item in items]),
        kind.column("warehouse", [item.warehouse for item in items]),
        kind.column("safety_stock", [10 * chance.randint(2, 20) for _ in items], "integer"),
        kind.column(
            "lead_time", [chance.choice((3, 5, 7, 10, 14, 21, 30)) for _ in items], "integer"
        ),
        kind.column("remark", [chance.choice((None, *_REMARKS)) for _ in items]),
    ]
    optional = ("specification", "group", "supplier", "warehouse", "lead_time", "remark")
    filed = filing.sheet("register", None, arranged(kind, columns, optional))
    return noted(filed, lambda sheet: tabled(sheet, "Materials"))


def entry(filing: Filing, items: Sequence[Item], when: When) -> Filed:
    """Make the entries of a month."""
    kind, house = filing.kind("entry"), filing.house
    chance = kind.chance(when)
    found = lines(chance, [(item, moved(house, item, when)[0]) for item in items])
    some = [line.item for line in found]
    people = house.pool("employees", 5)
    columns = [
        kind.column(
            "entry_no", [f"IN{when.year}{when.month:02}{n:03}" for n in range(1, len(some) + 1)]
        ),
        kind.column("entry_date", some_days(chance, when, len(some)), "date"),
        *described(filing, "entry", when, some),
        kind.column("entry_quantity", [line.quantity for line in found], "integer"),
        kind.column("unit_price", prices(filing, "entry", when, some), "amount"),
        kind.column("entry_amount", [times("entry_quantity")] * len(some), "amount"),
        kind.column("supplier", [item.supplier for item in some]),
        kind.column("warehouse", [item.warehouse for item in some]),
        kind.column("acceptor", [chance.choice(people) for _ in some]),
        kind.column("remark", [chance.choice((None, *_REMARKS)) for _ in some]),
    ]
    optional = ("specification", "unit_name", "supplier", "warehouse", "acceptor", "remark")
    return filing.sheet("entry", when, arranged(kind, columns, optional, head=2))


def exit_(filing: Filing, items: Sequence[Item], when: When) -> Filed:
    """Make the exits of a month."""
    kind, house = filing.kind("exit"), filing.house
    chance = kind.chance(when)
    found = lines(chance, [(item, moved(house, item, when)[1]) for item in items])
    some = [line.item for line in found]
    people, departments = house.pool("employees", 8), house.pool("departments", 6)
    columns = [
        kind.column(
            "exit_no", [f"OUT{when.year}{when.month:02}{n:03}" for n in range(1, len(some) + 1)]
        ),
        kind.column("exit_date", some_days(chance, when, len(some)), "date"),
        *described(filing, "exit", when, some),
        kind.column("exit_quantity", [line.quantity for line in found], "integer"),
        kind.column("unit_price", prices(filing, "exit", when, some), "amount"),
        kind.column("exit_amount", [times("exit_quantity")] * len(some), "amount"),
        kind.column("department", [chance.choice(departments) for _ in some]),
        kind.column("usage", [chance.choice(_USAGES) for _ in some]),
        kind.column("handler", [chance.choice(people) for _ in some]),
        kind.column("warehouse", [item.warehouse for item in some]),
        kind.column("remark", [chance.choice((None, *_REMARKS)) for _ in some]),
    ]
    optional = ("specification", "unit_name", "usage", "handler", "warehouse", "remark")
    return filing.sheet("exit", when, arranged(kind, columns, optional, head=2))


def times(quantity: str) -> Combine:
    """Multiply a quantity by the unit price of its row."""
    return Combine("*", Own(quantity), Own("unit_price"))
