"""The cells in a window of a sheet, as plain JSON values."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sat_retriever.records.area import Area, Place
from sat_retriever.records.jsonform import Json
from sat_retriever.workbook.messages import MAX_CELLS
from sat_retriever.workbook.values.grid import Grid, Value
from sat_retriever.workbook.values.read import MAX_TEXT
from sat_retriever.workbook.values.shown import shown_text

_WHOLE = 1e15  # floats below this without a fraction are whole numbers


def cells_to_json(
    grid: Grid, wanted: Area, used: Area, *, cut: bool, most: int = MAX_CELLS
) -> Json:
    """The wanted cells of a sheet inside its used range, at most `most`, but one row in any case.

    Dates and times become ISO text, errors such as `#DIV/0!` their own text, and durations text in
    Python's format. A cell of a delimited file is the text that stands there where its value looks
    otherwise; row, column and value of such a cell are among those "meant". Cells after the end of
    a grid that is `cut` are not returned.

    >>> grid = Grid([["a", 1.0], [None]], first_row=2)
    >>> cells_to_json(grid, Area(1, 1, 9, 9), Area(2, 1, 3, 2), cut=False)["rows"]
    [['a', 1], [None, None]]
    """
    top, left = max(wanted.top, used.top), max(wanted.left, used.left)
    bottom, right = min(wanted.bottom, used.bottom), min(wanted.right, used.right)
    if cut:
        bottom = min(bottom, grid.first_row + len(grid.rows) - 1)
    height = max(1, most // max(1, right - left + 1))
    more = bottom - top + 1 > height
    bottom = min(bottom, top + height - 1)
    rows, meant = [], []
    for row in range(top, bottom + 1):
        at = row - grid.first_row
        held = grid.rows[at] if 0 <= at < len(grid.rows) else []
        places = range(left - grid.first_col, right + 1 - grid.first_col)
        values = [plain_value(held[p]) if 0 <= p < len(held) else None for p in places]
        for place, text in enumerate(written(grid, at, places)):
            if text is not None:
                meant.append([row, left + place, values[place]])
                values[place] = text
        rows.append(values)
    found = {"top": top, "left": left, "rows": rows, "used": used.a1(), "cut": cut, "more": more}
    return {**found, "meant": meant} if meant else found


def written(grid: Grid, line: int, places: Iterable[int]) -> list[str | None]:
    """The texts of some cells of a delimited file whose values look otherwise; else None.

    >>> written(Grid([[1.1, 12, "a"]], texts=[["1.10", "12", "a"]]), 0, [0, 1, 2, 3])
    ['1.10', None, None, None]
    """
    if grid.texts is None or not 0 <= line < len(grid.texts):
        return []
    texts, values = grid.texts[line], grid.rows[line]
    return [other_text(texts[p], values[p]) if 0 <= p < len(values) else None for p in places]


def other_text(text: Value, value: Value) -> str | None:
    """The text of a delimited file's field if its value looks otherwise."""
    if not isinstance(text, str) or value is None or isinstance(value, bool):
        return None
    text = text.strip()[:MAX_TEXT]
    shown = value.isoformat(" ") if isinstance(value, dt.datetime) else str(plain_value(value))
    return None if text in (shown, value) else text


def merged_to_json(grid: Grid, merges: Sequence[Area], cells: Json) -> list[list[Any]]:
    """Row, column and last row of cells merged with others below, of which a window shows some.

    The value follows if the cell is above the window. An area counts if its first column is in the
    window. Areas that overlap end above the next, so that all together are no larger than the
    window. Durations are amounts, which do not count for further rows.

    >>> grid = Grid([["a"], [None], ["b"], [None]])
    >>> window = cells_to_json(grid, Area(2, 1, 9, 9), Area(1, 1, 4, 1), cut=False)
    >>> merged_to_json(grid, [Area(1, 1, 2, 1), Area(3, 1, 4, 1)], window)
    [[3, 1, 4], [1, 1, 2, 'a']]
    """
    shown = _area_of(cells)
    if shown is None:
        return []
    found: list[list[Any]] = []
    ends: dict[int, int] = {}  # last free row of each column
    for area in sorted(merges, key=lambda area: (area.top, area.left), reverse=True):
        last = min(area.bottom, ends.get(area.left, shown.bottom))
        below = area.top < last and shown.top <= last
        if not below or not shown.left <= area.left <= shown.right:
            continue
        ends[area.left] = area.top - 1
        value = _value(grid, area.top, area.left)
        if value is not None and not isinstance(value, dt.timedelta):
            above = [plain_value(value)] if area.top < shown.top else []
            found.append([area.top, area.left, last, *above])
    return found


def shown_to_json(grid: Grid, cells: Json, texts: Mapping[Place, str]) -> list[list[Any]]:
    """Row, column and text of the cells in a window that show another text than their value.

    Args:
        texts: What cells show, where the file itself says so; others have format codes.

    >>> from sat_retriever.workbook.values.grid import CellFormats
    >>> from sat_retriever.workbook.values.numberformat import NumberFormat
    >>> formats = CellFormats([NumberFormat(code="0%")], room=1)
    >>> formats.add(1, 2, 1)
    >>> grid = Grid([["Margin", 0.19]], formats=formats)
    >>> window = cells_to_json(grid, Area(1, 1, 1, 2), Area(1, 1, 1, 2), cut=False)
    >>> shown_to_json(grid, window, {}), shown_to_json(grid, window, {(1, 2): "19 %"})
    ([[1, 2, '19%']], [[1, 2, '19 %']])
    """
    area = _area_of(cells)
    if area is None:
        return []
    return [
        [row, column, text]
        for (row, column), text in (texts or _texts_of(grid, area)).items()
        if area.holds(row, column)
        and text != str(cells["rows"][row - area.top][column - area.left])
    ]


def _area_of(cells: Json) -> Area | None:
    """The cells of a window; None without any."""
    rows, top, left = cells["rows"], cells["top"], cells["left"]
    if not rows or not rows[0]:
        return None
    return Area(top, left, top + len(rows) - 1, left + len(rows[0]) - 1)


def _texts_of(grid: Grid, area: Area) -> dict[Place, str]:
    """The texts of the cells of an area by their format codes."""
    formats = grid.formats
    codes = formats.within((area.top, area.left), (len(area.rows), len(area.columns)))
    if codes is None:
        return {}
    found = {}
    for down, right in np.argwhere(codes).tolist():
        row, column = area.top + down, area.left + right
        text = shown_text(_value(grid, row, column), formats.shown[codes[down, right]].code)
        if text is not None:
            found[row, column] = text
    return found


def _value(grid: Grid, row: int, col: int) -> Value:
    down, right = row - grid.first_row, col - grid.first_col
    held = grid.rows[down] if 0 <= down < len(grid.rows) else []
    return held[right] if 0 <= right < len(held) else None


def plain_value(value: Value) -> str | int | float | bool | None:
    """A cell's value as a JSON value."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        return int(value) if value.is_integer() and abs(value) < _WHOLE else value
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    return str(value)
