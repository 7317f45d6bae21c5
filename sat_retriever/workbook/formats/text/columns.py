"""Values of delimited text: the columns of a table decide on the types of their cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sat_retriever.text.dates import ORDERS, dates_of, iso_dates, moments, orders_of
from sat_retriever.text.numbers import is_code, number_marks, numbers_of
from sat_retriever.workbook.formats.text.parts import Fields, Part, parts_of
from sat_retriever.workbook.values.grid import Value
from sat_retriever.workbook.values.read import MAX_TEXT, MISSING

_DIGIT = re.compile(r"[0-9]")
_WHOLE = re.compile(r"-?[1-9][0-9]{0,14}|0")
_SMALL, _LARGE = re.compile(r"-?[0-9]{1,3}"), re.compile(r"-?[0-9]{4,}")
_BOOLEANS: Mapping[str, Value] = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Notation:
    """How a text writes numbers and dates.

    Attributes:
        mark: Mark before decimals, "." or ","; "" if it is not known.
        order: Order of days and months, "dmy" or "mdy"; "" if it is not known.
    """

    mark: str = ""
    order: str = ""


@dataclass(frozen=True, slots=True)
class Readings:
    """The readings that the texts of a column allow.

    Attributes:
        numbers: Those that are numbers.
        dates: Those that are dates.
        words: Words that are booleans.
        marks: Marks before decimals with which all numbers can be read.
        orders: Orders in which all dates can be read.
    """

    numbers: Sequence[str] = ()
    dates: Sequence[str] = ()
    words: Sequence[str] = ()
    marks: str = ""
    orders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Column:
    """Rows that reach a column of one table, its position in them, the readings of its texts."""

    rows: Sequence[list[Any]]
    place: int
    readings: Readings


def typed_rows(fields: Fields, delimiter: str) -> list[list[Value]]:
    """Return fields as values: numbers, dates, booleans, texts; None for blank ones.

    A column with a code, such as 007, 10A or 1.10.1, keeps all of its texts. Words among numbers
    or dates leave the others what they are. Where the texts of a column allow two notations,
    other columns decide; a date that stays open stays a text.

    Args:
        fields: Fields of each line, without empty ones at its end.
        delimiter: The delimiter; a semicolon suggests a decimal comma.

    >>> typed_rows([["Name", "Sum", "Day"], ["A", "2.155", "1/2/2024"], ["B", "1,5"]], ";")
    [['Name', 'Sum', 'Day'], ['A', 2155, datetime.date(2024, 2, 1)], ['B', 1.5]]
    """
    rows: list[list[Any]] = [
        [text.strip()[:MAX_TEXT] or None for text in line] if line else MISSING for line in fields
    ]
    parts = list(parts_of(fields))
    columns = [column for part in parts for column in _columns(rows, part)]
    known = _notation([column.readings for column in columns])
    for column in columns:
        if meant := _meanings(column.readings, known, delimiter):
            place = column.place
            for row in column.rows:
                if (text := row[place]) in meant:
                    row[place] = meant[text]
    for part in parts:
        if part.header >= part.start:
            rows[part.header] = list(map(_name, rows[part.header]))
    return rows


def _columns(rows: Sequence[list[Any]], part: Part) -> Iterator[_Column]:
    """Yield the columns of a table, and each cell above its header as one of its own."""
    for row in rows[part.start : part.header]:
        for place, text in enumerate(row):
            yield _Column([row], place, readings_of([text] if text else []))
    header = rows[part.header] if part.header >= part.start else []
    reaching, place = rows[part.header + 1 : part.stop], 0
    while reaching := [row for row in reaching if len(row) > place]:
        texts = dict.fromkeys(row[place] for row in reaching)
        for none in (None, header[place] if place < len(header) else None):
            texts.pop(none, None)
        yield _Column(reaching, place, readings_of(list(texts)))
        place += 1


def _name(text: str | None) -> Value:
    """A field of a header: years and other whole numbers are numbers."""
    return int(text) if text and _WHOLE.fullmatch(text) else text


def readings_of(texts: Sequence[str]) -> Readings:
    """Return the readings that the different texts of a column allow; none if one is a code."""
    if not any(map(_DIGIT.search, texts)):
        return Readings(words=[text for text in texts if text.lower() in _BOOLEANS])
    if marks := number_marks(texts):
        return Readings(numbers=texts, marks=marks)
    if iso_dates(texts) is not None:
        return Readings(dates=texts, orders=ORDERS)
    numbers, dates, words, found = [], [], [], []
    for text in texts:
        if number_marks([text]):
            numbers.append(text)
        elif read := moments(text):
            dates.append(text)
            found.append(read)
        elif is_code(text):
            return Readings()
        elif text.lower() in _BOOLEANS:
            words.append(text)
    return Readings(numbers, dates, words, number_marks(numbers), orders_of(found))


def _notation(columns: Sequence[Readings]) -> Notation:
    """The notation of the columns that allow only one; none where as many have another."""
    marks = Counter(each.marks for each in columns if len(each.marks) == 1)
    orders = Counter(each.orders[0] for each in columns if each.dates and len(each.orders) == 1)
    mark = _commonest(marks)
    return Notation(mark, _commonest(orders) or ("dmy" if mark == "," else ""))


def _commonest(votes: Counter[str]) -> str:
    first, second = (*votes.most_common(2), ("", 0), ("", 0))[:2]
    return first[0] if first[1] > second[1] else ""


def _meanings(readings: Readings, known: Notation, delimiter: str) -> Mapping[str, Value]:
    """What the texts of a column mean, where it is not themselves."""
    meant: dict[str, Value] = {text: _BOOLEANS[text.lower()] for text in readings.words}
    days = dates_of(readings.dates, known.order) if readings.dates else None
    meant.update(zip(readings.dates, days or (), strict=days is not None))
    if not readings.numbers:
        return meant
    mark = readings.marks if len(readings.marks) == 1 else known.mark
    mark = mark or _usual_mark(readings.numbers, delimiter)
    found = numbers_of(readings.numbers, mark)
    if found is None:
        return {}
    meant.update(zip(readings.numbers, found.values, strict=True))
    if found.unit:
        _keep_units(meant, readings, found.unit, mark)
    return meant


def _keep_units(meant: dict[str, Value], readings: Readings, unit: str, mark: str) -> None:
    """Leave numbers with a unit texts; in a notation that is not theirs alone, in plain digits."""
    dressed = [text for text in readings.numbers if unit.casefold() in text.casefold()]
    plain = number_marks(dressed)[:1] == mark
    for text in dressed:
        number = meant.pop(text)
        if not plain:
            meant[text] = f"{number} {unit}"


def _usual_mark(numbers: Sequence[str], delimiter: str) -> str:
    """The mark before decimals of numbers such as 2.155, if no column tells it.

    Beside a semicolon a comma is it, and a point if there are no whole numbers up to 999 only:
    these have no mark for thousands where longer ones have it.
    """
    if delimiter != ";":
        return "."
    point = any("." in text for text in numbers)
    grouped = any(map(_SMALL.fullmatch, numbers)) and not any(map(_LARGE.fullmatch, numbers))
    return "," if point == grouped else "."
