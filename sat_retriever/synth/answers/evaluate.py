"""Answer one question: as SQL, and from the tables themselves."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any

from sat_retriever.records.typedtable import ColumnKind, TypedColumn, TypedTable
from sat_retriever.synth.answers.ask import Ask, Condition, Field, Reduce
from sat_retriever.synth.answers.tables import ToldTable
from sat_retriever.synth.book.model import Value
from sat_retriever.tools.sql.names import SqlTable, sql_tables


def sql_of(ask: Ask) -> str:
    """Return the SELECT that answers a question.

    Only sheet ids and headers of the model decide its names, not what a reader finds.
    """
    named = sql_names(ask.tables)
    if ask.stacked:
        return _stacked(ask, named)
    names = _Names(ask, named)
    source = named[0].name
    if ask.on:
        first, second = (names.of(field) for field in ask.on)
        source = f"{source} AS a JOIN {named[1].name} AS b ON {first} = {second}"
    shown = names.of(ask.shows) if ask.shows else "*"
    shown = f"{ask.reduce}({shown})" if ask.reduce else shown
    by = names.of(ask.by) if ask.by else ""
    parts = [f"SELECT {f'{by}, ' if by else ''}{shown} FROM {source}"]
    if ask.where:
        parts.append("WHERE " + " AND ".join(names.condition(each) for each in ask.where))
    if by:
        parts.append(f"GROUP BY {by}")
    if ask.most:
        parts.append(f"ORDER BY 2 DESC LIMIT {ask.most}")
    return " ".join(parts)


def sql_names(tables: Sequence[ToldTable]) -> list[SqlTable]:
    """Return tables without data under the names that a query over them gives them."""
    return sql_tables(
        [
            TypedTable(
                table.sheet_id,
                table.area,
                tuple(TypedColumn(each.header, ColumnKind.EMPTY, ()) for each in table.columns),
                (),
            )
            for table in tables
        ]
    )


def literal(value: Value) -> str:
    """Return a value as SQL writes it.

    >>> literal("O'Neil"), literal(date(2024, 1, 2)), literal(2.5)
    ("'O''Neil'", "DATE '2024-01-02'", '2.5')
    """
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def _stacked(ask: Ask, named: Sequence[SqlTable]) -> str:
    assert ask.shows is not None
    parts = []
    for told, table in zip(ask.tables, named, strict=True):
        place = [column.id for column in told.columns].index(ask.shows.column.id)
        parts.append(f"SELECT {table.columns[place]} AS value FROM {table.name}")
    return f"SELECT {ask.reduce}(value) FROM ({' UNION ALL '.join(parts)})"


class _Names:
    """The SQL names of the columns of a question; those of joined tables name their table."""

    def __init__(self, ask: Ask, named: Sequence[SqlTable]) -> None:
        self._ask, self._named = ask, named

    def of(self, field: Field) -> str:
        columns = self._ask.tables[field.table].columns
        place = [column.id for column in columns].index(field.column.id)
        name = self._named[field.table].columns[place]
        return f"{'ab'[field.table]}.{name}" if self._ask.on else name

    def condition(self, condition: Condition) -> str:
        return f"{self.of(condition.field)} {condition.operator} {literal(condition.value)}"


Record = tuple[int, int]
"""Rows of the first and the second table, counted from 0; -1 for none."""
_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, ">": operator.gt, ">=": operator.ge, "<": operator.lt,
}  # fmt: skip


def answer_of(ask: Ask) -> tuple[tuple[Value, ...], ...]:
    """Return the rows that answer a question.

    An empty cell is no number, and equals nothing. The order of rows has a meaning only if the
    question is for the greatest groups.
    """
    records = records_of(ask)
    if ask.by is None:
        if ask.reduce is None:
            return tuple((_value(ask, ask.shows, each),) for each in records if ask.shows)
        return ((_reduced(ask, records),),)
    groups: dict[Value, list[Record]] = {}
    for each in records:
        groups.setdefault(_value(ask, ask.by, each), []).append(each)
    rows = [(key, _reduced(ask, members)) for key, members in groups.items()]
    if ask.most:
        rows = sorted(rows, key=lambda row: -_number(row[1]))[: ask.most]
    return tuple(rows)


def records_of(ask: Ask) -> list[Record]:
    """Return the records that meet the conditions of a question."""
    return [
        each
        for each in _sources(ask)
        if all(_met(condition, _value(ask, condition.field, each)) for condition in ask.where)
    ]


def cells_of(ask: Ask) -> tuple[str, ...]:
    """Return citations of the cells that a question without a function shows."""
    if ask.reduce is not None or ask.shows is None:
        return ()
    table = ask.tables[ask.shows.table]
    rows = dict.fromkeys(each[ask.shows.table] for each in records_of(ask))
    return tuple(f"{table.sheet_id}!{ask.shows.column.letters}{table.rows[row]}" for row in rows)


def plain(value: Value) -> str | int | float | bool | None:
    """Return a value as JSON has it; a date is ISO text."""
    return value.isoformat() if isinstance(value, date) else value


def reduced(function: Reduce, values: Iterable[Value]) -> int | float | None:
    """Reduce a column to one number; None without numbers, except for a count.

    >>> reduced("sum", [1, None, 2]), reduced("avg", [1, None, 2]), reduced("max", [None])
    (3, 1.5, None)
    """
    numbers = [_number(value) for value in values if value is not None]
    if function == "count":
        return len(numbers)
    if not numbers:
        return None
    if function in ("max", "min"):
        return max(numbers) if function == "max" else min(numbers)
    total = sum(numbers) if all(isinstance(n, int) for n in numbers) else math.fsum(numbers)
    return total if function == "sum" else total / len(numbers)


def _sources(ask: Ask) -> list[Record]:
    first = range(len(ask.tables[0].rows))
    if len(ask.tables) == 1:
        return [(row, -1) for row in first]
    second = range(len(ask.tables[1].rows))
    if ask.on is None:
        return [*((row, -1) for row in first), *((-1, row) for row in second)]
    own, other = ask.on[0].column.values, ask.on[1].column.values
    rows: dict[Value, list[int]] = {}
    for row in second:
        rows.setdefault(other[row], []).append(row)
    return [
        (row, match) for row in first if own[row] is not None for match in rows.get(own[row], [])
    ]


def _value(ask: Ask, field: Field | None, record: Record) -> Value:
    assert field is not None
    if ask.stacked:
        place = 0 if record[1] < 0 else 1
        column = ask.tables[place].column(field.column.id)
        return column.values[record[place]] if column else None
    return field.column.values[record[field.table]]


def _met(condition: Condition, value: Value) -> bool:
    return value is not None and _HOLDS[condition.operator](value, condition.value)


def _reduced(ask: Ask, records: Sequence[Record]) -> int | float | None:
    if ask.shows is None:
        return len(records)
    return reduced(ask.reduce or "count", (_value(ask, ask.shows, each) for each in records))


def _number(value: Value) -> int | float:
    if isinstance(value, int | float):
        return value
    raise TypeError(f"{value!r} is no number")
