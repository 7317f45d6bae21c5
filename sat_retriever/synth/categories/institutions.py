"""Make wide sheets about an institution's units: cash, loans, notes, limits and payments."""

from __future__ import annotations

import calendar
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import cast

from sat_retriever.synth.book.build import Cells, less, looked_up, ratio, summed_by
from sat_retriever.synth.book.model import Book, Column, Combine, Operator, Own, Recipe, Style
from sat_retriever.synth.categories.filing import Filed, Filing, Page, changed, tabled
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

ID = "institutions"
_TYPES = ("Bank", "Leasing", "Trust", "Insurance", "Trading")
_KINDS_OF_UNIT = ("Head Office", "Branch", "Subsidiary", "Representative Office")


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a kind.

    Attributes:
        recipe: Formula on other columns of its row.
    """

    id: str
    style: Style
    texts: tuple[str, ...] = ()
    span: tuple[float, float] = (0.0, 0.0)
    recipe: Recipe | None = None
    needs: tuple[str, ...] = ()


def _field(row: str) -> Field:
    """Parse "id | style | filling"; the filling is texts, "least to most", or a formula."""
    column, named, *filling = (part.strip() for part in row.split("|"))
    style = cast("Style", named)
    if not filling:
        return Field(column, style)
    if style == "text":
        return Field(column, style, tuple(filling[0].split(" / ")))
    if " to " in filling[0]:
        least, most = map(float, filling[0].split(" to "))
        return Field(column, style, span=(least, most))
    names, operators = filling[0].split()[::2], filling[0].split()[1::2]
    recipe: Recipe = Own(names[0])
    for operator, name in zip(operators, names[1:], strict=True):  # from left to right
        recipe = Combine(cast("Operator", operator), recipe, Own(name))
    return Field(column, style, recipe=recipe, needs=tuple(names))


def _kinds_of(text: str) -> Mapping[str, tuple[Field, ...]]:
    """Parse kinds, each a name in brackets and a line per column."""
    found: dict[str, tuple[Field, ...]] = {}
    for part in text.strip().split("[")[1:]:
        kind, rows = part.split("]\n")
        found[kind] = tuple(map(_field, rows.splitlines()))
    return found


_DAYS = {"date": 0, "business_date": 0, "data_date": 1}
"""The columns of dates, with their number of days after the end of the period."""
_BY_ENTITY = ("type", "subsidiary", "institution_type")
"""The columns whose values are fixed for an entity."""
_SUMMED = {
    "deposits": ("deposits", "total"),
    "financing": ("financing", "balance"),
    "quota": ("financing", "quota"),
    "notes": ("notes", "total_notes"),
    "pooled": ("pooling", "pooled"),
    "credit_used": ("credit", "used"),
}
"""The columns of the summary, with the kind and column that each sums."""
KINDS = _kinds_of("""
[financing]
data_date | date
business_date | date
data_type | text | Actual / Preliminary / Adjusted
financing_type_name | text | Working Capital Loan / Term Loan / Overdraft / Lease
financing_type | text | F01 / F02 / F03 / F04
rate | percent | 0.021 to 0.064
balance | amount | 2000 to 60000
quota | amount | 60000 to 120000
free_quota | amount | quota - balance
usage | percent | balance / quota
subsidiary | text
type | text
[deposits]
date | date
business_date | date
data_type | text | Actual / Preliminary / Adjusted
cash | amount | 5 to 400
bank | amount | 1000 to 40000
central_bank | amount | 0 to 9000
interbank | amount | 0 to 15000
finance_company | amount | 500 to 30000
overseas | amount | 0 to 6000
restricted | amount | 0 to 900
total | amount | cash + bank + central_bank + interbank + finance_company + overseas
available | amount | total - restricted
overseas_ratio | percent | overseas / total
restricted_ratio | percent | restricted / total
subsidiary | text
type | text
[notes]
date | date
type | text
bank_notes | amount | 100 to 20000
commercial | amount | 0 to 12000
finance_notes | amount | 0 to 8000
total_notes | amount | bank_notes + commercial + finance_notes
new_amount | amount | 50 to 5000
new_count | integer | 1 to 60
internal_amount | amount | 0 to 4000
external_amount | amount | 0 to 9000
average_note | amount | new_amount / new_count
important | text | Y / N / N / N
[settlement]
data_date | date
business_date | date
type | text
day_count | integer | 20 to 90
day_success | integer | 12 to 20
day_rate | percent | day_success / day_count
day_amount | amount | 200 to 9000
month_count | integer | 600 to 1900
month_success | integer | 400 to 600
month_rate | percent | month_success / month_count
month_amount | amount | 9000 to 300000
internal_count | integer | 10 to 300
bank_count | integer | 200 to 900
denominator | integer | internal_count + bank_count
numerator | integer | 100 to 210
settlement_rate | percent | numerator / denominator
subsidiary | text
[pooling]
date | date
pooled | amount | 1000 to 40000
non_poolable | amount | 50 to 9000
non_poolable_type | text | Court Order / Tax Account / Guarantee / Project Account
total_funds | amount | pooled + non_poolable
pooling_rate | percent | pooled / total_funds
group_rate | percent | 0.78 to 0.9
gap | percent | group_rate - pooling_rate
top_account | amount | 500 to 20000
headquarters | amount | 0 to 5000
[credit]
data_date | date
pooling_limit | amount | 20000 to 60000
top_limit | amount | 10000 to 40000
total_limit | amount | pooling_limit + top_limit
pooling_used | amount | 1000 to 20000
used | amount | 20000 to 30000
total_free | amount | total_limit - used
use_rate | percent | used / total_limit
pooling_rate | percent | pooling_used / pooling_limit
full_rate | percent | 0.02 to 0.06
control_rate | percent | 0.018 to 0.05
maximum | amount | 100000 to 160000
previous_top | amount | 500 to 20000
[bonds]
data_date | date
business_date | date
data_type | text | Actual / Preliminary / Adjusted
bond_balance | amount | 0 to 50000
bond_rate | percent | 0.024 to 0.05
bond_interest | amount | bond_balance * bond_rate
other_balance | amount | 500 to 30000
other_rate | percent | 0.03 to 0.065
other_interest | amount | other_balance * other_rate
debt | amount | bond_balance + other_balance
average_rate | percent | bond_interest + other_interest / debt
subsidiary | text
[accounts]
data_date | date
institution_type | text
valid | integer | 4 to 60
invalid | integer | 0 to 9
accounts | integer | valid + invalid
valid_rate | percent | valid / accounts
online | integer | 1 to 40
balance | amount | 1000 to 60000
average_balance | amount | balance / accounts
""")
"""The columns by kind, after the entity's id and name."""


