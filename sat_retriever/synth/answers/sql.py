"""Write a question as one SELECT, under the public names of its tables and columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from sat_retriever.records.typedtable import ColumnKind, TypedColumn, TypedTable
from sat_retriever.synth.answers.ask import Ask, Condition, Field
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
