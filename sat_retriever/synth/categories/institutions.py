"""Make wide sheets about an institution's units: cash, loans, notes, limits and payments."""

from __future__ import annotations

import calendar
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from sat_retriever.synth.book.model import Book
from sat_retriever.synth.categories.filing import Filed, Filing, Rows
from sat_retriever.synth.categories.tables import forms
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

_TYPES = ("Bank", "Leasing", "Trust", "Insurance", "Trading")
_KINDS_OF_UNIT = ("Head Office", "Branch", "Subsidiary", "Representative Office")
_NOT_CHOSEN = ("hierarchy", "indicators")
_NEEDS = {
    "deposits": ("deposits",),
    "financing": ("financing",),
    "quota": ("financing",),
    "notes": ("notes",),
    "pooled": ("pooling",),
    "credit_used": ("credit",),
    "net_position": ("deposits", "financing"),
    "usage": ("financing",),
}
"""The kinds that a column of the key figures needs."""


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield for each year the units, four to seven kinds of sheets about them, and key figures."""
    filing = Filing.of(house, "institutions", "each", "each", "year")
    every = [kind for kind in forms("institutions") if kind not in _NOT_CHOSEN]
    chance = filing.chance("kinds")
    chosen = chance.sample(sorted(every), chance.randint(4, 7))
    units = _units(house)
    lacking = [column for column, kinds in _NEEDS.items() if not {*kinds} <= {*chosen}]
    for year in sorted(years):
        when = When(year)
        sheets = [filing.page("hierarchy", when).filed(units)]
        sheets += [_figures(filing, kind, units, when) for kind in every if kind in chosen]
        sheets.append(filing.page("indicators", when).filed(units, dict.fromkeys(lacking)))
        yield from filing.bound(sheets)


def _units(house: House) -> Rows:
    """Draw 9 to 15 units in cities, equal in all workbooks; the first is the head office."""
    chance = house.chance("institutions", "entities")
    count = chance.randint(9, 15)
    ids, first = house.pool("entity_ids", count), house.name.split()[0]
    return [
        {
            "entity_id": number,
            "entity_name": f"{first} {city}",
            "number": place + 1,
            "parent": ids[0] if place else None,
            "level": chance.choice((2, 2, 3)) if place else 1,
            "type": chance.choice(_TYPES),
            "subsidiary": chance.choice("YYN") if place else "N",
            "institution_type": _KINDS_OF_UNIT[chance.randint(1, 3) if place else 0],
        }
        for place, (number, city) in enumerate(zip(ids, house.pool("cities", count), strict=True))
    ]


def _figures(filing: Filing, kind: str, units: Rows, when: When) -> Filed:
    """Make a sheet with a row per unit and cut-off day: the year's end, halves, or quarters."""
    step = filing.chance("ends", kind).choice((12, 6, 3))
    rows = []
    for month in range(step, 13, step):
        end = date(when.year, month, calendar.monthrange(when.year, month)[1])
        dates = {"date": end, "business_date": end, "data_date": end + timedelta(1)}
        rows += [unit | dates for unit in units]
    typed = () if filing.has("look up") else ("entity_name",)
    return filing.page(kind, when).filed(rows, typed=typed)
