"""Hints that help to mend a query: for DuckDB's messages, and for texts that no record has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice

from sat_retriever.records.typedtable import TypedColumn, value_text
from sat_retriever.text.segment import stems
from sat_retriever.tools.sql.check import Compared
from sat_retriever.tools.sql.names import SqlTable, literal, shown

_NO_COLUMN = re.compile(
    r'Referenced column "(?P<name>[^"]+)" (?:was )?not found'
    r'|does not have a column named "(?P<of_table>[^"]+)"',
    re.IGNORECASE,
)
_DAYS = (
    "write a day as DATE '2024-05-31', a month as x >= DATE '2024-05-01' AND x < DATE '2024-06-01'."
)
_HINTS = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (r"invalid (?:date|timestamp) field", f"In SQL, {_DAYS}"),
        (
            r"Could not convert string (?s:.*)source column",
            "Not all texts of that column can be read so; TRY_CAST gives NULL for the others.",
        ),
        (r"Could not convert string", "That column holds no texts; look for the text in another."),
        (r"\(INTERVAL\)", "Reckon with seconds of durations, as in sum(epoch(x))."),
        (
            r"(?:types '|call \")(?:year|month|day|quarter|week|date|strftime)\w*\(.*VARCHAR",
            "Texts are no days; TRY_CAST(x AS DATE) reads them.",
        ),
        (r"argument types '.*VARCHAR", "Texts are no numbers; TRY_CAST(x AS DOUBLE) reads them."),
        (r"must appear in the GROUP BY", "GROUP BY ALL groups by all columns without a function."),
        (r"cannot contain aggregates", "HAVING compares results of functions, behind GROUP BY."),
        (r'Referenced table "', "A table that has an alias is called by that alone."),
    )
)
_MOST_TEXTS = 2_000  # different texts of a column among which the nearest are looked for
_FEW = 3
_LEAST_LIKENESS = 0.5
_MOST_TOLD = 3  # conditions without a record


def mended(said: str, tables: Sequence[SqlTable], most: int) -> str:
    """Return DuckDB's message with hints that help to mend the query.

    Args:
        most: Columns of each table that are listed.
    """
    listed = f"Tables: {'; '.join(each.listed(most) for each in tables)}."
    missing = _NO_COLUMN.search(said)
    if missing is None:
        hint = next((f" {hint}" for pattern, hint in _HINTS if pattern.search(said)), "")
        return f"{said.rstrip('.!')}.{hint} {listed}"
    name = missing["name"] or missing["of_table"]
    having = [each.name for each in tables if name.casefold() in each.columns]
    if having:
        places = " and ".join(having)
        return (
            f"{name!r} is a column of {places}: read it from there, or leave it out if the "
            f"question does not ask for it. {listed}"
        )
    for table in tables:
        for own, column in zip(table.columns, table.table.columns, strict=True):
            if name in column.values:
                return f"{literal(name)} is a text of {own}: texts stand in single quotes. {listed}"
    headers = {
        column.name.casefold(): own
        for table in tables
        for own, column in zip(table.columns, table.table.columns, strict=True)
    }
    known = sorted({column for table in tables for column in table.columns})
    near = headers.get(name.casefold()) or next(
        iter(get_close_matches(name.casefold(), known, n=1)), None
    )
    hint = f"; did you mean {near}?" if near else "."
    return f"There is no column {name!r}{hint} {listed}"


def told_missing(missing: Mapping[str, Iterable[tuple[TypedColumn, Compared]]]) -> str:
    """Return a note on texts that a query looks for and no record has, with the nearest ones.

    Args:
        missing: The columns and the texts, by the SQL name of their table.
    """
    told = (
        f"{table}.{name} has no {literal(text)}{_nearest(column, text)}."
        for table, conditions in missing.items()
        for column, (name, text, _) in conditions
    )
    return " ".join(islice(told, _MOST_TOLD))


def _nearest(column: TypedColumn, text: str) -> str:
    """Return the texts of a column that share words with another text, else those spelled alike.

    Where there are none, it is the first values that tell how the column writes them.
    """
    texts = list(islice(dict.fromkeys(v for v in column.values if isinstance(v, str)), _MOST_TEXTS))
    near = list(_sharing(texts, text)) or get_close_matches(
        text, texts, n=_FEW, cutoff=_LEAST_LIKENESS
    )
    if near:
        return f"; it has {', '.join(map(shown, near))}"
    some = dict.fromkeys(map(value_text, islice(column.values, _MOST_TEXTS)))
    first = ", ".join(map(shown, islice(filter(None, some), _FEW)))
    return f"; its values are such as {first}" if first else ""


def _sharing(texts: Iterable[str], text: str) -> Iterator[str]:
    wanted = set(stems(text))
    shared = {each: len(wanted.intersection(stems(each))) for each in texts}
    best = sorted((each for each in shared if shared[each]), key=lambda each: -shared[each])
    yield from best[:_FEW]