@dataclass(frozen=True, slots=True)
class _Entity:
    """One unit of an institution, equal in all its workbooks."""

    id: str
    name: str
    level: int
    own: dict[str, str]


def books(house: House, years: Sequence[int]) -> Iterator[Book]:
    """Yield for each year the units, four to seven kinds of sheets about them, and key figures."""
    filing = Filing.of(house, ID, "each", "each", "year")
    kinds = _kinds(house)
    for year in sorted(years):
        yield from filing.bound(_year(filing, kinds, When(year)))


def _kinds(house: House) -> tuple[str, ...]:
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
    page = filing.page("hierarchy", when, len(entities))
    parents = [None, *[entities[0].id] * (len(entities) - 1)]
    columns = [
        page.column("entity_id", [e.id for e in entities], key="entity", unique=True),
        page.column("entity_name", [e.name for e in entities]),
        page.column("parent", parents),
        page.column("level", [e.level for e in entities], "integer"),
        page.column("type", [e.own["type"] for e in entities]),
        page.column("subsidiary", [e.own["subsidiary"] for e in entities]),
        page.column("number", range(1, len(entities) + 1), "integer"),
    ]
    filed = page.filed(columns, ("level", "type", "subsidiary", "number"))
    return changed(filed, tabled, "Entities")


def _ends(house: House, kind: str, year: int) -> tuple[date, ...]:
    """Return the cut-off days of a kind's rows: the year's end, two halves, or four quarters."""
    step = house.chance(ID, "ends", kind).choice((12, 6, 3))
    every = range(step, 13, step)
    return tuple(date(year, month, calendar.monthrange(year, month)[1]) for month in every)


def _figures(filing: Filing, kind: str, entities: Sequence[_Entity], when: When) -> Filed:
    """Make a sheet with a row per unit and cut-off day."""
    ends = _ends(filing.house, kind, when.year)
    rows = [(end, entity) for end in ends for entity in entities]
    page = filing.page(kind, when, len(rows))
    names: Cells | Recipe = [entity.name for _, entity in rows]
    if filing.has("look up"):
        names = looked_up(page.at("hierarchy", when), "entity_id", "entity_name")
    columns = [
        page.column("entity_id", [entity.id for _, entity in rows], key="entity"),
        page.column("entity_name", names),
        *(_filled(page, field, rows) for field in KINDS[kind]),
    ]
    summed = {column for source, column in _SUMMED.values() if source == kind}
    needed = summed.union(*(field.needs for field in KINDS[kind]))
    optional = [field.id for field in KINDS[kind] if field.id not in needed]
    balances = ("cash", "bank", "central_bank", "interbank", "finance_company", "overseas")
    groups = {"group_balances": balances} if kind == "deposits" else {}
    return page.filed(columns, optional, groups=groups)


def _filled(page: Page, field: Field, rows: Sequence[tuple[date, _Entity]]) -> Column:
    chance = page.chance(field.id, rows[0][0].year)
    cells: Cells | Recipe
    if field.recipe is not None:
        cells = field.recipe
    elif field.id in _DAYS:
        cells = [end + timedelta(_DAYS[field.id]) for end, _ in rows]
    elif field.id in _BY_ENTITY:
        cells = [entity.own[field.id] for _, entity in rows]
    elif field.texts:
        cells = [chance.choice(field.texts) for _ in rows]
    elif field.style == "integer":
        cells = [chance.randint(*map(int, field.span)) for _ in rows]
    else:
        digits = 4 if field.style == "percent" else 2
        cells = [round(chance.uniform(*field.span), digits) for _ in rows]
    return page.column(field.id, cells, field.style)


def _indicators(
    filing: Filing, kinds: Sequence[str], entities: Sequence[_Entity], when: When
) -> Filed:
    """Sum the year's other sheets by unit, as far as the institution has them."""
    page = filing.page("indicators", when, len(entities), summary=True)
    columns = [
        page.column("entity_id", [e.id for e in entities], key="entity"),
        page.column("entity_name", [e.name for e in entities]),
        page.column("type", [e.own["type"] for e in entities]),
    ]
    summed = {column: of for column, of in _SUMMED.items() if of[0] in kinds}
    for column, (source, taken) in summed.items():
        cell = summed_by(page.at(source, when), "entity_id", taken)
        columns.append(page.column(column, cell, "amount"))
    if {"deposits", "financing"} <= set(summed):
        columns.append(page.column("net_position", less("deposits", "financing"), "amount"))
    if "quota" in summed:
        columns.append(page.column("usage", ratio("financing", "quota"), "percent"))
    return page.filed(columns, ("type",), totals=tuple(summed))
