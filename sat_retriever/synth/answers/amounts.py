"""Give sheets a column of amounts as people type them, with their unit in the cells or above."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from sat_retriever.synth.book.build import with_schema
from sat_retriever.synth.book.model import Book, Column, Sheet
from sat_retriever.synth.house.house import House
from sat_retriever.synth.words.wordfiles import SEPARATOR, sign

WRITTEN = "made_amounts"
"""Id of the column."""
_MEASURED = 0.4  # of the kinds of sheets
_EMPTY = 0.06  # of the cells
_GAPS = ("", "n/a", "-")
_HEADER = "header"
_PLACES = ("{number} {unit}", "{number} {unit}", "{number}{unit}", _HEADER)
_BEFORE = "{unit} {number}"  # of money alone
_MONEY = ("EUR", "USD", "GBP", "€", "$", "£")


def measured(book: Book, house: House) -> Book:
    """Return a workbook in which two of five kinds of sheets have one more column, of amounts.

    The amounts stand in texts, in one notation a sheet: "1,200.50 EUR", "12,5 %", "€ 90"; or they
    are numbers below a header with the unit. Notations differ in their marks for decimals and
    thousands. Whole numbers have no points between thousands, since a text such as "1.200" alone
    can be read in two ways.

    Args:
        book: The workbook.
        house: Its house, which decides kinds, notations and amounts.
    """
    return replace(book, sheets=tuple(_measured(sheet, book, house) for sheet in book.sheets))


def _measured(sheet: Sheet, book: Book, house: House) -> Sheet:
    if sheet.facts is None or not sheet.columns:
        return sheet
    kind = house.chance("measured", sheet.facts.category, sheet.facts.kind)
    if kind.random() >= _MEASURED:
        return sheet
    taken = {sign(column.header) for column in sheet.columns}
    entries = list(house.vocabulary.lists["measures"])
    kind.shuffle(entries)
    free = [entry for entry in entries if sign(entry.split(SEPARATOR)[0]) not in taken]
    if not free:
        return sheet
    column = _column(free[0], sheet.num_rows, kind, house.chance("amounts", book.path, sheet.name))
    columns = (*sheet.columns, column)
    return replace(sheet, columns=columns, facts=with_schema(sheet.facts, columns))


def _column(entry: str, count: int, kind: random.Random, chance: random.Random) -> Column:
    """Return a column of a measure: header, unit, least, most, decimals."""
    header, unit, least, most, decimals = entry.split(SEPARATOR)
    places = int(decimals)
    form = kind.choice((*_PLACES, _BEFORE) if unit in _MONEY else _PLACES)
    notation = kind.choice(_NOTATIONS if places else _NOTATIONS[:2])
    numbers = tuple(_amount(float(least), float(most), places, chance) for _ in range(count))
    if form == _HEADER:
        return Column(
            WRITTEN, f"{header} ({unit})", numbers, "amount" if places else "integer",
            numbers=numbers, measure=unit,
        )  # fmt: skip
    gap = kind.choice(_GAPS)
    cells = tuple(
        gap if number is None else form.format(number=notation(number, places), unit=unit)
        for number in numbers
    )
    return Column(WRITTEN, header, cells, numbers=numbers, measure=unit)


def _amount(least: float, most: float, places: int, chance: random.Random) -> int | float | None:
    """Return an amount; None for an empty cell."""
    if chance.random() < _EMPTY:
        return None
    number = round(chance.uniform(least, most), places)
    return number if places else int(number)


def _point(number: float, places: int) -> str:
    """Write a number with commas between thousands: 1,200.50."""
    return f"{number:,.{places}f}"


def _blank(number: float, places: int) -> str:
    """Write a number with blanks between thousands: 1 200.50."""
    return _point(number, places).replace(",", " ")


def _comma(number: float, places: int) -> str:
    """Write a number with a comma before its decimals: 1.200,50."""
    return _point(number, places).translate(str.maketrans(",.", ".,"))


_NOTATIONS: tuple[Callable[[float, int], str], ...] = (_point, _blank, _comma)
