"""Give workbooks contents worth asking for: captions, notes, codes, made names, amounts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace

from sat_retriever.synth.book.model import Book, Column, Layout, Sheet
from sat_retriever.synth.book.rewrite import with_schema
from sat_retriever.synth.house.house import House
from sat_retriever.synth.words.wordfiles import SEPARATOR, sign

_NAMED = 0.5  # of the kinds of sheets whose rows get a name
_DOCUMENTED = 0.5  # of the workbooks
_MARKS = "BCDFGHJKLMNPQRSTVWXZ"
_LINES = 4  # of a page of documentation


def enriched(book: Book, house: House) -> Book:
    """Return a workbook with contents of its own; its other columns, links and formulas stay.

    Sheets with facts get a caption below their title, a note, a column of codes on the right and,
    half of their kinds, a column of made names on the left. Half of the workbooks get a page of
    documentation. The layout depends on the house and the kind, which 3-D sums need.
    """
    sheets = [_enriched(sheet, book, house) if sheet.facts else sheet for sheet in book.sheets]
    chance = house.chance("documented", book.path)
    tab = chance.choice(house.vocabulary.lists["documentation_tabs"])
    free = tab.casefold() not in {sheet.name.casefold() for sheet in sheets}
    if free and chance.random() < _DOCUMENTED:
        sheets.append(_documentation(tab, house, chance))
    return replace(book, sheets=tuple(sheets))


def told(forms: str, house: House, chance: random.Random) -> str:
    """Return a sentence of a list of forms about a made person, place, thing and event."""
    lists = house.vocabulary.lists
    sentence = chance.choice(lists[forms]).format(
        thing=chance.choice(lists["counted_things"]),
        event=chance.choice(lists["events"]),
        place=_place(house, chance),
        person=f"{chance.choice(lists['given_names'])} {chance.choice(lists['family_names'])}",
    )
    return sentence[0].upper() + sentence[1:]


def _enriched(sheet: Sheet, book: Book, house: House) -> Sheet:
    if sheet.facts is None or not sheet.columns:
        return sheet
    chance = house.chance("enriched", book.path, sheet.name)
    kind = house.chance("enriched", sheet.facts.category, sheet.facts.kind)
    layout = sheet.layout
    if layout.titles:
        caption = told("caption_forms", house, chance)
        layout = replace(layout, titles=(*layout.titles, caption))
    layout = replace(layout, notes=(*layout.notes, told("note_forms", house, chance)))
    lists = house.vocabulary.lists
    codes = Column(
        "made_codes",
        _header(sheet.columns, lists["reference_headers"], kind),
        tuple(_code(chance) for _ in range(sheet.num_rows)),
    )
    columns = (*sheet.columns, codes)
    if kind.random() < _NAMED:
        header = _header(columns, lists["facility_headers"], kind)
        names = tuple(_place(house, chance) for _ in range(sheet.num_rows))
        columns = (Column("made_names", header, names), *columns)
    return replace(sheet, columns=columns, layout=layout, facts=with_schema(sheet.facts, columns))


def _documentation(tab: str, house: House, chance: random.Random) -> Sheet:
    lines = dict.fromkeys(told("documentation_forms", house, chance) for _ in range(_LINES))
    return Sheet(tab, (), layout=Layout(titles=(tab,), gap=0, notes=tuple(lines)))


def _place(house: House, chance: random.Random) -> str:
    lists = house.vocabulary.lists
    first, facility = lists["company_first_words"], lists["facility_words"]
    return f"{chance.choice(first)} {chance.choice(facility)} {chance.choice(lists['cities'])}"


def _code(chance: random.Random) -> str:
    return f"{chance.choice(_MARKS)}{chance.choice(_MARKS)}-{chance.randrange(10_000, 100_000)}"


def _header(columns: Iterable[Column], headers: Iterable[str], chance: random.Random) -> str:
    taken = {sign(column.header) for column in columns}
    ordered = list(headers)
    chance.shuffle(ordered)
    return next((each for each in ordered if sign(each) not in taken), f"{ordered[0]} 2")


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
