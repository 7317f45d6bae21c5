"""Sums that a table leaves out, and that a condition names: they are records of that query."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sat_retriever.errors import InputError
from sat_retriever.records.typedtable import DataValue
from sat_retriever.sql.compared import Compared
from sat_retriever.sql.names import SqlTable


def with_named(
    tables: Sequence[SqlTable], compared: Mapping[str, Sequence[Compared]]
) -> tuple[SqlTable, ...]:
    """Tables with those of their totals and subtotals that the conditions of a query name.

    "Gross profit" may be the sum of the lines above it, and a line that somebody asks for. A row
    counts if a column of it has a text that a condition compares with, and no record does; the
    note of the table then tells it as a sum. A table whose file cannot be read again stays as it
    is.

    Args:
        tables: The tables.
        compared: Texts that conditions compare with columns, by table.
    """
    return tuple(_with_named(each, compared.get(each.name, ())) for each in tables)


def _with_named(table: SqlTable, compared: Sequence[Compared]) -> SqlTable:
    own = table.table
    if own.whole is None:
        return table
    missed = []
    for name, text, pattern in compared:
        place = table.columns.index(name) if name in table.columns else None
        meets = _condition(text, pattern)
        if place is not None and not any(map(meets, own.columns[place].values)):
            missed.append((place, meets))
    if not missed:
        return table
    try:
        whole = own.whole()
    except InputError:
        return table
    sums = {each.row for each in own.sums}
    if whole.names != own.names or set(whole.places) != {*own.places, *sums}:
        return table  # the file has changed
    named = {
        row
        for place, meets in missed
        for row, value in zip(whole.places, whole.columns[place].values, strict=True)
        if row in sums and meets(value)
    }
    return replace(table, table=own.with_sums(whole, named)) if named else table


def _condition(text: str, pattern: bool) -> Callable[[DataValue], bool]:
    """Whether a value is a text, or matches a pattern of LIKE; in letters of any case."""
    if not pattern:
        wanted = text.casefold()
        return lambda value: isinstance(value, str) and value.casefold() == wanted
    parts = (".*" if each == "%" else "." if each == "_" else re.escape(each) for each in text)
    like = re.compile("".join(parts), re.IGNORECASE | re.DOTALL)
    return lambda value: isinstance(value, str) and like.fullmatch(value) is not None
