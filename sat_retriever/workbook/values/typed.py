"""The one type of a column's values: numbers with a unit, dates, booleans, texts."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sat_retriever.records.typedtable import ColumnKind, DataValue
from sat_retriever.text.dates import dates_of
from sat_retriever.text.numbers import Scaled, is_number, numbers_of, scaled
from sat_retriever.workbook.values.cells import GAPS
from sat_retriever.workbook.values.grid import CellError, Value
from sat_retriever.workbook.values.numberformat import FRACTION, PLAIN, NumberFormat

_MIDNIGHT = dt.time()
_SERIAL_ZERO = 1900  # year of the dates that stand for times of a day beyond the first
_BOOLEANS = {"true": True, "false": False}
_DIGIT = re.compile(r"\d")
_LIMIT = re.compile(r"[<>≤≥≈~]=?\s*[+\-−]?\d[\d.,]*\s*[^\d\s]{0,12}")  # <0.05, > 1,000 mg
_PHRASE = re.compile(r"[^\W\d]+\.?\s")  # a text that begins with a word: see note 3
_WORDS = 3  # numbers for each word among them, at least
_KEYS = 4  # texts that can be told to be keys, at least
_SHORT = 2  # digits that quantities may have in common
_LARGE = 1000  # a number that may stand beside 1.2M


@dataclass(frozen=True, slots=True)
class Typed:
    """The values of a column, typed."""

    kind: ColumnKind
    values: Sequence[DataValue]
    # Unit that the cells write behind or before their numbers, or that their formats show; None
    # without one
    unit: str | None = None
    errors: int = 0
    # Texts among numbers or dates that are no value, and the number of cells of each
    words: tuple[tuple[str, int], ...] = ()


def typed(cells: Sequence[Value], shown: NumberFormat = PLAIN, *, unseen: int = 0) -> Typed:
    """Return the values of a column with the one type that fits them.

    Texts are read as numbers, dates or booleans only if they can be, all in one way. Numbers and
    dates may have a few words among them, such as `closed`, `<0.05` or `see note 3`: at most one
    for three values. A word's cell is then empty, as is a mark such as `n/a` or `-`. But one code
    (`A7`, `007`) among texts leaves all as they are, and so do texts that are all keys: whole
    numbers, each once, of one length or ascending, as in a plan of accounts. `shown`, by the
    formats of its numbers, decides on the scale of texts such as `7%`. If the cells are a sample,
    `unseen` others hold no text.

    >>> typed(["12 kg", None, "n/a", 3.5])
    Typed(kind=<ColumnKind.NUMBER: 'number'>, values=[12, None, None, 3.5], unit='kg', errors=0, \
words=(('n/a', 1),))
    >>> typed(["12", "A7"]).kind, typed([dt.date(2024, 1, 2)]).kind
    (<ColumnKind.TEXT: 'text'>, <ColumnKind.DATE: 'date'>)
    >>> typed([5, "closed", 7, 9]).values
    [5, None, 7, 9]
    >>> typed([0.19, "7%"], NumberFormat(FRACTION)).values
    [0.19, 0.07]
    """
    types = set(map(type, cells)) - {type(None)}
    if types and types <= {int, float}:  # most columns, and the fastest
        return Typed(ColumnKind.NUMBER, cells)
    errors = sum(type(value) is CellError for value in cells) if CellError in types else 0
    values: Sequence[DataValue] = cells
    if types & {str, CellError}:
        values = [None if _is_nothing(value) else value for value in cells]
    texts = Counter(value for value in values if type(value) is str) if str in types else Counter()
    types -= {str, CellError}
    if not texts and not types:
        return Typed(ColumnKind.EMPTY, values, errors=errors)
    column = _column(values, texts, unseen, shown)
    for kind, allowed, read in _READINGS:
        found = read(column) if types <= allowed and (column.said or types) else None
        if found is not None:
            words = tuple((text, n) for text, n in texts.items() if found.meant.get(text) is None)
            if texts:
                values = [found.meant.get(v) if isinstance(v, str) else v for v in values]
            return _settled(Typed(kind, values, found.unit, errors, words))
    kind = ColumnKind.MIXED if len(types) + bool(texts) > 1 else ColumnKind.TEXT
    return Typed(kind, values, errors=errors)


def _is_nothing(value: Value) -> bool:
    return type(value) is CellError or (type(value) is str and not value.strip())


@dataclass(frozen=True, slots=True)
class _Column:
    """The cells of a column, apart: its texts with their number, and its other values.

    `known` are the texts that are no words, in the order of the column. `few` is True if so many
    values are no words that the words are exceptions among them.
    """

    said: Mapping[str, int]
    others: Sequence[Any]
    shown: NumberFormat
    known: Sequence[str]
    few: bool


def _column(
    values: Sequence[DataValue], texts: Counter[str], unseen: int, shown: NumberFormat
) -> _Column:
    others = [value for value in values if value is not None and type(value) is not str]
    said = {text: n for text, n in texts.items() if text.strip().lower() not in GAPS}
    known = [text for text in said if not _is_word(text)]
    numbers = sum(said[text] for text in known)
    few = _WORDS * (sum(said.values()) - numbers) <= numbers + len(others) + unseen
    return _Column(said, others, shown, known, few)


@dataclass(frozen=True, slots=True)
class _Reading:
    meant: Mapping[str, DataValue]
    unit: str | None = None


def _is_word(text: str) -> bool:
    """True if a text is neither a number nor a code: no digits, `<0.05`, or a phrase."""
    if not _DIGIT.search(text):
        return True
    plain = text.strip()
    first = _PHRASE.match(plain)
    phrase = first is not None and not first[0].isupper() and not is_number(plain)
    return phrase or _LIMIT.fullmatch(plain) is not None


def _numbers(column: _Column) -> _Reading | None:
    if not column.few or (not column.others and _are_keys(column)):
        return None
    return _in_one_scale(column.known, column)


def _are_keys(column: _Column) -> bool:
    """True if the texts are whole numbers, each once, of one length or ascending."""
    texts = column.known
    if len(texts) < _KEYS or not all(map(str.isdecimal, texts)):
        return False
    numbers = list(map(int, texts))
    long = len(set(map(len, texts))) == 1 and len(texts[0]) > _SHORT
    once = all(column.said[text] == 1 for text in texts)
    return once and (long or numbers == sorted(numbers))


def _in_one_scale(texts: Sequence[str], column: _Column) -> _Reading | None:
    """Texts as numbers of the unit and the scale of the numbers beside them; None if unclear."""
    parts = [scaled(text) for text in texts]
    found = numbers_of([part.number for part in parts])
    values = list(found.values) if found else []
    alone = (value for value, part in zip(values, parts, strict=False) if not part.power)
    bare = [*column.others, *alone]
    if not _is_sure(parts, bare):
        if bare:
            return None
        found, parts = numbers_of(texts), [Scaled(text) for text in texts]
    if found is None:
        return None
    values = [_times(v, part.power) for v, part in zip(found.values, parts, strict=True)]
    shown = column.shown.unit
    if found.unit == "%" and shown == FRACTION:
        values = [_times(v, -2 * ("%" in t)) for v, t in zip(values, texts, strict=True)]
    elif found.unit == "%" and column.others and all(abs(v) <= 1 for v in column.others):
        return None  # 0.19 beside 7% may be 19%
    elif found.unit and column.others and shown and found.unit.casefold() != shown.casefold():
        return None
    return _Reading(
        dict(zip(texts, values, strict=True)), None if shown == FRACTION else found.unit
    )


def _is_sure(parts: Sequence[Scaled], bare: Sequence[float]) -> bool:
    """True if the letters k and M mean scales: of both kinds, with money, or beside large numbers.

    Alone, they may be a unit, as in 3M, 6M, 12M.
    """
    powers = {part.power for part in parts} - {0}
    sure = all(part.sure for part in parts if part.power)
    return sure or len(powers) > 1 or any(abs(value) >= _LARGE for value in bare)


def _times(value: float, power: int) -> int | float:
    """A number times a power of ten, without an error in its last digits."""
    if not power:
        return value
    result = Decimal(str(value)).scaleb(power)
    return int(result) if result == result.to_integral_value() else float(result)


def _moments(column: _Column) -> _Reading | None:
    days = dates_of(column.known) if column.few else None
    return None if days is None else _Reading(dict(zip(column.known, days, strict=True)))


def _booleans(column: _Column) -> _Reading | None:
    known = {text: _BOOLEANS.get(text.strip().lower()) for text in column.said}
    return None if None in known.values() else _Reading(known)


def _words(column: _Column) -> _Reading | None:
    return None if column.known or not column.few else _Reading({})


def _times_of_day(column: _Column) -> _Reading | None:
    """Words among times; Excel's clock gives moments of 1900 for those beyond a day."""
    moments = [value for value in column.others if isinstance(value, dt.datetime)]
    only = len(moments) == len(column.others) or any(v.year > _SERIAL_ZERO for v in moments)
    return None if moments and only else _words(column)


