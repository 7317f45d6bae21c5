"""Choose questions about one table: a value, a total, groups, a number with its unit."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from sat_retriever.synth.answers.ask import Ask, Condition, Field, Reduce
from sat_retriever.synth.answers.evaluate import answer_of
from sat_retriever.synth.answers.phrase import given_by
from sat_retriever.synth.answers.tables import ToldColumn, ToldTable

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
    """Ask for one figure of all records of a table."""
    return Ask("total", (table,), Field(column), reduction(column, chance), "answer_totals")
