"""Cells of a sheet, read in large blocks and cached for a while.

To read any part of a workbook, the whole of it has to be opened. A block holds the rows around
those that are asked for, so that a reader who scrolls does not open it again for each piece.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sat_retriever.index.index import SheetIndex
from sat_retriever.records.area import Area, Place, area_of
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.stages import Cache, looked_up
from sat_retriever.tools.context import merged_labels, read_sheet
from sat_retriever.workbook.window import CellValue, CellWindow, Merged

BLOCK_ROWS, BLOCK_COLUMNS = 500, 40  # at most as many cells as one reading returns
_KEPT = 24

_Key = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Cells:
    """Some cells of a sheet.

    Attributes:
        area: Where they are: what was asked for, cut to the used range; None if nothing is left.
        used: The sheet's used range; None if unknown.
        shown: Texts of cells that show another text than their value.
    """

    area: Area | None
    rows: tuple[tuple[CellValue, ...], ...]
    used: Area | None
    cut: bool
    labels: Mapping[Place, Merged] = field(default_factory=dict)
    shown: Mapping[Place, str] = field(default_factory=dict)


class BlockReader:
    """Reads cells of indexed workbooks; safe to share between threads."""

    def __init__(self, index: SheetIndex) -> None:
        self._index = index
        self._kept: OrderedDict[_Key, CellWindow] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, record: SheetRecord, wanted: Area) -> Cells:
        """Return the cells of an area, which lies in few blocks."""
        file, _within = self._index.bounded_file_of(record.sheet_id)
        windows = [
            self._window(record, file, top, left)
            for top in range(_start(wanted.top, BLOCK_ROWS), wanted.bottom + 1, BLOCK_ROWS)
            for left in range(_start(wanted.left, BLOCK_COLUMNS), wanted.right + 1, BLOCK_COLUMNS)
        ]
        used = area_of(windows[0].used)
        area = _common(wanted, used)
        cut = any(each.cut for each in windows)
        labels = {
            place: label for each in windows for place, label in merged_labels(record, each).items()
        }
        shown = {place: text for each in windows for place, text in each.shown.items()}
        return Cells(area, _rows(windows, area) if area else (), used, cut, labels, shown)

    def _window(self, record: SheetRecord, file: Path, top: int, left: int) -> CellWindow:
        """Return one block, from memory if the file has not changed since."""
        try:
            state = file.stat()
            key = (record.sheet_id, state.st_mtime_ns, state.st_size, top, left)
        except OSError:  # told in words by the reading
            key = (record.sheet_id, 0, 0, top, left)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
        looked_up(Cache.CELLS, found=kept is not None)
        if kept is not None:
            return kept
        area = Area(top, left, top + BLOCK_ROWS - 1, left + BLOCK_COLUMNS - 1)
        found = read_sheet(self._index.bounded_file_of(record.sheet_id), record, area, shown=True)
        with self._lock:
            self._kept[key] = found
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return found


def _start(place: int, size: int) -> int:
    return (place - 1) // size * size + 1


def _common(one: Area, other: Area | None) -> Area | None:
    if other is None:
        return None
    top, left = max(one.top, other.top), max(one.left, other.left)
    bottom, right = min(one.bottom, other.bottom), min(one.right, other.right)
    return Area(top, left, bottom, right) if top <= bottom and left <= right else None


def _rows(windows: list[CellWindow], area: Area) -> tuple[tuple[CellValue, ...], ...]:
    width = area.right - area.left + 1
    rows: list[list[CellValue]] = [[None] * width for _ in range(area.bottom - area.top + 1)]
    for window in windows:
        place = area_of(window.range)
        for down, cells in enumerate(window.rows, start=place.top if place else 0):
            if place and area.top <= down <= area.bottom:
                for right, value in enumerate(cells, start=place.left):
                    if area.left <= right <= area.right:
                        rows[down - area.top][right - area.left] = value
    return tuple(map(tuple, rows))
