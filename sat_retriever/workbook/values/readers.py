"""The two value readers of a file: calamine's, the choice between them, and the fall back.

calamine reads a sheet as one dense block. It is fast but needs memory for the whole used range, so
it must not read a sheet with a few cells far apart. Its panics are `BaseException`s but not
`Exception`s; each becomes a `ValuesFailed`. A failed allocation aborts the process, which the
worker's parent handles.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from sat_retriever.records.area import Area
from sat_retriever.records.sheets import SkipReason, Visibility
from sat_retriever.workbook.limits import Budget, Refused
from sat_retriever.workbook.opening.encryption import ENCRYPTED
from sat_retriever.workbook.opening.regular import by_descriptor
from sat_retriever.workbook.values.grid import Grid, Value
from sat_retriever.workbook.values.read import (
    ListedSheet,
    SheetValues,
    Texts,
    ValuesFailed,
    bounded,
    sheet_indices,
)
from sat_retriever.workbook.values.sparse import OpenpyxlReader

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
    def open(cls, file: BinaryIO) -> CalamineReader:
        """Open a workbook by its descriptor, since its path may now be another file's.

        calamine gets its own file position, because openpyxl and the XML scan read at the same
        time.
        """
        import python_calamine

        source: Path | BinaryIO | None = by_descriptor(file)
        if source is None:  # in memory, or on a system that has no such paths
            file.seek(0)
            source = io.BytesIO(file.read())
        with _signalled():
            try:
                return cls(python_calamine.load_workbook(source))
            except python_calamine.PasswordError as error:
                raise Refused(SkipReason.ENCRYPTED, ENCRYPTED) from error

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
        """Parse a sheet for `values` in advance; Python's global lock is free meanwhile."""
        with _signalled():
            self._loaded = {index: self._workbook.get_sheet_by_index(index)}

    def values(self, index: int, budget: Budget) -> SheetValues:
        """Values and merges of one sheet; the budget cuts the grid, but not the used range."""
        if index not in self._loaded:
            self.load(index)
        with _signalled():
            sheet = self._loaded.pop(index)
            start = sheet.start
            if start is None:
                return SheetValues(Grid([]), None)
            width = max(1, sheet.width)
            room = budget.room()
            budget.cells -= width * sheet.height
            # iter_rows begins at the first row of the sheet, but at the used range's column.
            rows = _cleaned(islice(sheet.iter_rows(), start[0], None))
            rows = budget.share.rows(rows, sheet.height)
            grid, area = bounded(rows, (start[0] + 1, start[1] + 1), max(1, room // width))
            merges = (Area(*_one_based(*ends)) for ends in sheet.merged_cell_ranges or ())
            return SheetValues(grid, area, tuple(merges))


@contextmanager
def _signalled() -> Iterator[None]:
    """Turn what calamine raises, a panic too, into `ValuesFailed`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError, Refused):
        raise
    except BaseException as error:
        raise ValuesFailed.because(error) from error


def _cleaned(rows: Iterable[list[Any]]) -> Iterator[list[Value]]:
    texts = Texts()
    for row in rows:
        yield [texts[value] if type(value) is str else value for value in row]


def _one_based(start: tuple[int, int], end: tuple[int, int]) -> tuple[int, int, int, int]:
    return start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1


Reader = TypeVar("Reader", CalamineReader, OpenpyxlReader)


class Readers:
    """The two value readers of one file, each opened when first needed."""

    def __init__(self, file: BinaryIO, *, safe: bool) -> None:
        self._file = file
        self._known: dict[type, Any] = {}  # an open reader, or its `ValuesFailed`
        if safe:
            self._known[CalamineReader] = ValuesFailed("calamine crashed the process")

    def listed(self, damage: str = "") -> list[ListedSheet]:
        """The sheets as listed by the first reader that opens the file."""
        try:
            return self._opened(CalamineReader).sheets()
        except ValuesFailed as first:
            try:
                return self._opened(OpenpyxlReader).sheets()
            except ValuesFailed:
                why = damage or f"No reader opens the file: {first}."
                raise Refused(SkipReason.DAMAGED, why) from first

    def load(self, name: str) -> None:
        """Let calamine parse a sheet in advance; `values` meets any failure again."""
        with suppress(ValuesFailed):
            reader = self._opened(CalamineReader)
            reader.load(_index(reader, name))

    def values(self, name: str, budget: Budget, *, dense: bool, held: bool) -> SheetValues:
        """Values of a sheet: calamine's if it is dense enough for one block, else openpyxl's.

        If a sheet is known to have cells (`held`), and calamine finds none, openpyxl is tried, too.
        """
        found: SheetValues | None = None
        failure = ValuesFailed("its used range is too large to be read as one block")
        if dense:
            try:
                found = self._values(CalamineReader, name, budget)
                if found.area is not None or not held:
                    return found
            except ValuesFailed as failed:
                failure = failed
        try:
            return self._values(OpenpyxlReader, name, budget)
        except ValuesFailed as second:
            if found is not None:
                return found
            raise failure from second

    def _values(self, kind: type[Reader], name: str, budget: Budget) -> SheetValues:
        reader = self._opened(kind)
        return reader.values(_index(reader, name), budget)

    def _opened(self, kind: type[Reader]) -> Reader:
        if kind not in self._known:
            try:
                self._known[kind] = kind.open(self._file)
            except ValuesFailed as failed:
                self._known[kind] = failed
        found = self._known[kind]
        if isinstance(found, ValuesFailed):
            raise found
        return cast(Reader, found)


def _index(reader: CalamineReader | OpenpyxlReader, name: str) -> int:
    index: int | None = reader.indices.get(name)
    if index is None:
        raise ValuesFailed("the reader does not list the sheet")
    return index
