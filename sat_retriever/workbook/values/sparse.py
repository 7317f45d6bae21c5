"""Reading of a sheet's values row by row, by openpyxl: slow, but memory grows only with cells.

It reads sheets that are too sparse for a dense block, and files that calamine cannot read.
openpyxl itself gives up a sheet at the first cell whose text is not in the workbook's table of
shared strings, and the workbook if that table is missing or cut off. Here a bad cell or text loses
only itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, BinaryIO

from openpyxl.cell.text import Text
from openpyxl.reader.excel import ExcelReader
from openpyxl.worksheet._reader import WorkSheetParser
from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
from openpyxl.xml.functions import iterparse

from sat_retriever.records.sheets import SkipReason, Visibility
from sat_retriever.workbook.limits import Budget
from sat_retriever.workbook.opening.package import ZIP_ERRORS
from sat_retriever.workbook.values.grid import CellError, Value
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
_TEXT = f"{{{SHEET_MAIN_NS}}}si"
_LAST_ROW = 1 << 20
_HEAD_BYTES = 65_536  # declarations precede the first element
_UNREADABLE: tuple[type[Exception], ...] = (*ZIP_ERRORS, SyntaxError)  # the latter for bad XML


class OpenpyxlReader:
    """One opened xlsx, xlsm or xltx."""

    def __init__(self, workbook: Any) -> None:
        self._workbook = workbook
        self._sheets = list(workbook)
        self.indices = sheet_indices(self.sheets())

    @classmethod
    def open(cls, file: BinaryIO) -> OpenpyxlReader:
        """Open a workbook: streamed, or loaded if streaming fails."""
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

        A cell counts as five of the cells that a workbook may have. One that cannot be read is left
        empty and counted.
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
    for number, places in groupby(sorted(sheet._cells), key=itemgetter(0)):
        cells = ((col, sheet._cells[row, col]) for row, col in places)
        yield number, {col: (cell.value, cell.data_type) for col, cell in cells}


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


def lenient_workbook(file: BinaryIO, *, read_only: bool) -> Any:
    """Open a workbook with its computed values."""
    reader = _Reader(file, read_only=read_only, data_only=True)
    reader.read()
    return reader.wb


class StreamedSheet(WorkSheetParser):  # type: ignore[misc]
    """Rows of a sheet in a workbook opened read-only; `lost` counts cells that cannot be read."""

    def __init__(self, sheet: Any) -> None:
        book = sheet.parent
        super().__init__(
            sheet._get_source(), sheet._shared_strings, data_only=True, epoch=book.epoch,
            date_formats=book._date_formats, timedelta_formats=book._timedelta_formats,
        )  # fmt: skip
        self.lost = 0

    def rows(self) -> Iterator[tuple[int, dict[int, tuple[Any, str]]]]:
        """Yield (row, (value, type) by column) for each row in ascending order, both 1-based."""
        last = 0
        with self.source:
            for number, cells in self.parse():
                if last < number <= _LAST_ROW:
                    last = number
                    held = (cell for cell in cells if cell["value"] is not None)
                    yield number, {c["column"]: (c["value"], c["data_type"]) for c in held}

    def parse_cell(self, element: Any) -> dict[str, Any]:
        """A cell as openpyxl reads it; an unreadable cell is empty and counted in `lost`."""
        try:
            cell: dict[str, Any] = super().parse_cell(element)
        except (ValueError, IndexError, TypeError, OverflowError):
            self.lost += 1
            return {"value": None}
        return cell


class _Reader(ExcelReader):  # type: ignore[misc]
    """A reader that keeps the readable part of the shared strings."""

    def read_strings(self) -> None:
        self.shared_strings = _Texts()
        part = self.package.find(SHARED_STRINGS)
        if part is None:
            return
        try:
            with self.archive.open(part.PartName[1:]) as source:
                self.shared_strings.extend(_texts(source))
        except _UNREADABLE:
            return


class _EntitiesError(Exception):
    """The table of shared strings declares entities, as XML bombs do."""


class _Texts(list[str]):
    """A table of texts that does not accept negative indices."""

    def __getitem__(self, index: Any) -> Any:
        if index < 0:
            raise IndexError(index)
        return super().__getitem__(index)


def _texts(source: BinaryIO) -> Iterator[str]:
    if b"<!ENTITY" in source.read(_HEAD_BYTES):
        raise _EntitiesError
    source.seek(0)
    for _event, node in iterparse(source):
        if node.tag == _TEXT:
            text: str = Text.from_tree(node).content
            node.clear()
            yield text.replace("x005F_", "")
