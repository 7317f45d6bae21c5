"""Choose questions about one table, or two."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import combinations, pairwise

from sat_retriever.synth.answers.ask import Ask, Condition, Field, Reduce, given_by
from sat_retriever.synth.answers.evaluate import answer_of, records_of
from sat_retriever.synth.answers.tables import ToldColumn, ToldTable
from sat_retriever.text.period.spans import MONTHS

MOST_GROUPS = 25
_MOST_NAME = 60  # characters of a text by which a record is asked for
# Sums of these are no figures that anybody asks for.
_NO_SUMS = ("price", "mean", "average", "rate", "ratio", "share", "percent", "score", "year", "no")


def lookup(table: ToldTable, chance: random.Random) -> Ask | None:
    """Ask for a value of one record, named by one or two columns that no other record equals."""
    return _lookup(table, table.columns, chance)


def unit(table: ToldTable, chance: random.Random) -> Ask | None:
    """Ask for a number and its unit, or for a total of such numbers."""
    measured = [each for each in table.columns if each.unit and each.sort == "number"]
    if not measured:
        return None
    column = chance.choice(measured)
    ask = _lookup(table, [column], chance)
    if ask is None or chance.random() < 0.3:
        ask = _whole(table, column, chance)
    return replace(ask, kind="unit", form=f"answer_unit_{'totals' if ask.reduce else 'lookups'}")


def total(table: ToldTable, chance: random.Random) -> Ask | None:
    """Ask for a total of a column or a count of records, most of them under a condition."""
    numbers = [each for each in table.columns if each.sort == "number" and not each.key]
    if not numbers:
        return None
    column = chance.choice(numbers)
    way = chance.random()
    if way < 0.2:
        values = sorted({value for value in column.filled if isinstance(value, int | float)})
        if len(values) > 1:
            above = Condition(Field(column), ">", values[(len(values) - 1) // 2])
            return Ask(
                "total", (table,), None, "count", "answer_counts", (above,), given=given_by(above)
            )
    names = groups_of(table.columns)
    if way < 0.75 and names:
        name = chance.choice(names)
        same = Condition(Field(name), "=", chance.choice(sorted(map(str, set(name.values)))))
        ask = _whole(table, column, chance)
        if any(
            value is not None for row in answer_of(replace(ask, where=(same,))) for value in row
        ):
            return replace(ask, where=(same,), given=given_by(same))
    return _whole(table, column, chance)


def group(table: ToldTable, chance: random.Random) -> Ask | None:
    """Ask for a figure of each group of records, or for the greatest groups."""
    names = groups_of(table.columns)
    if not names:
        return None
    by = Field(chance.choice(names))
    numbers = [each for each in table.columns if each.sort == "number" and not each.key]
    if not numbers or chance.random() < 0.15:
        return Ask("group", (table,), None, "count", "answer_groups", by=by)
    column = chance.choice(numbers)
    asked = Ask("group", (table,), Field(column), reduction(column, chance), "answer_groups", by=by)
    most = replace(asked, most=3, form="answer_greatest")
    return most if chance.random() < 0.4 and is_clear(asked, most.most) else asked


def groups_of(columns: Sequence[ToldColumn]) -> list[ToldColumn]:
    """Return the columns of names that repeat: texts without gaps, of at most 25 values."""
    return [
        each
        for each in columns
        if each.sort == "text" and None not in each.values
        if len(set(each.values)) <= min(MOST_GROUPS, len(each.values) - 1)
        if all(is_name(value) for value in each.values)
    ]


def is_name(value: object) -> bool:
    """True for a text that a question can quote."""
    return isinstance(value, str) and len(value) <= _MOST_NAME and value == " ".join(value.split())


def identified(table: ToldTable, row: int) -> tuple[Condition, ...]:
    """Return conditions that only one record meets, on as few columns as possible; none if none do.

    Columns with a key come first, then those further left.
    """
    named = [each for each in table.columns if each.sort in ("text", "date") or each.key]
    named = [each for each in named if is_name(each.values[row]) or each.sort != "text"]
    named = [each for each in named if each.values[row] is not None and each.sort != "mixed"]
    named.sort(key=lambda each: not each.key)
    for size in (1, 2):
        for columns in combinations(named, size):
            own = tuple(each.values[row] for each in columns)
            if Counter(zip(*(each.values for each in columns), strict=True))[own] == 1:
                return tuple(
                    Condition(Field(each), "=", value)
                    for each, value in zip(columns, own, strict=True)
                )
    return ()


def reduction(column: ToldColumn, chance: random.Random) -> Reduce:
    """Return a function that makes sense of a column: no sums of prices, rates or lines."""
    words = {*column.id.casefold().split("_"), *column.spoken.casefold().split()}
    summed = not (column.lines or column.style == "percent" or column.unit == "%")
    if summed and words.isdisjoint(_NO_SUMS) and chance.random() < 0.6:
        return "sum"
    return chance.choice(("avg", "max", "min"))


def is_clear(ask: Ask, most: int) -> bool:
    """True if the order of the greatest groups is beyond doubt, and there are more groups."""
    figures = [row[1] for row in answer_of(ask)]
    numbers = sorted((n for n in figures if isinstance(n, int | float)), reverse=True)
    if len(numbers) <= most or len(numbers) < len(figures):
        return False
    return all(a - b > 1e-6 * abs(a) for a, b in pairwise(numbers[: most + 1]))


def _lookup(table: ToldTable, columns: Sequence[ToldColumn], chance: random.Random) -> Ask | None:
    rows = list(range(len(table.rows)))
    chance.shuffle(rows)
    for row in rows[:8]:
        where = identified(table, row)
        used = {each.field.column.id for each in where}
        shown = [each for each in columns if each.id not in used and each.values[row] is not None]
        if where and shown:
            return Ask(
                "lookup", (table,), Field(chance.choice(shown)), None, "answer_lookups", where,
                given=given_by(*where),
            )  # fmt: skip
    return None


def _whole(table: ToldTable, column: ToldColumn, chance: random.Random) -> Ask:
    return Ask("total", (table,), Field(column), reduction(column, chance), "answer_totals")


def joined(table: ToldTable, others: Sequence[ToldTable], chance: random.Random) -> Ask | None:
    """Ask one table with the columns of another one, which names each of its things once."""
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
    """Ask the sheet of one period among several, or two of them together."""
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
    return date(day.year + month // 12, month % 12 + 1, 1)
