"""Reading of a sheet's values row by row, by openpyxl: slow, but memory grows only with cells.

It reads sheets that are too sparse for a dense block, and files that calamine cannot read.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, BinaryIO

from sat_retriever.records.sheets import SkipReason, Visibility
from sat_retriever.workbook.budget import Budget
from sat_retriever.workbook.values.grid import CellError, Value
from sat_retriever.workbook.values.lenient import StreamedSheet, lenient_workbook
from sat_retriever.workbook.values.read import (
    MISSING,
    ListedSheet,
    SheetValues,
    Texts,
    ValuesFailed,
    bounded,
    sheet_indices,
)

_SLOWER = 5  # at least this many times slower than calamine: a cell counts as many
_GAPS = 16  # empty rows that count as a cell
_ROWS = 1_000  # rows between two checks of the clock
Cells = Mapping[int, tuple[Any, str]]  # value and type by column
Row = tuple[int, Cells]
_STATES = {"hidden": Visibility.HIDDEN, "veryHidden": Visibility.VERY_HIDDEN}


class OpenpyxlReader:
    """One opened xlsx, xlsm or xltx."""

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook
        self._sheets = list(workbook)
        self.indices = sheet_indices(self.sheets())

    @classmethod
    def open(cls, file: BinaryIO) -> OpenpyxlReader:
        """Open a workbook: streamed, or loaded if streaming fails.

        Raises:
            ValuesFailed: If openpyxl cannot open it.
        """
        failure: Exception | None = None
        for read_only in (True, False):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    file.seek(0)
                    return cls(lenient_workbook(file, read_only=read_only))
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001 - openpyxl's errors have no common class
                failure = error
        raise ValuesFailed.because(failure) from failure

    def sheets(self) -> list[ListedSheet]:
        """The sheets in tab order."""
        worksheets = {id(sheet) for sheet in self._workbook.worksheets}
        return [
            ListedSheet(
                sheet.title,
                _STATES.get(sheet.sheet_state, Visibility.VISIBLE),
                "" if id(sheet) in worksheets else "chart sheet",
            )
            for sheet in self._sheets
        ]

    def values(self, index: int, budget: Budget) -> SheetValues:
        """Values of one sheet, without merges, up to the budget's end or to damage.

        A cell counts as five of the cells that a workbook may have.

        A single cell that cannot be read is left empty and counted.

        Raises:
            ValuesFailed: If no row can be read.
        """
        sheet = self._sheets[index]
        streamed = StreamedSheet(sheet) if hasattr(sheet, "reset_dimensions") else None
        rows: list[list[Value]] = []
        left = budget.room(_SLOWER)
        held = 0
        cut: SkipReason | None = None
        placed = streamed.rows() if streamed else _loaded(sheet)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for number, row in enumerate(_rows(placed), start=1):
                    held += len(row) or number % _GAPS == 0
                    if held > left:
                        cut = SkipReason.TOO_LARGE
                        break
                    if number % _ROWS == 0 and budget.late():
                        cut = SkipReason.TIMEOUT
                        break
                    rows.append(row or MISSING)
        except MemoryError:
            raise
        except Exception as error:
            cut = SkipReason.DAMAGED
            if not any(rows):
                raise ValuesFailed.because(error) from error
        finally:
            budget.cells -= _SLOWER * held
        grid, area = bounded(iter(rows), (1, 1), len(rows))
        return SheetValues(grid, area, cut=cut, lost=streamed.lost if streamed else 0)


def _loaded(sheet: Any) -> Iterator[Row]:
    for number, places in groupby(sorted(sheet._cells), key=_row_number):
        cells = ((col, sheet._cells[row, col]) for row, col in places)
        yield number, {col: (cell.value, cell.data_type) for col, cell in cells}


def _row_number(place: tuple[int, int]) -> int:
    return place[0]


def _rows(placed: Iterable[Row]) -> Iterator[list[Value]]:
    """Yield the sheet's rows from row 1 on, without trailing empty cells."""
    texts = Texts()
    last = 0
    for number, cells in placed:
        yield from (MISSING for _ in range(last + 1, number))
        last = number
        yield _row(cells, texts)


def _row(cells: Cells, texts: Texts) -> list[Value]:
    row: list[Value] = [None] * max(cells, default=0)
    for col, (value, kind) in cells.items():
        if isinstance(value, str):
            value = CellError(value) if kind == "e" else texts[value]  # noqa: PLW2901
        row[col - 1] = value
    while row and row[-1] is None:
        row.pop()
    return row
