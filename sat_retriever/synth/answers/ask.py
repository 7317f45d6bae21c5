"""Describe one question about tables, and say it in English."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from sat_retriever.synth.answers.tables import ToldColumn, ToldTable
from sat_retriever.synth.book.model import Value
from sat_retriever.synth.words.vocabulary import Vocabulary
from sat_retriever.text.period.spans import MONTHS

Kind = Literal["lookup", "total", "group", "join", "period", "unit"]
KINDS: tuple[Kind, ...] = ("lookup", "total", "group", "join", "period", "unit")
Reduce = Literal["sum", "avg", "count", "max", "min"]


@dataclass(frozen=True, slots=True)
class Field:
    """A column of one of the tables of a question; `table` is 0, or 1 for the second."""

    column: ToldColumn
    table: int = 0


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison that a record has to meet; an empty cell never does."""

    field: Field
    operator: Literal["=", ">", ">=", "<"]
    value: Value


@dataclass(frozen=True, slots=True)
class Ask:
    """One question.

    Attributes:
        shows: The column that it asks for; None for a count of records.
        reduce: Function over the column; None for its values.
        on: Columns of the first and second table that are equal in joined records. Two tables
            without it are put one below the other.
        most: Number of groups with the greatest results, in descending order; 0 for all groups.
        form: List of the forms of its sentence.
    """

    kind: Kind
    tables: tuple[ToldTable, ...]
    shows: Field | None
    reduce: Reduce | None
    form: str
    where: tuple[Condition, ...] = ()
    by: Field | None = None
    on: tuple[Field, Field] | None = None
    most: int = 0
    given: str = ""

    @property
    def stacked(self) -> bool:
        """True if its tables are put one below the other."""
        return len(self.tables) > 1 and self.on is None


@dataclass(frozen=True, slots=True)
class Answer:
    """A question with its SQL and answer, as it is published.

    Attributes:
        sheets: Ids of the sheets that answer it, as an index of `workbooks/` has them.
        tables: The tables to load, in this order; a sheet's id means its main table.
        totals: True if it counts all lines of a statement, those that sum up others, too.
        column: Table (by place) and header of the numbers that are asked for, if they have a
            unit.
        rank: Random number that decides which answers a corpus keeps.
    """

    kind: Kind
    question: str
    sheets: tuple[str, ...]
    tables: tuple[str, ...]
    sql: str
    rows: tuple[tuple[Any, ...], ...]
    ordered: bool
    totals: bool
    cells: tuple[str, ...]
    column: tuple[int, str] | None
    unit: str
    rank: float

    def to_dict(self) -> Mapping[str, Any]:
        """Return the answer as `answers.json` has it; what does not apply is left out."""
        entry: dict[str, Any] = {
            "kind": self.kind,
            "question": self.question,
            "sheets": list(self.sheets),
            "tables": list(self.tables),
            "sql": self.sql,
            "rows": [list(row) for row in self.rows],
        }
        if self.ordered:
            entry["ordered"] = True
        if self.totals:
            entry["totals"] = True
        if self.cells:
            entry["cells"] = list(self.cells)
        if self.column:
            entry["unit"] = {"table": self.column[0], "column": self.column[1], "unit": self.unit}
        return entry


_REDUCED = {"sum": "total", "avg": "average", "max": "highest", "min": "lowest"}


def question_of(ask: Ask, words: Vocabulary, chance: random.Random) -> str:
    """Return the question in English; its form is drawn from the list that it names."""
    form = chance.choice(words.lists[ask.form])
    key = ask.on[0].column.spoken if ask.on else ""
    sentence = form.format(
        shown=_shown(ask),
        given=ask.given,
        sheet=ask.tables[0].subject,
        other=ask.tables[-1].subject,
        by=ask.by.column.spoken if ask.by else "",
        key=key,
        most=ask.most,
    )
    sentence = " ".join(sentence.split()).replace(" ,", ",").replace(" ?", "?").replace(" ;", ";")
    return sentence[0].upper() + sentence[1:]


def given_by(*conditions: Condition) -> str:
    """Return conditions in words: "for order number 17", "with a quantity above 5"."""
    said = []
    for place, each in enumerate(conditions):
        name, value = each.field.column.spoken, spoken_value(each.value)
        if each.operator == "=":
            said.append(f"{'and' if place else 'for'} {name} {value}")
        else:
            said.append(f"with {name} above {value}")
    return " ".join(said)


def spoken_value(value: Value) -> str:
    """Return a value as a question names it.

    >>> spoken_value(date(2024, 3, 9)), spoken_value("A 7")
    ('9 March 2024', 'A 7')
    """
    if isinstance(value, date):
        return f"{value.day} {MONTHS[value.month]} {value.year}"
    return str(value)


def _shown(ask: Ask) -> str:
    if ask.shows is None:
        return "number of records"
    name = ask.shows.column.spoken
    return f"{_REDUCED[ask.reduce]} {name}" if ask.reduce else name
