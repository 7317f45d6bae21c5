"""Build workbooks, headers and series of numbers for the categories."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sat_retriever.questions.facts import SheetFacts
from sat_retriever.synth.book.model import Book, Column, Recipe, Sheet, Value
from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

Cells = Iterable[Value | Recipe]


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


def _plain(name: str) -> str:
    """Return the ASCII letters and digits of a name, which are allowed in a table's name."""
    return "".join(letter for letter in name if letter.isascii() and letter.isalnum())
