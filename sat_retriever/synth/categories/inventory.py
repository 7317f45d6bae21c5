"""Make warehouse workbooks: entries, exits, ledgers, stocktakes and a yearly summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sat_retriever.synth.book.model import Book, Take, Through, Total
from sat_retriever.synth.categories.filing import Filed, Filing, Rows
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, months, some_days, spoken

_GROUPS = ("Raw Material", "Component", "Consumable", "Packaging", "Spare Part", "Tool")
_REASONS = ("Counting error", "Damaged", "Unbooked issue", "Wrong bin", "Late posting", "Expired")


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield the register of materials, then for each year entries, exits, ledgers and counts."""
    filing = Filing.of(house, "inventory", "each", "together", "kind", "kind", "year")
    if filing.mode == "kind":
        filing = replace(filing, beside={"annual": "ledger"})
    items = _items(house)
    yield from filing.bound([filing.page("register").filed(items)])
    for year in sorted(years):
        yield from filing.bound(_year(filing, items, year, first=year - 1 not in years))


def _year(filing: Filing, items: Rows, year: int, *, first: bool) -> Iterator[Filed]:
    """Yield all sheets of a year: by kind if a kind has a workbook, else by month."""
    makers = (
        partial(_moves, kind="entry"),
        partial(_moves, kind="exit"),
        partial(_ledger, first=first),
        _stocktake,
    )
    every = months(When(year))
    if filing.mode == "kind":
        yield from (make(filing, items, month) for make in makers for month in every)
    else:
        yield from (make(filing, items, month) for month in every for make in makers)
    yield _annual(filing, items, When(year))


def _items(house: House) -> Rows:
    chance = house.chance("inventory", "items")
    count = chance.randint(11, 20)
    suppliers, warehouses = house.pool("suppliers", 6), house.pool("warehouses", 3)
    nouns = ("material_codes", "materials", "material_specs", "material_units")
    return [
        {
            "material_code": code,
            "material_name": name,
            "specification": specification,
            "unit_name": unit,
            "group": chance.choice(_GROUPS),
            "unit_price": round(chance.lognormvariate(2.6, 1.0), 2),
            "supplier": chance.choice(suppliers),
            "warehouse": chance.choice(warehouses),
        }
        for code, name, specification, unit in zip(
            *(house.pool(noun, count) for noun in nouns), strict=True
        )
    ]


def _level(house: House, item: dict[str, Any], when: When) -> int:
    """Return the pieces in stock when a month begins; month 13 is the next January."""
    year, month = (when.year + 1, 1) if when.month == 13 else (when.year, when.month)
    return house.chance("inventory", "level", item["material_code"], year, month).randint(40, 460)


def _next(when: When) -> When:
    return When(when.year, month=when.month + 1)


def _typed(filing: Filing, kind: str) -> list[str]:
    habits = {
        "material_name": filing.has("look up", kind),
        "unit_price": filing.has("prices looked up"),
    }
    return [column for column, looked_up in habits.items() if not looked_up]


def _moves(filing: Filing, items: Rows, when: When, *, kind: str) -> Filed:
    """Make a month's entries or exits; they turn each opening stock into the closing stock."""
    house, chance = filing.house, filing.chance(kind, when)
    lines = []
    for item in items:
        moved = house.chance("inventory", "moved", item["material_code"], when)
        change = _level(house, item, _next(when)) - _level(house, item, when)
        through = moved.choice((0, 1, 1)) * moved.randint(10, 180)
        quantity = max(change if kind == "entry" else -change, 0) + through
        first = chance.randint(quantity // 3, quantity // 2) if quantity > 250 else quantity
        parts = filter(None, (first, quantity - first))
        lines += [item | {f"{kind}_quantity": part} for part in parts]
    lines = chance.sample(lines, len(lines))
    return filing.page(kind, when).filed(lines, typed=_typed(filing, kind), chance=chance)


def _ledger(filing: Filing, items: Rows, when: When, *, first: bool) -> Filed:
    """Make a month's ledger; `first` if the year before has no ledgers."""
    page = filing.page("ledger", when)
    opening: Any = [_level(filing.house, item, when) for item in items]
    if not first or when.month > 1:
        year, month = (when.year, when.month - 1) if when.month > 1 else (when.year - 1, 12)
        before = When(year, month=month)
        at = page.at("ledger", before)
        opening = [Take(at, "closing", row) for row in range(len(items))]
        if filing.has("opening looked up"):
            opening = page.formula("lookup(ledger.closing, material_code)", before)
    totals = filing.has("ledger totals", share=0.4)
    return page.filed(items, {"opening": opening}, typed=_typed(filing, page.id), totals=totals)


def _stocktake(filing: Filing, items: Rows, when: When) -> Filed:
    house, chance = filing.house, filing.chance("stocktake", when)
    some = [item for item in items if chance.random() < 0.9] or items
    booked = [_level(house, item, _next(when)) for item in some]
    counted = [max(0, count + chance.choice((0, 0, 0, 0, 1, -1, -2, 3, -5))) for count in booked]
    same = [one == other for one, other in zip(booked, counted, strict=True)]
    given = {
        "counted": counted,
        "count_date": [some_days(chance, when, 40)[-1]] * len(some),
        "reason": (None if equal else chance.choice(_REASONS) for equal in same),
    }
    page = filing.page("stocktake", when)
    return page.filed(some, given, typed=_typed(filing, page.id), chance=chance)


def _annual(filing: Filing, items: Rows, when: When) -> Filed:
    """Make the year by materials if the ledgers are tabs of one workbook, else by months."""
    every = months(when)
    if filing.mode != "kind" or not filing.has("through", share=0.7):
        page = filing.page("annual", when, form="months")
        ledgers = [page.at("ledger", month) for month in every]
        sums = ("opening", "inbound", "outbound", "closing", "closing_amount")
        given: dict[str, Any] = {name: [Total(at, name) for at in ledgers] for name in sums}
        return page.filed([{"month": spoken(month)} for month in every], given)
    page, rows = filing.page("annual", when, form="materials"), range(len(items))
    first, last = page.at("ledger", every[0]), page.at("ledger", every[-1])
    given = {
        name: [Through(first.sheet, last.sheet, name, row) for row in rows]
        for name in ("inbound", "outbound")
    }
    given["opening"] = [Take(first, "opening", row) for row in rows]
    given["closing"] = [Take(last, "closing", row) for row in rows]
    return page.filed(items, given, typed=_typed(filing, "annual"))
