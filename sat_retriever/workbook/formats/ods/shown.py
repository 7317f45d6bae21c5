"""Texts that the cells of an ods show, which the file itself has beside their values."""

from __future__ import annotations

from xml.parsers import expat

from sat_retriever.records.area import Area, Place
from sat_retriever.text.oneline import one_line
from sat_retriever.workbook.formats.ods.content import (
    CELLS,
    OFFICE,
    REPEATED,
    ROW,
    ROWS_REPEATED,
    SheetReader,
    content_parser,
)
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.opening.package import Attributes, BadXmlError, Chunks, count_in
from sat_retriever.workbook.values.read import MAX_TEXT

_OF_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0 "
_PARAGRAPH, _SPACES = _OF_TEXT + "p", tuple(_OF_TEXT + name for name in ("s", "tab", "line-break"))
_TYPES = ("float", "percentage", "currency", "date", "time")


def read_shown(chunks: Chunks, limits: Limits, sheet: str, area: Area) -> dict[Place, str]:
    """The texts of the numbers, dates and times in some cells of a sheet, by row and column.

    Raises:
        BadXmlError: If the content part is damaged before the end of these cells.
    """
    reader = _ShownReader(limits, sheet, area)
    try:
        for chunk in chunks():
            reader.parser.Parse(chunk, False)
            if reader.done:
                break
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise BadXmlError(str(error)) from error
    return reader.found


class _ShownReader(SheetReader):
    def __init__(self, limits: Limits, sheet: str, area: Area) -> None:
        super().__init__(limits)
        self.found: dict[Place, str] = {}
        self.done = False
        self.parser = content_parser(self)
        self._wanted, self._area = sheet, area
        self._row, self._rows, self._col = 0, 1, 1
        self._cell: Area | None = None  # the cells that have the text at hand
        self._depth_of_cell = 0
        self._text: list[str] = []

    def begin_sheet(self, sheet: str) -> None:
        self._row, self._rows = 0, 1

    def end_sheet(self, sheet: str) -> None:
        self.done = self.done or sheet == self._wanted

    def visit(self, name: str, attributes: Attributes) -> None:
        if self.done or self.sheet != self._wanted:
            return
        if name == ROW:
            self._row += self._rows
            self._rows = max(1, count_in(attributes.get(ROWS_REPEATED), 1))
            self._col = 1
            self.done = self._row > self._area.bottom
        elif name in CELLS:
            columns = max(1, count_in(attributes.get(REPEATED), 1))
            self._begin(attributes, Area(self._row, self._col, self._row + self._rows - 1,
                                         self._col + columns - 1))  # fmt: skip
            self._col += columns
        elif name == _PARAGRAPH and self._cell and self.depth == self._depth_of_cell + 1:
            self._text.append(" ")
            self.parser.CharacterDataHandler = self._text.append
        elif name in _SPACES:
            self._text.append(" ")

    def _begin(self, attributes: Attributes, cell: Area) -> None:
        wanted = self._area
        top, left = max(cell.top, wanted.top), max(cell.left, wanted.left)
        bottom, right = min(cell.bottom, wanted.bottom), min(cell.right, wanted.right)
        asked = top <= bottom and left <= right
        typed = attributes.get(OFFICE + "value-type") in _TYPES
        self._cell = Area(top, left, bottom, right) if asked and typed else None
        self._depth_of_cell, self._text = self.depth, []

    def end(self, name: str) -> None:
        if self._cell is not None and name == _PARAGRAPH:
            self.parser.CharacterDataHandler = None
        elif self._cell is not None and self.depth == self._depth_of_cell:
            if text := one_line("".join(self._text)[:MAX_TEXT]):
                cells = self._cell
                self.found |= {(row, col): text for row in cells.rows for col in cells.columns}
            self._cell = None
        super().end(name)
