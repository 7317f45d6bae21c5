"""Make the stock sheets: ledger, stocktake and the summary of a year."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sat_retriever.synth.book.build import with_totals
from sat_retriever.synth.book.model import (
    Chart,
    Column,
    Combine,
    Lookup,
    Number,
    Own,
    Recipe,
    SheetAt,
    Take,
    Through,
    Total,
    TotalWhere,
    Value,
)
from sat_retriever.synth.categories.filing import Filed, Filing, arranged, either, grouped, noted
from sat_retriever.synth.categories.inventory.items import ID, Item, level
from sat_retriever.synth.categories.inventory.movements import described, prices, times
from sat_retriever.synth.house.when import When, months, some_days, spoken

_REASONS = ("Counting error", "Damaged", "Unbooked issue", "Wrong bin", "Late posting", "Expired")


def ledger(filing: Filing, items: Sequence[Item], when: When, *, first: bool) -> Filed:
    """Make a month's ledger; `first` if the year before has no ledgers."""
    kind = filing.kind("ledger")
    count = len(items)
    closing = Combine("-", Combine("+", Own("opening"), Own("inbound")), Own("outbound"))
    columns: Sequence[Column] = [
        *described(filing, "ledger", when, items),
        kind.column("warehouse", [item.warehouse for item in items]),
        kind.column("opening", _opening(filing, items, when, first=first), "integer"),
        kind.column("inbound", [_booked(filing, "entry", when)] * count, "integer"),
        kind.column("outbound", [_booked(filing, "exit", when)] * count, "integer"),
        kind.column("closing", [closing] * count, "integer"),
        kind.column("unit_price", prices(filing, "ledger", when, items), "amount"),
        kind.column("closing_amount", [times("closing")] * count, "amount"),
        kind.column("updated", some_days(kind.chance(when), when, count), "date"),
    ]
    columns = arranged(kind, columns, ("specification", "unit_name", "warehouse", "updated"))
    columns = grouped(
        kind, columns, "group_quantities", "opening", "inbound", "outbound", "closing"
    )
    filed = filing.sheet("ledger", when, columns)
    if either(filing.house, ID, "ledger totals", share=0.4):
        return noted(filed, lambda sheet: with_totals(sheet, "closing_amount"))
    return filed


def _booked(filing: Filing, kind: str, when: When) -> TotalWhere:
    """Sum the month's entries or exits of the row's material."""
    at = filing.place(kind, when).at(filing.place("ledger", when))
    return TotalWhere(at, f"{kind}_quantity", "material_code", "material_code")


def _opening(
    filing: Filing, items: Sequence[Item], when: When, *, first: bool
) -> list[Value | Recipe]:
    """Return last month's closing stock; numbers in the very first month."""
    if first and when.month == 1:
        return [level(filing.house, item, when.year, 1) for item in items]
    before = When(when.year, month=when.month - 1) if when.month > 1 else _december(when.year - 1)
    at = filing.place("ledger", before).at(filing.place("ledger", when))
    if either(filing.house, ID, "opening looked up"):
        return [Lookup(at, "material_code", "material_code", "closing")] * len(items)
    return [Take(at, "closing", row) for row in range(len(items))]


def _december(year: int) -> When:
    return When(year, month=12)


def stocktake(filing: Filing, items: Sequence[Item], when: When) -> Filed:
    """Make the stocktake at the end of a month, compared with the ledger."""
    kind, house = filing.kind("stocktake"), filing.house
    chance = kind.chance(when)
    some = [item for item in items if chance.random() < 0.9] or list(items)
    booked = [level(house, item, when.year, when.month + 1) for item in some]
    counted = [max(0, count + chance.choice((0, 0, 0, 0, 1, -1, -2, 3, -5))) for count in booked]
    same = [one == other for one, other in zip(booked, counted, strict=True)]
    at = filing.place("ledger", when).at(filing.place("stocktake", when))
    book_quantity = Lookup(at, "material_code", "material_code", "closing")
    people, day = house.pool("employees", 4), some_days(chance, when, 40)[-1]
    columns: Sequence[Column] = [
        *described(filing, "stocktake", when, some),
        kind.column("warehouse", [item.warehouse for item in some]),
        kind.column("book_quantity", [book_quantity] * len(some), "integer"),
        kind.column("counted", counted, "integer"),
        kind.column("variance", [_less("counted", "book_quantity")] * len(some), "integer"),
        kind.column("unit_price", prices(filing, "stocktake", when, some), "amount"),
        kind.column("variance_amount", [times("variance")] * len(some), "amount"),
        kind.column("count_date", [day] * len(some), "date"),
        kind.column("counter", [chance.choice(people) for _ in some]),
        kind.column("reason", [None if equal else chance.choice(_REASONS) for equal in same]),
    ]
    optional = ("specification", "unit_name", "warehouse", "variance_amount", "counter", "reason")
    columns = arranged(kind, columns, optional)
    columns = grouped(kind, columns, "group_quantities", "book_quantity", "counted", "variance")
    return filing.sheet("stocktake", when, columns)


def _less(left: str, right: str) -> Combine:
    return Combine("-", Own(left), Own(right))


def annual(filing: Filing, items: Sequence[Item], year: int) -> Filed:
    """Make the year by materials if the ledgers are tabs of one workbook, else by months."""
    by_material = filing.mode == "kind" and either(filing.house, ID, "through", share=0.7)
    columns = (_by_material if by_material else _by_month)(filing, items, When(year))
    filed = filing.sheet("annual", When(year), columns, summary=True)
    names = "material_code" if by_material else "month"
    if either(filing.house, ID, "chart"):
        chart = Chart(SheetAt(filed[2].name), names, "outbound")
        filed = noted(filed, lambda sheet: replace(sheet, charts=(chart,)))
    return noted(filed, lambda sheet: with_totals(sheet, "inbound", "outbound"))


def _by_material(filing: Filing, items: Sequence[Item], when: When) -> tuple[Column, ...]:
    kind, own = filing.kind("annual"), filing.place("annual", when)
    ledgers = [filing.place("ledger", month).at(own) for month in months(when)]
    first, last = ledgers[0], ledgers[-1]
    rows = range(len(items))

    def through(column: str) -> list[Recipe]:
        return [Through(first.sheet, last.sheet, column, row) for row in rows]

    average = Combine("*", Combine("+", Own("opening"), Own("closing")), Number(0.5))
    columns = [
        *described(filing, "annual", when, items),
        kind.column("opening", [Take(first, "opening", row) for row in rows], "integer"),
        kind.column("inbound", through("inbound"), "integer"),
        kind.column("outbound", through("outbound"), "integer"),
        kind.column("closing", [Take(last, "closing", row) for row in rows], "integer"),
        kind.column("turnover", [Combine("/", Own("outbound"), average)] * len(items), "amount"),
    ]
    return arranged(kind, columns, ("specification", "unit_name", "turnover"))


def _by_month(filing: Filing, items: Sequence[Item], when: When) -> tuple[Column, ...]:
    kind, own = filing.kind("annual"), filing.place("annual", when)
    every = months(when)
    ledgers = [filing.place("ledger", month).at(own) for month in every]
    columns = [kind.column("month", [spoken(month) for month in every])]
    for column in ("opening", "inbound", "outbound", "closing"):
        columns.append(kind.column(column, [Total(at, column) for at in ledgers], "integer"))
    amounts = [Total(at, "closing_amount") for at in ledgers]
    columns.append(kind.column("closing_amount", amounts, "amount"))
    return arranged(kind, columns, ("opening", "closing_amount"))
