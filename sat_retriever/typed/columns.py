"""Type the columns of a table: numbers with units, dates, booleans, texts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sat_retriever.records.typedtable import ColumnKind, DataValue
from sat_retriever.text.dates import dates_of
from sat_retriever.text.numbers import numbers_of
from sat_retriever.workbook.values.cells import GAPS
from sat_retriever.workbook.values.grid import CellError, Value

_MIDNIGHT = dt.time()
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Typed:
    """The values of a column, typed.

    Attributes:
        kind: Their type.
        values: The values.
        unit: Unit that the cells write behind or before their numbers; None without one.
        errors: Number of cells with an error.
    """

    kind: ColumnKind
    values: Sequence[DataValue]
    unit: str | None = None
    errors: int = 0


def typed(cells: Sequence[Value]) -> Typed:
    """Return the values of a column with the one type that fits all of them.

    Texts are read as numbers, dates or booleans only if every text of the column can be: one code
    or word among them leaves all as they are. Marks such as `n/a` and `-` are then empty.

    >>> typed(["12 kg", None, "n/a", 3.5])
    Typed(kind=<ColumnKind.NUMBER: 'number'>, values=[12, None, None, 3.5], unit='kg', errors=0)
    >>> typed(["12", "A7"]).kind, typed([dt.datetime(2024, 1, 2)]).values
    (<ColumnKind.TEXT: 'text'>, [datetime.date(2024, 1, 2)])
    """
    values: list[DataValue] = [None if type(value) is CellError else value for value in cells]
    errors = sum(type(value) is CellError for value in cells)
    texts = [value for value in values if isinstance(value, str)]
    others = {type(value) for value in values} - {str, type(None)}
    if not texts and not others:
        return Typed(ColumnKind.EMPTY, values, errors=errors)
    said = [text for text in texts if text.strip().lower() not in GAPS]
    for kind, types, read in _READINGS:
        found = read(said) if others <= types and (said or others) else None
        if found is not None:
            meant = dict(zip(said, found[0], strict=True)) | dict.fromkeys(set(texts) - set(said))
            if texts:
                values = [meant[each] if isinstance(each, str) else each for each in values]
            return _dated(Typed(kind, values, found[1], errors))
    kind = ColumnKind.MIXED if len(others) + bool(texts) > 1 else ColumnKind.TEXT
    return Typed(kind, values, errors=errors)


Reading = tuple[Sequence[DataValue], str | None]
"""Texts read as values of another type, and the unit that they have in common."""


def _numbers(texts: Sequence[str]) -> Reading | None:
    found = numbers_of(texts)
    return (found.values, found.unit) if found else None


def _moments(texts: Sequence[str]) -> Reading | None:
    days = dates_of(texts)
    if days is None:
        return None
    midnights = (
        each if isinstance(each, dt.datetime) else dt.datetime.combine(each, _MIDNIGHT)
        for each in days
    )
    return list(midnights), None


def _booleans(texts: Sequence[str]) -> Reading | None:
    known = [_BOOLEANS.get(text.strip().lower()) for text in texts]
    return None if None in known else (known, None)


def _none(texts: Sequence[str]) -> Reading | None:
    return None if texts else ((), None)


_READINGS: tuple[tuple[ColumnKind, set[type], Callable[[Sequence[str]], Reading | None]], ...] = (
    (ColumnKind.NUMBER, {int, float}, _numbers),
    (ColumnKind.BOOLEAN, {bool}, _booleans),
    (ColumnKind.DATETIME, {dt.datetime}, _moments),
    (ColumnKind.TIME, {dt.time}, _none),
    (ColumnKind.DURATION, {dt.timedelta}, _none),
)
"""Each kind with the types of its values, and the reading of texts among them."""


def _dated(found: Typed) -> Typed:
    """Return moments as dates if all are at midnight; other values as they are."""
    moments = [value for value in found.values if isinstance(value, dt.datetime)]
    if not moments or any(moment.time() != _MIDNIGHT for moment in moments):
        return found
    days = [value.date() if isinstance(value, dt.datetime) else value for value in found.values]
    return Typed(ColumnKind.DATE, days, found.unit, found.errors)
