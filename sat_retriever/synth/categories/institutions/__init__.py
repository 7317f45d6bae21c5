"""Make wide sheets about an institution's units: cash, loans, notes, limits and payments."""

from __future__ import annotations

import calendar
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sat_retriever.synth.book.build import with_totals
from sat_retriever.synth.book.model import (
    Book,
    Column,
    Combine,
    Lookup,
    Own,
    Recipe,
    TotalWhere,
    Value,
)
from sat_retriever.synth.categories.filing import (
    Filed,
    Filing,
    Mode,
    arranged,
    either,
    grouped,
    noted,
    tabled,
)
from sat_retriever.synth.categories.institutions.fields import (
    BY_ENTITY,
    DAYS,
    KINDS,
    SUMMED,
    Field,
    needed,
)
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

ID = "institutions"
_MODES: tuple[Mode, ...] = ("each", "each", "year")
_TYPES = ("Bank", "Leasing", "Trust", "Insurance", "Trading")
_KINDS_OF_UNIT = ("Head Office", "Branch", "Subsidiary", "Representative Office")


@dataclass(frozen=True, slots=True)
class _Entity:
    """One unit of an institution, equal in all its workbooks."""

    id: str
    name: str
    level: int
    own: dict[str, str]


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield for each year the units, four to seven kinds of sheets about them, and key figures."""
    filing = Filing(house, ID, house.chance(ID, "filing").choice(_MODES))
    kinds = _kinds(house)
    for year in sorted(years):
        yield from filing.bound(_year(filing, kinds, When(year)))


def _kinds(house: House) -> tuple[str, ...]:
    """Choose the kinds of sheets of the institution, in the usual order."""
    chance = house.chance(ID, "kinds")
    chosen = chance.sample(sorted(KINDS), chance.randint(4, 7))
    return tuple(kind for kind in KINDS if kind in chosen)


def _year(filing: Filing, kinds: Sequence[str], when: When) -> Iterator[Filed]:
    entities = _entities(filing.house)
    yield _hierarchy(filing, entities, when)
    yield from (_figures(filing, kind, entities, when) for kind in kinds)
    yield _indicators(filing, kinds, entities, when)


def _entities(house: House) -> tuple[_Entity, ...]:
    """Draw 9 to 15 units in cities; the first is the head office."""
    chance = house.chance(ID, "entities")
    count = chance.randint(9, 15)
    first = house.name.split()[0]
    places = zip(house.pool("entity_ids", count), house.pool("cities", count), strict=True)
    return tuple(
        _Entity(
            number,
            f"{first} {city}",
            1 if place == 0 else chance.choice((2, 2, 3)),
            {
                "type": chance.choice(_TYPES),
                "subsidiary": "N" if place == 0 else chance.choice("YYN"),
                "institution_type": _KINDS_OF_UNIT[0 if place == 0 else chance.randint(1, 3)],
            },
        )
        for place, (number, city) in enumerate(places)
    )


def _hierarchy(filing: Filing, entities: Sequence[_Entity], when: When) -> Filed:
    kind = filing.kind("hierarchy")
    head = entities[0].id
    columns = [
        kind.column("entity_id", [e.id for e in entities], key="entity", unique=True),
        kind.column("entity_name", [e.name for e in entities]),
        kind.column("parent", [None, *(head for _ in entities[1:])]),
        kind.column("level", [e.level for e in entities], "integer"),
        kind.column("type", [e.own["type"] for e in entities]),
        kind.column("subsidiary", [e.own["subsidiary"] for e in entities]),
        kind.column("number", range(1, len(entities) + 1), "integer"),
    ]
    columns_kept = arranged(kind, columns, ("level", "type", "subsidiary", "number"))
    filed = filing.sheet("hierarchy", when, columns_kept)
    return noted(filed, lambda sheet: tabled(sheet, "Entities"))


def _ends(house: House, kind: str, year: int) -> tuple[date, ...]:
    """Return the cut-off days of a kind's rows: the year's end, two halves, or four quarters."""
    step = house.chance(ID, "ends", kind).choice((12, 6, 3))
    every = range(step, 13, step)
    return tuple(date(year, month, calendar.monthrange(year, month)[1]) for month in every)


def _figures(filing: Filing, kind_id: str, entities: Sequence[_Entity], when: When) -> Filed:
    """Make a sheet with a row per unit and cut-off day."""
    kind, house = filing.kind(kind_id), filing.house
    rows = [(end, entity) for end in _ends(house, kind_id, when.year) for entity in entities]
    names: list[Value | Recipe] = [entity.name for _, entity in rows]
    if either(house, ID, "look up"):
        at = filing.place("hierarchy", when).at(filing.place(kind_id, when))
        names = [Lookup(at, "entity_id", "entity_id", "entity_name")] * len(rows)
    columns: Sequence[Column] = [
        kind.column("entity_id", [entity.id for _, entity in rows], key="entity"),
        kind.column("entity_name", names),
        *(_filled(filing, kind_id, field, rows) for field in KINDS[kind_id]),
    ]
    must = needed(kind_id)
    optional = [field.id for field in KINDS[kind_id] if field.id not in must]
    columns = arranged(kind, columns, optional)
    if kind_id == "deposits":
        kept = ("cash", "bank", "central_bank", "interbank", "finance_company", "overseas")
        columns = grouped(kind, columns, "group_balances", *kept)
    return filing.sheet(kind_id, when, columns)


def _filled(
    filing: Filing, kind_id: str, field: Field, rows: Sequence[tuple[date, _Entity]]
) -> Column:
    chance = filing.house.chance(ID, kind_id, field.id, rows[0][0].year)
    cells: Sequence[Value | Recipe]
    if field.recipe is not None:
        cells = [field.recipe] * len(rows)
    elif field.id in DAYS:
        cells = [end + timedelta(DAYS[field.id]) for end, _ in rows]
    elif field.id in BY_ENTITY:
        cells = [entity.own[field.id] for _, entity in rows]
    elif field.texts:
        cells = [chance.choice(field.texts) for _ in rows]
    elif field.style == "integer":
        cells = [chance.randint(int(field.least), int(field.most)) for _ in rows]
    else:
        digits = 4 if field.style == "percent" else 2
        cells = [round(chance.uniform(field.least, field.most), digits) for _ in rows]
    return filing.kind(kind_id).column(field.id, cells, field.style)


def _indicators(
    filing: Filing, kinds: Sequence[str], entities: Sequence[_Entity], when: When
) -> Filed:
    """Sum the year's other sheets by unit, as far as the institution has them."""
    kind, own, count = filing.kind("indicators"), filing.place("indicators", when), len(entities)
    columns = [
        kind.column("entity_id", [e.id for e in entities], key="entity"),
        kind.column("entity_name", [e.name for e in entities]),
        kind.column("type", [e.own["type"] for e in entities]),
    ]
    summed = {column: of for column, of in SUMMED.items() if of[0] in kinds}
    for column, (source, taken) in summed.items():
        at = filing.place(source, when).at(own)
        cells = [TotalWhere(at, taken, "entity_id", "entity_id")] * count
        columns.append(kind.column(column, cells, "amount"))
    if {"deposits", "financing"} <= set(summed):
        net = Combine("-", Own("deposits"), Own("financing"))
        columns.append(kind.column("net_position", [net] * count, "amount"))
    if "quota" in summed:
        usage = Combine("/", Own("financing"), Own("quota"))
        columns.append(kind.column("usage", [usage] * count, "percent"))
    filed = filing.sheet("indicators", when, arranged(kind, columns, ("type",)), summary=True)
    return noted(filed, lambda sheet: with_totals(sheet, *summed))
