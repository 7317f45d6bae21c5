"""A range of one sheet to its cells: values or formulas, read by a capped process."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from openpyxl.formula.translate import Translator

from sat_retriever.area import MAX_COLUMN, MAX_ROW, Area, area_of, column_letters, split_ref
from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.types import Formula, Skipped
from sat_retriever.workbook.ask import ask
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.pool import borrowed_slot
from sat_retriever.workbook.read import DEFAULT_LIMITS, request_for
from sat_retriever.workbook.request import Window

MAX_CELLS = 20_000  # of one window

_COLUMNS = re.compile(r"([A-Z]{1,3}):([A-Z]{1,3})")
_ROWS = re.compile(r"([1-9][0-9]{0,6}):([1-9][0-9]{0,6})")

CellValue = str | int | float | bool | None
Rows = tuple[tuple[CellValue, ...], ...]


@dataclass(frozen=True, slots=True)
class CellWindow:
    """Some cells of a sheet.

    Attributes:
        range: A1 range of the rows here: what was asked for, as far as the sheet is used and
            `MAX_CELLS` allow. Empty if none of it is used.
        rows: The cells, row by row, all of one length. Dates and times are ISO text; a formula
            stands as text with its "=" where formulas were asked for.
        used: The sheet's used range.
        complete: Whether these are all used cells that were asked for.
    """

    range: str
    rows: Rows
    used: str
    complete: bool


def read_range(
    path: str | os.PathLike[str],
    sheet: str,
    wanted: Area,
    *,
    formulas: bool = False,
    password: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> CellWindow:
    """Cells of a sheet, at most `MAX_CELLS` of them: whole rows from the top.

    No formula is worked out: values are those that the file keeps.

    Args:
        path: The workbook.
        sheet: Name of the sheet; that of a csv is its file name without suffix.
        wanted: The cells.
        formulas: Formulas in place of the values they gave, where the file has them.
        password: Opens an encrypted workbook.
        limits: Bounds on size, memory and time.

    Raises:
        PathNotFoundError: If there is no such file.
        InputError: If the file, or the sheet in it, cannot be read.
    """
    path = Path(path)
    if not os.path.lexists(path):
        raise PathNotFoundError(f"there is no file at {str(path)!r} any more; index it again")
    request = request_for(path, None, limits)
    window = Window(sheet, wanted)
    request = replace(
        request, window=window, examples=False, links=False, formulas=formulas, password=password
    )
    with borrowed_slot() as slot:
        answers = ask(request, slot)
    cells = answers.of("cells")
    if not cells:
        raise InputError(_why_not(path, sheet, answers.of("skipped")))
    return _window(cells[0], answers.of("formulas"), wanted)


def parse_range(text: str) -> Area:
    """The cells of an A1 range, of a cell, of whole columns or of whole rows.

    >>> parse_range("b2:A1"), parse_range("$C$3")
    (Area(top=1, left=1, bottom=2, right=2), Area(top=3, left=3, bottom=3, right=3))
    >>> parse_range("B:B"), parse_range("4:5")
    (Area(top=1, left=2, bottom=1048576, right=2), Area(top=4, left=1, bottom=5, right=16384))

    Raises:
        InputError: If it is none.
    """
    plain = text.strip().upper().replace("$", "")
    if match := _COLUMNS.fullmatch(plain):
        plain = f"{match[1]}1:{match[2]}{MAX_ROW}"
    elif match := _ROWS.fullmatch(plain):
        plain = f"A{match[1]}:{column_letters(MAX_COLUMN)}{match[2]}"
    area = area_of(plain)
    if area is None:
        raise InputError(f"{text!r} is no range of cells; write one such as A1:D20")
    return area


def _why_not(path: Path, sheet: str, skipped: Sequence[Skipped]) -> str:
    said = [skip.message for skip in skipped if skip.sheet in (None, sheet)]
    why = said[0] if said else f"it has no sheet {sheet!r} with a value; index it again"
    return f"the cells of {path.name!r} cannot be read: {why}"


def _window(cells: Mapping[str, Any], formulas: Sequence[Formula], wanted: Area) -> CellWindow:
    """The window of what a reading process told."""
    rows: list[list[CellValue]] = cells["rows"]
    top, left, used = cells["top"], cells["left"], area_of(cells["used"])
    width = len(rows[0]) if rows else 0
    kept = rows[: max(1, MAX_CELLS // width)] if width else []
    if not kept or used is None:
        return CellWindow("", (), cells["used"], complete=True)
    place = Area(top, left, top + len(kept) - 1, left + width - 1)
    for address, text in _texts(formulas, place):
        row, col = address
        kept[row - top][col - left] = text
    return CellWindow(
        place.a1(),
        tuple(tuple(row) for row in kept),
        cells["used"],
        complete=len(kept) == len(rows) and not cells["cut"],
    )


def _texts(formulas: Sequence[Formula], place: Area) -> list[tuple[tuple[int, int], str]]:
    """Formulas of the cells of a place, as they stand in each cell."""
    found = []
    for formula in formulas:
        origin = split_ref(formula.cell)
        if origin is None:
            continue
        if formula.kind != "shared" or formula.range is None:
            found += [(origin, f"={formula.text}")] if _holds(place, *origin) else []
            continue
        area = area_of(formula.range)
        shared = Translator(f"={formula.text}", origin=formula.cell)
        for row, col in _cells(area, place) if area else ():
            text = shared.translate_formula(f"{column_letters(col)}{row}")
            found.append(((row, col), text))
    return found


def _cells(area: Area, place: Area) -> list[tuple[int, int]]:
    """Cells that two rectangles share, (row, column)."""
    rows = range(max(area.top, place.top), min(area.bottom, place.bottom) + 1)
    cols = range(max(area.left, place.left), min(area.right, place.right) + 1)
    return [(row, col) for row in rows for col in cols]


def _holds(area: Area, row: int, col: int) -> bool:
    return area.top <= row <= area.bottom and area.left <= col <= area.right
