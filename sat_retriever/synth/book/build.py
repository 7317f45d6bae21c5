"""Build the columns, sheets and number series of the templates of all categories."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.synth.book.model import (
    Book,
    Chart,
    Column,
    Combine,
    Lookup,
    Own,
    Recipe,
    Sheet,
    SheetAt,
    Style,
    TotalWhere,
    Value,
)
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When, spoken

Cells = Iterable[Value | Recipe]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of sheet of one house, which makes its columns, facts and sheets.

    Attributes:
        id: Kind id, as in the category's words.
    """

    house: House
    category: str
    id: str

    def chance(self, *purpose: object) -> random.Random:
        """Return a stream of random numbers for one purpose of this kind."""
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
        """Make a column with this house's header and unit.

        Args:
            column: Column id, as in the kind's words.
            cells: One value or recipe per row.
            style: Format of the cells.
            group: Header above this column and its neighbours in the same group.
            key: Noun for what the key identifies ("employee"); the house's name is put before it.
            unique: True if this sheet owns the key.
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
        """Return the name of the kind's tab; give `when` and `part` only if tabs differ by them."""
        return self.house.tab(self.category, self.id, when, part)

    def subject(self) -> str:
        """Return the house's name for the kind, as the subject of a workbook of this kind alone."""
        return self.house.kind_name(self.category, self.id)

    def header(self, column: str) -> str:
        """Return a header in the house's variant; ids that begin with "group_" name groups."""
        return self.house.header(self.category, self.id, column)

    def facts(
        self,
        columns: Sequence[Column],
        when: When | None = None,
        part: str = "",
        *,
        summary: bool = False,
    ) -> SheetFacts:
        """Return the facts of a sheet with these columns, without sheet id."""
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
        """Make a sheet with facts, titles and the house's layout; use `replace` for the rest.

        The layout depends only on the house and the kind: sheets of one kind have the same layout
        in all periods, which 3-D sums need.

        Args:
            columns: Columns of its table.
            when: Its period; None for none.
            part: Its distinction from sheets of the same kind and period.
            name: Name of the tab; empty for the kind's own name.
            summary: True if it gathers data from other sheets.
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
    """Make a workbook at the house's path, in its dialect.

    If the dialect names columns by table, each sheet with facts gets a table name.
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
    """Add a period to a column's header, with the separator that the header uses.

    >>> dated(Column("x", "actual_spend", ()), "2024").header
    'actual_spend_2024'
    """
    joint = next((joint for joint in " _" if joint in column.header), "")
    return replace(column, header=f"{column.header}{joint}{text}")


def schema(columns: Sequence[Column]) -> str:
    """Return a short code that is equal for equal headers, ignoring case, digits and separators.

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
    """Return the facts of a sheet after its columns changed."""
    return replace(facts, schema=f"{facts.schema.rpartition('/')[0]}/{schema(columns)}")


def walk(
    chance: random.Random, start: float, count: int, drift: float = 0.0, noise: float = 0.05
) -> tuple[float, ...]:
    """Return a series that grows by `drift` per step, with noise (both are shares, not percent)."""
    values = [start]
    while len(values) < count:
        values.append(max(values[-1] * (1 + drift + chance.gauss(0, noise)), start * 0.05))
    return tuple(round(value, 2) for value in values[:count])


def parts(chance: random.Random, total: int, count: int, even: float = 4.0) -> tuple[int, ...]:
    """Return whole numbers that sum to `total`; a greater `even` makes them more similar.

    >>> sum(parts(random.Random(1), 1000, 7))
    1000
    """
    weights = [chance.gammavariate(even, 1.0) for _ in range(count)]
    scale = math.fsum(weights)
    shares = [int(total * weight / scale) for weight in weights]
    shares[shares.index(max(shares))] += total - sum(shares)
    return tuple(shares)


def added(*terms: str | Recipe) -> Recipe:
    """Add terms from left to right; here and below, a text names a column of the same row."""
    return reduce(partial(Combine, "+"), map(_own, terms))


def less(left: str | Recipe, right: str | Recipe) -> Combine:
    """Subtract the right from the left."""
    return Combine("-", _own(left), _own(right))


def times(left: str | Recipe, right: str | Recipe) -> Combine:
    """Multiply."""
    return Combine("*", _own(left), _own(right))


def ratio(part: str | Recipe, whole: str | Recipe) -> Combine:
    """Divide; a division by zero gives 0."""
    return Combine("/", _own(part), _own(whole))


def change(new: str | Recipe, old: str | Recipe) -> Combine:
    """Return the growth from old to new, as a share of old."""
    return ratio(less(new, old), old)


def _own(term: str | Recipe) -> Recipe:
    return Own(term) if isinstance(term, str) else term


def looked_up(at: SheetAt, key: str, column: str) -> Lookup:
    """Take a column of the first row that has this row's key, in a column of the same id."""
    return Lookup(at, key, key, column)


def summed_by(at: SheetAt, key: str, column: str) -> TotalWhere:
    """Sum a column over the rows that have this row's key, in a column of the same id."""
    return TotalWhere(at, column, key, key)


def with_chart(sheet: Sheet, names: str, numbers: str) -> Sheet:
    """Return the sheet with a chart of two of its columns."""
    return replace(sheet, charts=(Chart(SheetAt(sheet.name), names, numbers),))


def with_totals(sheet: Sheet, *columns: str, label: str = "Total") -> Sheet:
    """Return the sheet with sums of these columns below the last row."""
    return replace(sheet, totals=tuple((column, "SUM") for column in columns), total_label=label)


def _plain(name: str) -> str:
    """Return the ASCII letters and digits of a name, which are allowed in a table's name."""
    return "".join(letter for letter in name if letter.isascii() and letter.isalnum())
