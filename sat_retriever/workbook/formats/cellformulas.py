"""Expansion of formulas that fill a range to the cells that they fill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from openpyxl.formula.tokenizer import TokenizerError
from openpyxl.formula.translate import Translator, TranslatorError

from sat_retriever.records.area import Area, Place, area_of, column_letters, split_ref
from sat_retriever.records.structure import RawFormula
from sat_retriever.workbook.budget import CutShort
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.opening.package import (
    Attributes,
    BadXmlError,
    feed,
    guarded_parser,
    local,
)
from sat_retriever.workbook.request import MAX_CELLS


def cell_formulas(
    formulas: Iterable[RawFormula], area: Area, owners: Mapping[Place, Place] | None = None
) -> list[RawFormula]:
    """One plain formula for each cell of an area that has one, at most `MAX_CELLS` of them.

    A formula that fills a range is moved to each of its cells, as if copied. If it cannot be
    parsed, only its first cell gets it.

    Args:
        formulas: (cell, text, range, kind) as a sheet holds them.
        area: Area of the cells.
        owners: Cell whose formula a cell has, if known from the sheet: a cell in the middle of
            a filled range may have been overwritten with a value.

    >>> cell_formulas([("B1", "A1*2", "B1:B3", "shared")], Area(2, 1, 9, 9))
    [('B2', 'A2*2', None, 'normal'), ('B3', 'A3*2', None, 'normal')]
    """
    own = dict(_by_range(formulas, area) if owners is None else _by_owner(formulas, owners))
    moved = ((_address(place), formula) for place, formula in own.items())
    return [
        (cell, text, None, "normal")
        for cell, formula in moved
        if (text := _moved(formula, cell)) is not None
    ]


def formula_cells(formulas: Iterable[RawFormula], area: Area) -> list[Place]:
    """The cells of an area that have a formula, in as many first rows as an answer can hold.

    Args:
        formulas: (cell, text, range, kind) as a sheet holds them.
        area: Area of the cells.

    >>> formula_cells([("B1", "A1*2", "B1:B3", "shared")], Area(2, 1, 9, 9))
    [(2, 2), (3, 2)]
    """
    parts = list(islice(_filled(formulas, area), MAX_CELLS))
    if not parts:
        return []
    tops, lefts, _bottoms, rights = zip(*parts, strict=True)
    last = min(tops) + max(1, MAX_CELLS // (max(rights) - min(lefts) + 1)) - 1
    places = (
        (row, col)
        for top, left, bottom, right in parts
        for row in range(top, min(bottom, last) + 1)
        for col in range(left, right + 1)
    )
    return list(dict.fromkeys(islice(places, MAX_CELLS)))


def formula_owners(chunks: Iterator[bytes], area: Area, limits: Limits) -> dict[Place, Place]:
    """Map the first `MAX_CELLS` cells with a formula in an area to the cells that own it.

    Args:
        chunks: The bytes of a worksheet part.
        area: Area of the cells.
        limits: Limits on nesting.
    """
    found: dict[Place, Place] = {}
    masters: dict[str, Place] = {}  # by the number of a shared formula
    at: Place = (0, 0)

    def start(name: str, attributes: Attributes) -> None:
        nonlocal at
        tag = local(name)
        if tag == "row":
            number = attributes.get("r", "")
            at = (int(number) if number.isdecimal() else at[0] + 1, 0)
        elif tag == "c":
            at = split_ref(attributes.get("r", "")) or (at[0], at[1] + 1)
        elif tag == "f":
            owner = at
            if attributes.get("t") == "shared" and "si" in attributes:
                owner = masters.setdefault(attributes["si"], at)
            if len(found) < MAX_CELLS and area.holds(*at):
                found[at] = owner

    parser = guarded_parser("of a worksheet", limits)
    parser.StartElementHandler = start
    try:
        feed(parser, chunks)
    except (BadXmlError, CutShort):
        return found
    return found


def _by_owner(
    formulas: Iterable[RawFormula], owners: Mapping[Place, Place]
) -> Iterator[tuple[Place, RawFormula]]:
    by_cell = {formula[0]: formula for formula in formulas}
    for place, owner in owners.items():
        formula = by_cell.get(_address(owner))
        if formula is not None:
            yield place, formula


def _by_range(formulas: Iterable[RawFormula], area: Area) -> Iterator[tuple[Place, RawFormula]]:
    left = MAX_CELLS
    for formula in formulas:
        cell, _text, ref, kind = formula
        filled = area_of(ref or cell) if kind == "shared" else area_of(cell)
        if filled is None:
            continue
        for row in range(max(filled.top, area.top), min(filled.bottom, area.bottom) + 1):
            for col in range(max(filled.left, area.left), min(filled.right, area.right) + 1):
                if left == 0:
                    return
                left -= 1
                yield (row, col), formula


def _filled(formulas: Iterable[RawFormula], area: Area) -> Iterator[tuple[int, int, int, int]]:
    """Top, left, bottom and right of each formula's cells in an area; a million take seconds."""
    for cell, _text, ref, kind in formulas:
        place = split_ref(cell)
        if place is None:
            continue
        if place[0] > area.bottom:  # formulas are in row order
            return
        top, left = bottom, right = place
        filled = area_of(ref) if kind == "shared" and ref else None
        if filled is not None:
            top, left = max(filled.top, area.top), max(filled.left, area.left)
            bottom, right = min(filled.bottom, area.bottom), min(filled.right, area.right)
        if area.top <= top <= bottom and area.left <= left <= right <= area.right:
            yield top, left, bottom, right


def _moved(formula: RawFormula, cell: str) -> str | None:
    """The formula's text in one of its cells; None if it cannot be moved there."""
    origin, text, _ref, _kind = formula
    if cell == origin:
        return text
    try:
        return str(Translator(f"={text}", origin=origin).translate_formula(cell))[1:]
    except (TokenizerError, TranslatorError, IndexError, ValueError):
        return None


def _address(place: Place) -> str:
    return f"{column_letters(place[1])}{place[0]}"
