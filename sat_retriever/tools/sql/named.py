"""Sums that a table leaves out, and that a condition names: they are records of that query."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from sat_retriever.errors import InputError
from sat_retriever.records.typedtable import DataValue, TypedTable
from sat_retriever.tools.sql.compared import Compared
from sat_retriever.tools.sql.names import SqlTable

MAX_COMPARED = 50
"""Most texts of conditions on one table that are looked for."""


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
    texts: dict[int, set[str]] = {}
    missed = []
    for name, text, pattern in compared[:MAX_COMPARED]:
        place = table.columns.index(name) if name in table.columns else -1
        if place not in texts:
            texts[place] = _folded(own.columns[place].values) if place >= 0 else set()
        meets = _condition(text, pattern)
        if place >= 0 and not any(map(meets, texts[place])):
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
        if row in sums and any(map(meets, _folded([value])))
    }
    return replace(table, table=_with_sums(own, whole, named)) if named else table


def _with_sums(own: TypedTable, whole: TypedTable, rows: Collection[int]) -> TypedTable:
    """The table with some of its sums among its records, from the table with all of them."""
    added = [each for each in own.sums if each.row in rows]
    kept = {*own.places, *rows}
    at = [number for number, place in enumerate(whole.places) if place in kept]
    return replace(
        whole,
        columns=tuple(column.at(at) for column in whole.columns),
        places=tuple(whole.places[number] for number in at),
        left_out=tuple(each for each in own.left_out if each not in added),
        doubtful=tuple(sorted({*own.doubtful, *added}, key=lambda each: each.row)),
    )


def _folded(values: Iterable[DataValue]) -> set[str]:
    return {value.casefold() for value in values if isinstance(value, str)}


def _condition(text: str, pattern: bool) -> Callable[[str], bool]:
    """Whether a text is another one, or matches a pattern of LIKE; in letters of any case."""
    wanted = text.casefold()
    if not pattern:
        return wanted.__eq__
    first, *rest = (re.escape(part).replace("_", ".") for part in wanted.split("%"))
    inner = "".join(f"(?>.*?{part})" for part in rest[:-1])  # never tried again, so in linear time
    last = f".*{rest[-1]}" if rest else ""
    like = re.compile(f"{first}{inner}{last}", re.DOTALL)
    return lambda value: like.fullmatch(value) is not None
