"""Draw habits of a house beyond names: letter case, layout, formulas, colours."""

from __future__ import annotations

import random

from sat_retriever.synth.book.model import Dialect, Layout
from sat_retriever.synth.words.wordfiles import words_of

CASES = ("as is", "as is", "as is", "snake", "upper", "camel")
_COLOURS = ("DDEBF7", "E2EFDA", "FFF2CC", "FCE4D6", "EDEDED", "D9E1F2", "F4CCCC", "D0E0E3")
_FONTS = ("Calibri", "Arial", "Verdana", "Cambria", "Tahoma", "Aptos")
_SUBTITLES = ("Prepared by {department}", "Internal use only", "All figures as booked", "{name}")
_NOTES = (
    "Source: own records",
    "Figures are subject to review",
    "Please send corrections before the end of the month",
    "Please do not overwrite formulas",
)


def letter_case(chance: random.Random) -> str:
    """Draw one of the letter cases of headers."""
    return chance.choice(CASES)


def cased(header: str, case: str) -> str:
    """Write a header in a letter case.

    >>> [cased("Material Code", case) for case in ("as is", "snake", "upper", "camel")]
    ['Material Code', 'material_code', 'MATERIAL CODE', 'materialCode']
    """
    if case == "upper":
        return header.upper()
    words = words_of(header)
    if case == "as is" or not words:
        return header
    if case == "snake":
        return "_".join(word.lower() for word in words)
    first, *rest = words
    return first.lower() + "".join(word[0].upper() + word[1:].lower() for word in rest)


def layout(name: str, title: str, house: random.Random, sheet: random.Random) -> Layout:
    """Draw a layout: the texts and gaps above, beside and below a table.

    Args:
        name: The house's name.
        title: Title of the sheet.
        house: Random numbers for features shared by all sheets of the house.
        sheet: Random numbers for features of the single sheet.
    """
    titled = house.random() < 0.7
    gap, first_row, first_column = house.choice((0, 1, 1, 2)), house.choice((0, 0, 0, 1)), 0
    if house.random() < 0.15:
        first_column = 1
    subtitle = house.choice((*_SUBTITLES, "", "", ""))
    noted = house.random() < 0.4
    above = (title, subtitle.format(department="Finance", name=name)) if titled else ()
    notes = (sheet.choice(_NOTES),) if noted and sheet.random() < 0.5 else ()
    return Layout(
        titles=tuple(line for line in above if line),
        gap=gap if titled else 0,
        first_row=first_row,
        first_column=first_column,
        notes=notes,
    )


def dialect(chance: random.Random) -> Dialect:
    """Draw the style of formulas and the colour of headers."""
    return Dialect(
        lookup=chance.choice(("vlookup", "vlookup", "index_match", "xlookup")),
        ranges=chance.choice(("area", "area", "column", "name", "table")),
        colour=chance.choice(_COLOURS),
        font=chance.choice(_FONTS),
    )
