"""Formulas and number formats of the sheets in the content part of an ods.

A parser calls Python for every cell and every text, so uninteresting rows are removed by byte
search before parsing. That is safe: a "<" always begins a tag outside comments and CDATA, and with
those no row is removed. A row's tag that is cut at a wrong ">" is not well-formed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from sat_retriever.records.area import Area, area_of, column_letters
from sat_retriever.records.structure import RawFormula
from sat_retriever.workbook.formats.ods.formula import excel_formula
from sat_retriever.workbook.limits import Limits
from sat_retriever.workbook.opening.package import (
    Attributes,
    BadXmlError,
    Chunks,
    count_in,
    guarded_parser,
    too_deep,
)
from sat_retriever.workbook.values.grid import MAX_FORMATS, CellFormats, Places
from sat_retriever.workbook.values.numberformat import FRACTION, PLAIN, NumberFormat

PART = "content.xml"
_TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 "
_SPREADSHEET = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 spreadsheet"
_SHEET, ROW = _TABLE + "table", _TABLE + "table-row"
CELLS = (_TABLE + "table-cell", _TABLE + "covered-table-cell")
FORMULA, REPEATED = _TABLE + "formula", _TABLE + "number-columns-repeated"
ROWS_REPEATED = _TABLE + "number-rows-repeated"
OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0 "
_MOST = 8  # characters of a currency
_VALUE_TYPE, _CURRENCY = OFFICE + "value-type", OFFICE + "currency"
_SHOWN = (b'"percentage"', b'"currency"')  # types of values that show a unit
_ROW_START, _ROW_END = b"<table:table-row", b"</table:table-row>"
_TEXT = re.compile(rb"<text:p>[^<]*</text:p>")
_CARRY_LIMIT = 64 << 20


@dataclass(slots=True)
class SheetFormulas:
    """The formulas of one sheet."""

    sheet: str
    # (cell, text, range, kind) in the notation of Excel
    formulas: list[RawFormula] = field(default_factory=list)
    unsaved: Places = field(default_factory=Places)
    # Cells with a percent or a currency; units in other formats are not known
    formats: CellFormats = field(default_factory=CellFormats)


def shows_unit(row: bytes) -> bool:
    """True if a row has a cell with a percent or a currency."""
    return any(sign in row for sign in _SHOWN)


def read_formulas(chunks: Chunks, limits: Limits) -> Iterator[SheetFormulas]:
    """Yield the formulas and number formats of a workbook, sheet by sheet."""
    reader = _FormulaReader(limits)
    parser = content_parser(reader)
    try:
        for chunk in thinned(chunks(), lambda row: b"formula" in row or shows_unit(row)):
            parser.Parse(chunk, False)
            yield from reader.finished()
        parser.Parse(b"", True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise BadXmlError(str(error)) from error
    yield from reader.finished()


def content_parser(reader: SheetReader) -> expat.XMLParserType:
    """A guarded parser that passes every element to the reader."""
    parser = guarded_parser(PART)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    return parser


class SheetReader:
    """Expat handlers that track the current sheet."""

    def __init__(self, limits: Limits) -> None:
        self.sheet: str | None = None
        self.depth = 0
        self._max_depth = limits.xml_depth
        self._sheets_at = -1  # depth of the sheets
        self._nested = 0  # tables inside cells

    def start(self, name: str, attributes: Attributes) -> None:
        """Handle the start of an element."""
        self.depth += 1
        if self.depth > self._max_depth:
            raise too_deep(PART)
        if name == _SHEET:  # a nested one is inside a cell
            if self.sheet is not None:
                self._nested += 1
            elif self.depth == self._sheets_at:
                self.sheet = attributes.get(_TABLE + "name", "")
                self.begin_sheet(self.sheet)
        elif name == _SPREADSHEET:
            self._sheets_at = self.depth + 1
        elif not self._nested:
            self.visit(name, attributes)

    def end(self, name: str) -> None:
        """Handle the end of an element."""
        if name == _SHEET and self.sheet is not None:
            if self._nested:
                self._nested -= 1
            else:
                self.end_sheet(self.sheet)
                self.sheet = None
        self.depth -= 1

    def begin_sheet(self, sheet: str) -> None:
        """Handle the start of a sheet."""

    def end_sheet(self, sheet: str) -> None:
        """Handle the end of a sheet."""

    def visit(self, name: str, attributes: Attributes) -> None:
        """Handle the start of any other element."""


class _FormulaReader(SheetReader):
    """Collector of formulas and formats; repeated cells with a formula are never expanded."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._done: list[SheetFormulas] = []
        self._found = SheetFormulas("")
        self._room = limits.cells
        self._row, self._rows = 0, 1
        self._col = 0
        self._units: dict[str, int] = {}

    def finished(self) -> Iterator[SheetFormulas]:
        done, self._done = self._done, []
        yield from done

    def begin_sheet(self, sheet: str) -> None:
        formats = CellFormats(room=self._room)
        self._found = SheetFormulas(sheet, unsaved=Places(self._room), formats=formats)
        self._units = {}
        self._row, self._rows = 0, 1

    def end_sheet(self, sheet: str) -> None:
        self._done.append(self._found)
        self._room -= len(self._found.unsaved) + len(self._found.formats)
        self._found.formats.shown = (PLAIN, *map(NumberFormat, self._units))

    def visit(self, name: str, attributes: Attributes) -> None:
        if name in CELLS:
            formula = attributes.get(FORMULA)
            repeated = attributes.get(REPEATED)
            cols = 1 if repeated is None else max(1, count_in(repeated, 1))
            if formula and self.sheet is not None:
                raw = self._raw(excel_formula(formula), cols, attributes)
                self._found.formulas.append(raw)
                area = None if _VALUE_TYPE in attributes else area_of(raw[2] or raw[0])
                if area is not None:
                    self._found.unsaved.fill(area)
            self._keep_format(attributes, cols)
            self._col += cols
        elif name == ROW:
            self._row += self._rows
            self._rows = max(1, count_in(attributes.get(ROWS_REPEATED), 1))
            self._col = 1

    def _keep_format(self, attributes: Attributes, cols: int) -> None:
        kind = attributes.get(_VALUE_TYPE)
        unit = FRACTION if kind == "percentage" else attributes.get(_CURRENCY, "")[:_MOST]
        if kind not in ("percentage", "currency") or not unit or self.sheet is None:
            return
        if unit in self._units or len(self._units) < MAX_FORMATS:
            code = self._units.setdefault(unit, len(self._units) + 1)
            area = Area(self._row, self._col, self._row + self._rows - 1, self._col + cols - 1)
            self._found.formats.fill(area, code)

    def _raw(self, text: str, cols: int, attributes: Attributes) -> RawFormula:
        row = self._row or 1  # for a cell outside any row
        cell = f"{column_letters(self._col)}{row}"
        wide = attributes.get(_TABLE + "number-matrix-columns-spanned")
        high = attributes.get(_TABLE + "number-matrix-rows-spanned")
        if wide or high:
            rows, cols = (max(1, count_in(span, 1)) for span in (high, wide))
            area = Area(row, self._col, row + rows - 1, self._col + cols - 1)
            return (cell, text, area.a1(), "array")
        if cols > 1 or self._rows > 1:
            area = Area(row, self._col, row + self._rows - 1, self._col + cols - 1)
            return (cell, text, area.a1(), "shared")
        return (cell, text, None, "normal")


