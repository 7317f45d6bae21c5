"""Reading of a sheet's values as one dense block, by python-calamine.

It is fast but needs memory for the whole used range, so it must not read a sheet with a few
cells far apart. Its panics are `BaseException`s but not `Exception`s; each becomes a
`ValuesFailed`. A failed allocation aborts the process, which the worker's parent handles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from sat_retriever.records.area import Area
from sat_retriever.records.sheets import SkipReason, Visibility
from sat_retriever.workbook.limits import Budget, Refused
from sat_retriever.workbook.opening.encryption import ENCRYPTED
from sat_retriever.workbook.values.grid import Grid, Value
from sat_retriever.workbook.values.read import (
    ListedSheet,
    SheetValues,
    Texts,
    ValuesFailed,
    bounded,
    sheet_indices,
)

_VISIBLE = {"Hidden": Visibility.HIDDEN, "VeryHidden": Visibility.VERY_HIDDEN}
_OTHER = {
    "ChartSheet": "chart sheet",
    "DialogSheet": "dialog sheet",
    "Vba": "module sheet",
}


class CalamineReader:
    """One opened workbook of any format except text."""

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook
        self._loaded: dict[int, Any] = {}
        self.indices = sheet_indices(self.sheets())

    @classmethod
    def open(cls, source: Path | BinaryIO) -> CalamineReader:
        """Open a workbook.

        Raises:
            Refused: If the file is encrypted.
            ValuesFailed: If calamine cannot open it.
        """
        import python_calamine

        try:
            return cls(python_calamine.load_workbook(source))
        except python_calamine.PasswordError as error:
            raise Refused(SkipReason.ENCRYPTED, ENCRYPTED) from error
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            raise ValuesFailed.because(error) from error

    def sheets(self) -> list[ListedSheet]:
        """The sheets in tab order."""
        return [
            ListedSheet(
                meta.name,
                _VISIBLE.get(str(meta.visible).rpartition(".")[2], Visibility.VISIBLE),
                _OTHER.get(str(meta.typ).rpartition(".")[2], ""),
            )
            for meta in self._workbook.sheets_metadata
        ]

    def load(self, index: int) -> None:
        """Parse a sheet for `values` in advance; Python's global lock is free meanwhile.

        Raises:
            ValuesFailed: If calamine cannot read the sheet.
        """
        try:
            self._loaded = {index: self._workbook.get_sheet_by_index(index)}
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            raise ValuesFailed.because(error) from error

    def values(self, index: int, budget: Budget) -> SheetValues:
        """Values and merges of one sheet.

        The budget cuts the grid, but not the used range.

        Raises:
            ValuesFailed: If calamine cannot read the sheet.
        """
        if index not in self._loaded:
            self.load(index)
        try:
            sheet = self._loaded.pop(index)
            start = sheet.start
            if start is None:
                return SheetValues(Grid([]), None)
            width = max(1, sheet.width)
            room = budget.room()
            budget.cells -= width * sheet.height
            # iter_rows begins at the first row of the sheet, but at the used range's column.
            rows = _cleaned(islice(sheet.iter_rows(), start[0], None))
            grid, area = bounded(rows, (start[0] + 1, start[1] + 1), max(1, room // width))
            return SheetValues(grid, area, _merges(sheet.merged_cell_ranges or []))
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            raise ValuesFailed.because(error) from error


def _cleaned(rows: Iterable[list[Any]]) -> Iterator[list[Value]]:
    texts = Texts()
    for row in rows:
        yield [texts[value] if type(value) is str else value for value in row]


def _merges(ranges: Iterable[tuple[tuple[int, int], tuple[int, int]]]) -> tuple[Area, ...]:
    return tuple(Area(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1) for start, end in ranges)
