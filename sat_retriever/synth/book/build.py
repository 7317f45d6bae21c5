"""Columns, sheets and number series that the templates of all categories are built from."""

from __future__ import annotations

import calendar
import hashlib
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.synth.book.model import Book, Column, Recipe, Sheet, Style, Value
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.naming import period_text
from sat_retriever.synth.house.when import When

Cells = Iterable[Value | Recipe]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of sheet of one house: what makes its columns, facts and sheets.

    Attributes:
        house: The company, market or institution.
        category: Category id.
        id: Kind id, as in the category's words.
    """

    house: House
    category: str
    id: str

    def chance(self, *purpose: object) -> random.Random:
        """A stream of random numbers for one purpose of this kind."""
        return self.house.chance(self.category, self.id, *purpose)

    def column(
        self,
        column: str,
        cells: Cells,
        style: Style = "text",
        *,
        group: str = "",
        key: str = "",
        unique: bool = False,
    ) -> Column:
        """A column with this house's header and unit.

        Args:
            column: Column id, as in the kind's words.
            cells: One value or recipe a row.
            style: How the cells are formatted.
            group: Header above this and its neighbours of the same group.
            key: Noun of what it identifies ("employee"): the house's name is put before it.
            unique: Whether this sheet owns the key.
        """
        house = self.house
        has_units = house.chance("units row", self.category).random() < 0.4
        return Column(
            column,
            self.header(column),
            tuple(cells),
            style,
            group,
            house.unit(self.category, self.id, column) if has_units else "",
            f"{house.name}/{key}" if key else "",
            unique,
        )

    def tab(self, when: When | None = None, part: str = "") -> str:
        """Name of the kind's tab; `when` and `part` only where tabs differ by them."""
        return self.house.tab(self.category, self.id, when, part)

    def subject(self) -> str:
        """What a workbook of this kind alone is about, in the house's word for it."""
        return self.house.kind_name(self.category, self.id)

    def header(self, column: str) -> str:
        """A header in the house's variant; ids that begin with "group_" name groups."""
        return self.house.header(self.category, self.id, column)

    def facts(
        self,
        columns: Sequence[Column],
        when: When | None = None,
        part: str = "",
        *,
        summary: bool = False,
    ) -> SheetFacts:
        """What questions can ask of a sheet with these columns, without sheet id.

        Args:
            columns: Its columns: those with a key and all headers give keys and schema.
            when: The period it is about; None for none.
            part: What sets it apart from sheets of the same kind and period (a region).
            summary: Whether it gathers from other sheets.
        """
        words = self.house.vocabulary.categories[self.category]
        kind = words.kinds[self.id]
        family = "/".join(x for x in (self.house.name, self.category, self.id, part) if x)
        return SheetFacts(
            sheet_id="",
            category=words.asked[0],
            kind=kind.asked[0],
            entity=self.house.name,
            period=when.period(family) if when else None,
            keys=tuple(kind.columns[c.id][0] for c in columns if c.key and c.id in kind.columns),
            schema=f"{self.category}/{self.id}/{schema(columns)}",
            summary=summary,
        )

    def sheet(
        self,
        columns: Sequence[Column],
        when: When | None = None,
        part: str = "",
        *,
        name: str = "",
        summary: bool = False,
    ) -> Sheet:
        """A sheet with facts, titles and the house's layout; `replace` adds the rest.

        The layout depends on the house and the kind alone: sheets of one kind have equal
        places in all periods, as 3-D sums need.

        Args:
            columns: Its table.
            when: The period it is about; None for none.
            part: What sets it apart from others of its kind and period.
            name: Name of the tab; empty for the kind's own name.
            summary: Whether it gathers from other sheets.
        """
        words = self.house.vocabulary.categories[self.category].kinds[self.id]
        pieces = (self.house.name, words.names[0], part, spoken(when) if when else "")
        title = " ".join(piece for piece in pieces if piece)
        return Sheet(
            name or self.tab(part=part),
            tuple(columns),
            self.facts(columns, when, part, summary=summary),
            self.house.layout(title, self.category, self.id),
        )


def book(
    house: House, category: str, subject: str, when: When | None, sheets: Sequence[Sheet]
) -> Book:
    """A workbook at the house's path for it, in its dialect.

    Where the dialect names columns by table, each sheet with facts gets a table name.
    """
    dialect = house.dialect()
    if dialect.ranges == "table":
        sheets = [
            replace(sheet, table_name=f"T{place}_{_plain(sheet.name)}") if sheet.facts else sheet
            for place, sheet in enumerate(sheets, 1)
        ]
    return Book(
        house.path(category, subject, when),
        house.vocabulary.categories[category].label,
        tuple(sheets),
        dialect,
        house.convention(category),
    )