def thinned(chunks: Iterator[bytes], keep: Callable[[bytes], bool]) -> Iterator[bytes]:
    """Yield the bytes without the content of rows that are not kept, and without plain texts.

    The content part is in UTF-8; other bytes pass unchanged.
    """
    pending = b""
    plain = True
    for chunk in chunks:
        pending += chunk
        plain = plain and _is_plain(pending) and len(pending) < _CARRY_LIMIT
        if not plain:
            yield pending
            pending = b""
            continue
        cut = pending.rfind(_ROW_END) + len(_ROW_END)
        if cut < len(_ROW_END):
            continue
        yield _thin(pending[:cut], keep)
        pending = pending[cut:]
    yield pending


def _is_plain(block: bytes) -> bool:
    """True if every "<" begins a tag; a declaration at the very start is allowed."""
    # One byte is searched first, because that is many times faster.
    if b"!" in block and b"<!" in block:
        return False
    return b"?" not in block or block.find(b"<?", 1) < 0


def _thin(block: bytes, keep: Callable[[bytes], bool]) -> bytes:
    parts = block.split(_ROW_END)
    for index, part in enumerate(parts):
        start = part.rfind(_ROW_START)
        end = part.find(b">", start)
        if start < 0 or part[end - 1 : end] == b"/":
            continue
        kept = keep(part[start:])
        parts[index] = _TEXT.sub(b"", part) if kept else part[: end + 1]
    return _ROW_END.join(parts)
