"""Lenient reading of an xlsx by openpyxl: a bad cell or text loses only itself.

openpyxl itself gives up a sheet at the first cell whose text is not in the workbook's table of
shared strings, and the workbook if that table is missing or cut off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from openpyxl.cell.text import Text
from openpyxl.reader.excel import ExcelReader
from openpyxl.worksheet._reader import WorkSheetParser
from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
from openpyxl.xml.functions import iterparse

from sat_retriever.workbook.opening.package import ZIP_ERRORS

_TEXT = f"{{{SHEET_MAIN_NS}}}si"
_LAST_ROW = 1 << 20
_HEAD_BYTES = 65_536  # declarations precede the first element
_UNREADABLE: tuple[type[Exception], ...] = (*ZIP_ERRORS, SyntaxError)  # the latter for bad XML


def lenient_workbook(file: BinaryIO, *, read_only: bool) -> Any:
    """Open a workbook with its computed values."""
    reader = _Reader(file, read_only=read_only, data_only=True)
    reader.read()
    return reader.wb


class StreamedSheet(WorkSheetParser):  # type: ignore[misc]
    """The rows of a sheet in a workbook that was opened read-only.

    Attributes:
        lost: Number of cells so far that could not be read.
    """

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
