"""Reading of a range of cells: values or formulas, by a process with limits."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.records.area import (
    MAX_COLUMN,
    MAX_ROW,
    Area,
    Place,
    area_of,
    column_letters,
    split_ref,
)
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.privacy import Privacy
from sat_retriever.records.sheets import Formula, Skipped
from sat_retriever.stages import Stage, stage
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.messages import MAX_CELLS, Window
from sat_retriever.workbook.process.ask import Answers, ask
from sat_retriever.workbook.process.pool import borrowed_slot
from sat_retriever.workbook.read import LocalFile, ReadOptions

_COLUMNS = re.compile(r"([A-Z]{1,3}):([A-Z]{1,3})")
_ROWS = re.compile(r"([1-9][0-9]{0,6}):([1-9][0-9]{0,6})")

# Limits for reading one range, for which a user waits.
WINDOW_LIMITS = Limits(seconds=25.0, wall_seconds=120.0)

CellValue = str | int | float | bool | None
Rows = tuple[tuple[CellValue, ...], ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """A cell that is merged with others below it, and its value."""

    row: int
    column: int
    last_row: int
    value: CellValue

    @property
    def cell(self) -> str:
        """Its address."""
        return f"{column_letters(self.column)}{self.row}"


@dataclass(frozen=True, slots=True)
class CellWindow:
    """Some cells of a sheet."""

    # A1 range of the returned rows: the requested range, cut to the used range and to the most
    # cells. Empty if no cell is left.
    range: str
    # The cells, row by row, all rows of one length. Dates and times are ISO text, durations are in
    # Python's format. Requested formulas are text with a leading "=". A cell of a delimited file is
    # as the file writes it: `1.10`, `1.234,50`.
    rows: Rows
    used: str
    complete: bool  # True if these are all requested cells that are used
    cut: bool  # True if the sheet was too large to be read to its end
    # Row and column of each returned cell that is empty and has a formula, whose saved value is
    # missing or an empty text. Empty if formulas were requested.
    unsaved: tuple[Place, ...] = ()
    # Cells that are merged with others below them, of which some are returned; they may begin above
    # those. Empty if formulas were requested.
    merged: tuple[Merged, ...] = ()
    # Texts of cells that show another text than their value, by row and column; only if asked for,
    # and only where the file has format codes
    shown: Mapping[Place, str] = field(default_factory=dict)
    # Values of cells that a delimited file writes otherwise, by row and column
    meant: Mapping[Place, CellValue] = field(default_factory=dict)


def read_range(  # noqa: PLR0913 - some cells, where they are, and how many
    path: str | os.PathLike[str],
    sheet: str,
    wanted: Area,
    *,
    formulas: bool = False,
    within: Path | None = None,
    relative: str | None = None,
    encoding: str = "",
    limits: Limits = WINDOW_LIMITS,
    most: int = MAX_CELLS,
    shown: bool = False,
) -> CellWindow:
    """Read at most `most` cells of a sheet: whole rows from the top, at least one.

    Values are those saved in the file: formulas are not computed, but returned with `formulas` if
    the file has them. `shown` asks for the texts that cells show, too. The sheet of a csv is called
    as the file is, without its extension. `within` is the folder that the file must lie in, or the
    file that it must be, after links are resolved; None allows every place. `relative` is the path
    by which sheet ids call the file, if its own name is another, as that of a copy. The encoding is
    that of a delimited file, as its record names it; empty to find it. Raises `PathNotFoundError`
    if there is no such file, `InputError` if the file, or the sheet in it, cannot be read.
    """
    window = Window(sheet, wanted, most=most, shown=shown)
    file = LocalFile(Path(path), within=within, called=relative)
    answers = ask_window(file, window, limits, encoding, formulas=formulas)
    cells = answers.of("cells")
    if not cells:
        raise InputError(why_not(file.relative, sheet, answers.of("skipped")))
    found = _window(cells[0], answers.of("formulas"), answers.of("computed"))
    return replace(found, merged=()) if formulas else found


def parse_range(text: str) -> Area:
    """The area of an A1 range, a cell, whole columns or rows; raises `InputError` for other text.

    >>> parse_range("b2:A1"), parse_range("$C$3")
    (Area(top=1, left=1, bottom=2, right=2), Area(top=3, left=3, bottom=3, right=3))
    >>> parse_range("B:B"), parse_range("4:5")
    (Area(top=1, left=2, bottom=1048576, right=2), Area(top=4, left=1, bottom=5, right=16384))
    """
    plain = text.strip().upper().replace("$", "")
    if match := _COLUMNS.fullmatch(plain):
        plain = f"{match[1]}1:{match[2]}{MAX_ROW}"
    elif match := _ROWS.fullmatch(plain):
        plain = f"A{match[1]}:{column_letters(MAX_COLUMN)}{match[2]}"
    area = area_of(plain)
    if area is None:
        raise InputError(f"{text!r} is not a range of cells; write one such as A1:D20")
    return area


def ask_window(
    file: LocalFile, window: Window, limits: Limits, encoding: str, *, formulas: bool = False
) -> Answers:
    """The answers of a reading process about some cells of a workbook."""
    if not os.path.lexists(file.path):
        raise PathNotFoundError(f"there is no longer a file at {str(file.path)!r}; index it again")
    privacy = Privacy(ContentsPolicy.NAMES)
    options = ReadOptions(privacy, formulas=formulas, links=False, encoding=encoding)
    with stage(Stage.READ), borrowed_slot() as slot:
        return ask(options.request(file, limits, window), slot)


def why_not(relative: str, sheet: str, skipped: Sequence[Skipped]) -> str:
    """The reason why the cells of a sheet were not read."""
    said = [skip.message for skip in skipped if skip.sheet in (None, sheet)]
    why = said[0] if said else f"it has no sheet {sheet!r} with a value; index it again"
    return f"the cells of {relative.rpartition('/')[2]!r} cannot be read: {why}"


def _window(
    cells: Mapping[str, Any], formulas: Sequence[Formula], computed: Sequence[Place]
) -> CellWindow:
    rows: list[list[CellValue]] = cells["rows"]
    top, left, cut = cells["top"], cells["left"], cells["cut"]
    if not rows or not rows[0]:
        return CellWindow("", (), cells["used"], complete=not cut, cut=cut)
    place = Area(top, left, top + len(rows) - 1, left + len(rows[0]) - 1)
    for formula in formulas:
        at = split_ref(formula.cell)
        if at and place.holds(*at):
            rows[at[0] - top][at[1] - left] = f"={formula.text}"
    unsaved = [
        (row, col)
        for row, col in computed
        if place.holds(row, col) and rows[row - top][col - left] is None
    ]
    complete = not (cut or cells["more"])
    return CellWindow(
        place.a1(),
        tuple(map(tuple, rows)),
        cells["used"],
        complete=complete,
        cut=cut,
        unsaved=tuple(unsaved),
        merged=tuple(
            Merged(row, column, last, above[0] if above else rows[row - top][column - left])
            for row, column, last, *above in cells["merged"]
        ),
        shown={(row, column): text for row, column, text in cells.get("shown", ())},
        meant={(row, column): value for row, column, value in cells.get("meant", ())},
    )
