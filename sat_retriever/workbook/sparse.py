"""Cell values of a sheet row by row, by openpyxl: slow, but never larger than its cells.

It takes the sheets that are too sparse for a dense block, and the files that calamine
refuses.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, BinaryIO

from sat_retriever.types import SkipReason, Visibility
from sat_retriever.workbook.budget import Budget
from sat_retriever.workbook.grid import CellError, Value
from sat_retriever.workbook.values import (
    MISSING,
    SheetName,
    SheetValues,
    Texts,
    ValuesFailed,
    bounded,
    sheet_indices,
)

_SLOWER = 5  # than calamine, at least: a cell counts as many
_LEAST = 20_000  # cells of a sheet that are read however little the budget has left
_GAPS = 16  # empty rows that count as a cell
_ROWS = 1_000  # between two looks at the clock
_STATES = {"hidden": Visibility.HIDDEN, "veryHidden": Visibility.VERY_HIDDEN}


class OpenpyxlReader:
    """One opened xlsx, xlsm or xltx."""

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook
        self._sheets = list(workbook)
        self.indices = sheet_indices(self.sheets())

    @classmethod
    def open(cls, file: BinaryIO) -> OpenpyxlReader:
        """The opened workbook: streamed, or loaded where streaming fails.

        Raises:
            ValuesFailed: If openpyxl cannot open it.
        """
        import openpyxl

        failure: Exception | None = None
        for read_only in (True, False):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    file.seek(0)
                    book = openpyxl.load_workbook(file, read_only=read_only, data_only=True)
                    return cls(book)
            except MemoryError:
                raise
            except Exception as error:  # noqa: BLE001 - openpyxl's errors have no common class
                failure = error
        raise ValuesFailed.because(failure) from failure

    def sheets(self) -> list[SheetName]:
        """The sheets in tab order."""
        worksheets = {id(sheet) for sheet in self._workbook.worksheets}
        return [
            SheetName(
                sheet.title,
                _STATES.get(sheet.sheet_state, Visibility.VISIBLE),
                "" if id(sheet) in worksheets else "chart sheet",
            )
            for sheet in self._sheets
        ]

    def values(self, index: int, budget: Budget) -> SheetValues:
        """Values of one sheet, without merges; ends where the budget does, or at damage.

        Each cell counts as five.

        Raises:
            ValuesFailed: If not one row can be read.
        """
        sheet = self._sheets[index]
        rows: list[list[Value]] = []
        left = min(budget.limits.cells, max(_LEAST, budget.cells)) // _SLOWER
        held = 0
        cut: SkipReason | None = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for number, row in enumerate(_rows(sheet), start=1):
                    held += len(row) + (number % _GAPS == 0)
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
        return SheetValues(grid, area, cut=cut)


def _rows(sheet: Any) -> Iterator[list[Value]]:
    """The sheet's rows from row 1 on, without trailing empty cells."""
    texts = Texts()
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()
        for cells in sheet.iter_rows():
            yield _row(cells, texts)
        return
    last = 0
    for number, places in groupby(sorted(sheet._cells), key=_row_number):
        yield from (MISSING for _ in range(last + 1, number))
        last = number
        columns = {col: sheet._cells[row, col] for row, col in places}
        yield _row([columns.get(col) for col in range(1, max(columns) + 1)], texts)


def _row_number(place: tuple[int, int]) -> int:
    return place[0]


def _row(cells: Sequence[Any], texts: Texts) -> list[Value]:
    row: list[Value] = []
    for cell in cells:
        value = cell.value if cell is not None else None
        if isinstance(value, str):
            value = CellError(value) if cell.data_type == "e" else texts[value]
        row.append(value)
    while row and row[-1] is None:
        row.pop()
    return row
