"""Draw the materials of a house, and their stock and movements."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

ID = "inventory"
_GROUPS = ("Raw Material", "Component", "Consumable", "Packaging", "Spare Part", "Tool")


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


@dataclass(frozen=True, slots=True)
class Line:
    """One movement of an item."""

    item: Item
    quantity: int


def items_of(house: House) -> tuple[Item, ...]:
    """Draw the 11 to 20 materials of a house."""
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


def level(house: House, item: Item, year: int, month: int) -> int:
    """Return the pieces in stock at the beginning of a month; month 13 is the next January."""
    year, month = (year + 1, 1) if month == 13 else (year, month)
    return house.chance(ID, "level", item.code, year, month).randint(40, 460)


def moved(house: House, item: Item, when: When) -> tuple[int, int]:
    """Return the pieces in and out in a month, which turn its opening into its closing stock."""
    change = level(house, item, when.year, when.month + 1)
    change -= level(house, item, when.year, when.month)
    chance = house.chance(ID, "moved", item.code, when)
    through = chance.choice((0, 1, 1)) * chance.randint(10, 180)
    return max(change, 0) + through, max(-change, 0) + through


def lines(chance: random.Random, moved: Sequence[tuple[Item, int]]) -> list[Line]:
    """Split the quantities into movements, in random order; large ones become two."""
    lines = []
    for item, quantity in moved:
        first = chance.randint(quantity // 3, quantity // 2) if quantity > 250 else quantity
        lines += [Line(item, part) for part in (first, quantity - first) if part]
    return chance.sample(lines, len(lines))