def dated(column: Column, text: str) -> Column:
    """The column with a period in its header, joined as the header joins its words.

    >>> dated(Column("x", "actual_spend", ()), "2024").header
    'actual_spend_2024'
    """
    joint = next((joint for joint in " _" if joint in column.header), "")
    return replace(column, header=f"{column.header}{joint}{text}")


def schema(columns: Sequence[Column]) -> str:
    """A short code equal for equal headers, whatever their case, digits and separators.

    >>> a, b, c = (Column("x", header, ()) for header in ("Q1 Plan", "q2_plan", "Q1 Actual"))
    >>> schema([a]) == schema([b]), schema([a]) == schema([c])
    (True, False)
    """
    text = "\x1f".join(
        "".join(letter for letter in column.header.casefold() if letter.isalpha())
        for column in columns
    )
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def with_schema(facts: SheetFacts, columns: Sequence[Column]) -> SheetFacts:
    """The facts of a sheet that has other columns now."""
    return replace(facts, schema=f"{facts.schema.rpartition('/')[0]}/{schema(columns)}")


def spoken(when: When) -> str:
    """A period as titles have it.

    >>> spoken(When(2024)), spoken(When(2024, quarter=3)), spoken(When(2024, month=7))
    ('2024', 'Q3 2024', 'July 2024')
    """
    if when.month:
        return period_text("{Month} {yyyy}", when)
    return f"Q{when.quarter} {when.year}" if when.quarter else str(when.year)


def quarters(year: int) -> tuple[When, ...]:
    """The four quarters of a year."""
    return tuple(When(year, quarter=quarter) for quarter in range(1, 5))


def months(when: When) -> tuple[When, ...]:
    """The months of a year or quarter, or the month itself.

    >>> [month.month for month in months(When(2024, quarter=2))]
    [4, 5, 6]
    """
    if when.month:
        return (when,)
    first, last = (3 * when.quarter - 2, 3 * when.quarter) if when.quarter else (1, 12)
    return tuple(When(when.year, month=month) for month in range(first, last + 1))


def days(when: When, *, workdays: bool = True) -> tuple[date, ...]:
    """All days of a period, or those from Monday to Friday.

    >>> len(days(When(2024, month=2))), len(days(When(2024, month=2), workdays=False))
    (21, 29)
    """
    first, last = months(when)[0].month, months(when)[-1].month
    day = date(when.year, first, 1)
    end = date(when.year, last, calendar.monthrange(when.year, last)[1])
    every = (day + timedelta(count) for count in range((end - day).days + 1))
    return tuple(day for day in every if day.weekday() < 5 or not workdays)


def some_days(chance: random.Random, when: When, count: int) -> tuple[date, ...]:
    """So many workdays of a period, ascending, with repetitions."""
    return tuple(sorted(chance.choices(days(when), k=count)))


def walk(
    chance: random.Random, start: float, count: int, drift: float = 0.0, noise: float = 0.05
) -> tuple[float, ...]:
    """A series that grows by `drift` a step give or take `noise` (both shares, not percent)."""
    values = [start]
    while len(values) < count:
        values.append(max(values[-1] * (1 + drift + chance.gauss(0, noise)), start * 0.05))
    return tuple(round(value, 2) for value in values[:count])


def parts(chance: random.Random, total: int, count: int, even: float = 4.0) -> tuple[int, ...]:
    """Whole numbers that sum to `total`; the greater `even`, the more alike.

    >>> sum(parts(random.Random(1), 1000, 7))
    1000
    """
    weights = [chance.gammavariate(even, 1.0) for _ in range(count)]
    scale = math.fsum(weights)
    shares = [int(total * weight / scale) for weight in weights]
    shares[shares.index(max(shares))] += total - sum(shares)
    return tuple(shares)


def with_totals(sheet: Sheet, *columns: str, label: str = "Total") -> Sheet:
    """The sheet with sums of these columns below the last row."""
    return replace(sheet, totals=tuple((column, "SUM") for column in columns), total_label=label)


def _plain(name: str) -> str:
    """The ASCII letters and digits of a name: what a table's name may have."""
    return "".join(letter for letter in name if letter.isascii() and letter.isalnum())
