"""Choose questions about linked sheets and about times: joins, sheets and dates of a period."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from sat_retriever.synth.answers.ask import Ask, Condition, Field
from sat_retriever.synth.answers.draw import (
    MOST_GROUPS,
    groups_of,
    identified,
    is_clear,
    is_name,
    reduction,
)
from sat_retriever.synth.answers.evaluate import records_of
from sat_retriever.synth.answers.phrase import given_by
from sat_retriever.synth.answers.tables import ToldColumn, ToldTable
from sat_retriever.text.period.spans import MONTHS


def joined(table: ToldTable, others: Sequence[ToldTable], chance: random.Random) -> Ask | None:
    """Ask one table with the columns of another one, which names each of its things once.

    Args:
        table: A table whose records name things.
        others: Tables of the sheets that its sheet has a join key in.
        chance: Decides all choices.
    """
    found = [(other, on) for other in others if (on := _on(table, other))]
    if not found:
        return None
    other, on = chance.choice(found)
    ways = [_figure, _record]
    chance.shuffle(ways)
    return next((ask for way in ways if (ask := way(table, other, on, chance))), None)


def dated(table: ToldTable, chance: random.Random) -> Ask | None:
    """Ask for a total or count of the records of a month, quarter or year, by a column of dates."""
    dates = [each for each in table.columns if each.sort == "date"]
    if not dates:
        return None
    column = chance.choice(dates)
    day = chance.choice([value for value in column.filled if isinstance(value, date)])
    asks = [
        Ask(
            "period", (table,), None, "count", "answer_counts",
            (Condition(Field(column), ">=", first), Condition(Field(column), "<", end)),
            given=f"with {column.spoken} in {name}",
        )
        for name, first, end in _spans(day)
    ]  # fmt: skip
    parts = [each for each in asks if len(records_of(each)) < len(table.rows)]
    ask = chance.choice(parts or asks)
    numbers = [each for each in table.columns if each.sort == "number" and not each.key]
    rows = [row for row, _ in records_of(ask)]
    numbers = [each for each in numbers if any(each.values[row] is not None for row in rows)]
    if not numbers or chance.random() < 0.3:
        return ask
    shown = chance.choice(numbers)
    return replace(ask, shows=Field(shown), reduce=reduction(shown, chance), form="answer_totals")


def timed(table: ToldTable, siblings: Sequence[ToldTable], chance: random.Random) -> Ask | None:
    """Ask the sheet of one period among several, or two of them together.

    Args:
        table: A table of a sheet with a period.
        siblings: Tables of the same kind of sheet for other periods; without one there is no
            question.
        chance: Decides all choices.
    """
    numbers = [each for each in table.columns if each.sort == "number" and not each.key]
    if not siblings or not numbers:
        return None
    column = chance.choice(numbers)
    reduce = reduction(column, chance)
    ask = Ask("period", (table,), Field(column), reduce, "answer_totals")
    other = chance.choice(siblings)
    same = other.column(column.id)
    if same and same.sort == "number" and other.cited != table.cited and chance.random() < 0.4:
        return replace(ask, tables=(table, other), form="answer_together")
    names = groups_of(table.columns)
    if names and chance.random() < 0.4:
        name = chance.choice(names)
        rows = [row for row, value in enumerate(column.values) if value is not None]
        where = Condition(Field(name), "=", name.values[chance.choice(rows)])
        return replace(ask, where=(where,), given=given_by(where))
    return ask


def _on(table: ToldTable, other: ToldTable) -> tuple[Field, Field] | None:
    """Return the columns by which two linked tables are joined; None if the model names none.

    They are those of a lookup, or share a key. The second names each thing once, and at least
    one record of the first has its value.
    """
    looked = {
        (own, match) for each in table.columns for path, tab, own, match in each.lookups
        if f"{path}#{tab}" == other.sheet_id
    }  # fmt: skip
    for own in table.columns:
        for match in other.columns:
            same = (own.id, match.id) in looked or (own.key and own.key == match.key)
            values = match.filled
            unique = len(set(values)) == len(values) and own.sort == match.sort
            if same and unique and set(own.filled) & set(values):
                return Field(own), Field(match, 1)
    return None


def _figure(
    table: ToldTable, other: ToldTable, on: tuple[Field, Field], chance: random.Random
) -> Ask | None:
    """Ask for a figure of the first table by a column of texts of the second."""
    numbers = [each for each in table.columns if each.sort == "number" and not each.key]
    names = [each for each in _texts(other, on) if len(set(each.values)) <= MOST_GROUPS]
    if not names or not numbers:
        return None
    shown, by = chance.choice(numbers), Field(chance.choice(names), 1)
    reduce = reduction(shown, chance)
    ask = Ask("join", (table, other), Field(shown), reduce, "answer_joins", by=by, on=on)
    most = replace(ask, most=3, form="answer_joined_greatest")
    return most if chance.random() < 0.3 and is_clear(ask, most.most) else ask


def _record(
    table: ToldTable, other: ToldTable, on: tuple[Field, Field], chance: random.Random
) -> Ask | None:
    """Ask for a value of the record of the second table that one record of the first names."""
    shown = [each for each in other.columns if each.id != on[1].column.id and each.filled]
    known = set(on[1].column.filled)
    rows = [row for row, value in enumerate(on[0].column.values) if value in known]
    row = chance.choice(rows)
    where = identified(table, row)
    match = on[1].column.values.index(on[0].column.values[row])
    shown = [each for each in shown if each.values[match] is not None]
    if not shown or not where or any(each.field.column.id == on[0].column.id for each in where):
        return None
    field = Field(chance.choice(shown), 1)
    return Ask(
        "join", (table, other), field, None, "answer_joined_lookups", where, on=on,
        given=given_by(*where),
    )  # fmt: skip


def _texts(table: ToldTable, on: tuple[Field, Field]) -> list[ToldColumn]:
    """Return the columns of names without gaps, but for the key itself."""
    return [
        each
        for each in table.columns
        if each.id != on[1].column.id and all(is_name(value) for value in each.values)
    ]


def _spans(day: date) -> list[tuple[str, date, date]]:
    """Return month, quarter and year of a day: name, first day, first day after it.

    >>> _spans(date(2024, 11, 5))[1]
    ('Q4 2024', datetime.date(2024, 10, 1), datetime.date(2025, 1, 1))
    """
    quarter = (day.month - 1) // 3
    return [
        (f"{MONTHS[day.month]} {day.year}", date(day.year, day.month, 1), _after(day, day.month)),
        (f"Q{quarter + 1} {day.year}", date(day.year, 3 * quarter + 1, 1),
         _after(day, 3 * quarter + 3)),
        (str(day.year), date(day.year, 1, 1), date(day.year + 1, 1, 1)),
    ]  # fmt: skip


def _after(day: date, month: int) -> date:
    """Return the first day after a month of a day's year."""
    return date(day.year + month // 12, month % 12 + 1, 1)
