"""Cells laid out as a table, with headers, matched cells and words of the question marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from sat_retriever.records.area import Area, Place, area_of, column_letters
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.serve.blocks import Cells
from sat_retriever.text.lexical import query_words
from sat_retriever.text.segment import stems
from sat_retriever.tools.cells import cell_text
from sat_retriever.tools.context import header_above, reasons_of
from sat_retriever.workbook.window import CellValue

_LONG = 30  # characters
_ROOM = 10  # characters that a column has room for, nearly always
PREVIEW_ROWS, _FIRST = 8, 3  # rows of a preview; of these at the top, if it goes on further down

Segment = tuple[str, bool]
"""A part of a text, and True if it is to be marked."""
Mark = Callable[[str], list[Segment]]
_WORD = re.compile(r"[^\W_]+")
_QUESTION = 4_000  # characters that are read


@dataclass(frozen=True, slots=True)
class GridCell:
    """One cell.

    Attributes:
        numeric: True for a number, which is shown at the right.
        long: True for a text that needs a wide column.
        asked: True if it is the one to go to.
        value: Its value, if it shows another text.
        of: Address of the cell above that its text stands in, if it is merged with that.
    """

    parts: list[Segment]
    numeric: bool = False
    header: bool = False
    matched: bool = False
    long: bool = False
    of: str = ""
    asked: bool = False
    value: str = ""


@dataclass(frozen=True, slots=True)
class GridRow:
    """One row.

    Attributes:
        heads: True if it is the last row of a header, which stays in sight.
        above: True if it is above all tables, as a title is.
        out: Why it is no record, or may be none; empty for records and rows of no table.
    """

    number: int
    cells: tuple[GridCell, ...]
    matched: bool = False
    heads: bool = False
    out: str = ""
    above: bool = False

    @property
    def alone(self) -> int | None:
        """The place of its only cell that is not empty, if that is a text, such as a title.

        None in the last column: it spans no other one, and would have no width of its own.
        """
        there = [at for at, each in enumerate(self.cells) if each.parts]
        spans = len(there) == 1 and there[0] < len(self.cells) - 1
        return there[0] if spans and not self.cells[there[0]].numeric else None

    @property
    def title(self) -> int | None:
        """The place of a title above all tables that is shown across the empty cells beside it."""
        at = self.alone if self.above else None
        if at is None:
            return None
        room = _ROOM * (len(self.cells) - at)
        return at if sum(len(text) for text, _marked in self.cells[at].parts) <= room else None


@dataclass(frozen=True, slots=True)
class Grid:
    """Some rows of a sheet; `above` has number and names of a header further up, if any."""

    letters: tuple[str, ...]
    rows: tuple[GridRow, ...]
    above: tuple[int, tuple[str, ...]] | None = None


def grid_of(
    record: SheetRecord,
    cells: Cells,
    matched: Sequence[Place] = (),
    mark: Mark | None = None,
    asked: Place | None = None,
) -> Grid:
    """Lay out cells of a sheet.

    Args:
        matched: Row and column of the cells that match the question.
        mark: Marks words in the other cells; None marks nothing there.
        asked: Row and column of the cell to go to.
    """
    if cells.area is None:
        return Grid((), ())
    area, places = cells.area, frozenset(matched)
    headers = header_areas(record)
    last = {each.bottom for each in headers if each.right > each.left}
    first = min((each.top for each in headers), default=0)
    out = reasons_of(record, area)
    rows = []
    for number, values in enumerate(cells.rows, start=area.top):
        shown = []
        for place in ((number, column) for column in range(area.left, area.left + len(values))):
            label = cells.labels.get(place)
            value = label.value if label else values[place[1] - area.left]
            text = cells.shown.get((label.row, label.column) if label else place)
            cell = _cell(value, text, place, headers, places, mark)
            shown.append(replace(cell, of=label.cell if label else "", asked=place == asked))
        hit = any(each.matched for each in shown)
        said = out.get(number, "")
        rows.append(GridRow(number, tuple(shown), hit, number in last, said, number < first))
    letters = tuple(column_letters(each) for each in range(area.left, area.right + 1))
    above = header_above(record, area)
    names = (above[0], tuple(map(cell_text, above[1]))) if above else None
    return Grid(letters, tuple(rows), names)


def preview_rows(record: SheetRecord, area: Area, matched: Sequence[Place]) -> list[int]:
    """Return the rows that are shown of a hit: the sheet from its top, and what answers.

    If that is further down, the first rows are followed by the header of its table and by the rows
    around the first match.

    Args:
        area: The rows that answer.
        matched: Row and column of the cells that match, best first.
    """
    used = area_of(record.range or "") or area
    goal = next((row for row, column in matched if area.holds(row, column)), area.top)
    if goal < used.top + PREVIEW_ROWS:
        wanted = {*range(used.top, used.top + PREVIEW_ROWS)}
    else:
        wanted = {*range(used.top, used.top + _FIRST), *range(goal - 1, goal + 3)}
        header = header_of(record, area)
        if header is not None:
            wanted.add(header.bottom)
    last = max(used.bottom, area.bottom)
    return sorted(row for row in wanted if used.top <= row <= last)


def header_of(record: SheetRecord, area: Area) -> Area | None:
    """Return the last header that begins no lower than some cells and names their first column."""
    above = [
        each
        for each in header_areas(record)
        if each.top <= area.top and each.left <= area.left <= each.right
    ]
    return max(above, key=lambda each: each.top, default=None)


def narrowed(grid: Grid, most: int) -> Grid:
    """Return a table with the columns that tell most: the first, those that match, then others."""
    if len(grid.letters) <= most:
        return grid
    telling = [
        at
        for at in range(len(grid.letters))
        if any(
            row.cells[at].matched
            or (row.cells[at].header and any(marked for _, marked in row.cells[at].parts))
            for row in grid.rows
        )
    ]
    kept = sorted([*dict.fromkeys([0, *telling, *range(len(grid.letters))])][:most])
    rows = tuple(replace(row, cells=tuple(row.cells[at] for at in kept)) for row in grid.rows)
    return Grid(tuple(grid.letters[at] for at in kept), rows)


def header_areas(record: SheetRecord) -> list[Area]:
    """Return the places of all headers: rows, or columns of transposed tables."""
    found = []
    for table in record.tables:
        place = area_of(table.range)
        if place is None:
            continue
        if table.transposed:
            found.append(Area(place.top, place.left, place.bottom, place.left))
        elif table.header_row is not None:
            last = table.header_row + max(table.header_height, 1) - 1
            found.append(Area(table.header_row, place.left, last, place.right))
    return found


def _cell(
    value: CellValue,
    shown: str | None,
    place: Place,
    headers: Sequence[Area],
    matched: frozenset[Place],
    mark: Mark | None,
) -> GridCell:
    plain = cell_text(value)
    text = cell_text(shown) if shown else plain
    hit = place in matched and bool(text)
    parts = ([(text, hit)] if hit or mark is None else mark(text)) if text else []
    number = isinstance(value, int | float) and not isinstance(value, bool)
    header = any(each.holds(*place) for each in headers)
    other = plain if text != plain else ""
    return GridCell(parts, number, header, hit, len(text) > _LONG, value=other)


class Marker:
    """Marks the words of one question in texts, in any of their forms."""

    def __init__(self, question: str) -> None:
        self._wanted = frozenset(query_words(question[:_QUESTION]))

    def __call__(self, text: str) -> list[Segment]:
        """Split a text into its marked parts and the others.

        >>> Marker("sales in the south")("Sales South 2024")
        [('Sales', True), (' ', False), ('South', True), (' 2024', False)]
        """
        parts: list[Segment] = []
        end = 0
        for word in _WORD.finditer(text):
            if not self._wanted.isdisjoint(stems(word[0])):
                parts += [(text[end : word.start()], False), (word[0], True)]
                end = word.end()
        parts.append((text[end:], False))
        return [part for part in parts if part[0]]


def joined(names: Iterable[str], most: int) -> str:
    """Return names in a list that is cut after some, and says how many more there are.

    >>> joined(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    listed = list(names)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more