# Each kind with the types of its values, and the reading of texts among them.
_READINGS: tuple[tuple[ColumnKind, set[type], Callable[[_Column], _Reading | None]], ...] = (
    (ColumnKind.NUMBER, {int, float}, _numbers),
    (ColumnKind.BOOLEAN, {bool}, _booleans),
    (ColumnKind.DATETIME, {dt.datetime, dt.date}, _moments),
    (ColumnKind.TIME, {dt.time, dt.datetime}, _times_of_day),
    (ColumnKind.DURATION, {dt.timedelta, dt.time}, _words),
)


def _settled(found: Typed) -> Typed:
    """Return values of two related types as one: dates, moments, times or durations."""
    if found.kind is ColumnKind.DURATION:
        return replace(found, values=[_duration(value) for value in found.values])
    if found.kind is ColumnKind.TIME:
        times = [v.time() if isinstance(v, dt.datetime) else v for v in found.values]
        return replace(found, values=times)
    if found.kind is not ColumnKind.DATETIME:
        return found
    moments = [_moment(value) for value in found.values]
    if any(moment is not None and moment.time() != _MIDNIGHT for moment in moments):
        return replace(found, values=moments)
    days = [moment and moment.date() for moment in moments]
    return replace(found, kind=ColumnKind.DATE, values=days)


def _duration(value: DataValue) -> DataValue:
    if not isinstance(value, dt.time):
        return value
    return dt.datetime.combine(dt.date.min, value) - dt.datetime.min


def _moment(value: DataValue) -> dt.datetime | None:
    if isinstance(value, dt.datetime):
        return value
    return dt.datetime.combine(value, _MIDNIGHT) if isinstance(value, dt.date) else None
