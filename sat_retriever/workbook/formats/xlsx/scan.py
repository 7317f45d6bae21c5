"""Scan of a worksheet part for true bounds, formulas, errors, merges and hidden parts.

Two readers give the same result. `parse_rows` is a streaming XML parser that accepts any
well-formed XML. `RowScanner` in `rowscan.py` finds the same facts by byte search, about five
times faster, in the plain XML that nearly all writers produce. It gives up (`NotPlain`) at the
first unusual byte, and the parser starts over.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from sat_retriever.records.area import area_of, column_letters, split_ref
from sat_retriever.records.structure import RawFormula, Span
from sat_retriever.workbook.formats.reading import SheetFacts
from sat_retriever.workbook.formats.xlsx.book import NO_STYLES, Styles
from sat_retriever.workbook.formats.xlsx.declared import DeclaredParts, RawSource
from sat_retriever.workbook.formats.xlsx.rowscan import (
    NotPlain,
    RowFacts,
    RowScanner,
    raw_formula,
)
from sat_retriever.workbook.limits import CutShort, Limits, Refused
from sat_retriever.workbook.opening.package import (
    Attributes,
    BadXmlError,
    Chunks,
    count_in,
    feed,
    guarded_parser,
    local,
    too_deep,
)

MAIN_NAMESPACES = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
)
_LOCAL = {
    f"{namespace} {name}": name
    for namespace in MAIN_NAMESPACES
    for name in ("c", "f", "v", "is", "row", "col", "mergeCell", "sheetData", "dimension")
}
_TRUE = ("1", "true", "on")


@dataclass(slots=True)
class SheetScan(SheetFacts):
    """The result of one pass over a worksheet part."""

    # (cell, text, range, kind), in sheet order, one entry per shared or array formula
    formulas: list[RawFormula] = field(default_factory=list)
    hidden_rows: list[Span] = field(default_factory=list)  # hidden row spans, 1-based and inclusive
    hidden_cols: list[Span] = field(default_factory=list)
    sources: list[RawSource] = field(default_factory=list)

    def take(self, rows: RowFacts) -> None:
        """Take over what a reader of the rows found."""
        self.area, self.formula_area = rows.bounds.area, rows.formula_bounds.area
        self.unsaved, self.formats = rows.unsaved, rows.formats
        self.hidden_rows = join_spans(rows.hidden_rows)


def scan_sheet(
    chunks: Iterator[bytes], again: Iterator[bytes], limits: Limits, styles: Styles = NO_STYLES
) -> SheetScan:
    """Scan a sheet, by byte search if the XML is plain, else by parsing the same bytes `again`."""
    try:
        return scan_plain(chunks, limits, styles)
    except NotPlain:
        return parse_rows(again, limits, styles)


def scan_plain(chunks: Iterator[bytes], limits: Limits, styles: Styles = NO_STYLES) -> SheetScan:
    """Scan by byte search; XML outside the rows still goes through the parser."""
    scan = SheetScan()
    reader = _Reader(scan, limits)
    scanner = RowScanner(limits.cells, styles)
    try:
        for outside in scanner.strip_rows(chunks):
            reader.parser.Parse(outside, False)
        reader.parser.Parse(b"", True)
    except CutShort as cut:
        scan.cut = cut.reason
    except (expat.ExpatError, ValueError, LookupError, BadXmlError) as error:
        raise NotPlain("not well-formed outside of the rows") from error
    if reader.bounds.area is not None:
        raise NotPlain("cells where no rows were found")
    if scanner.bounds.area is not None and not reader.saw_rows_place:
        raise NotPlain("rows outside of the main namespace")
    scan.formulas = scanner.formulas
    scan.errors = scanner.errors
    scan.take(scanner)
    return scan


def parse_rows(chunks: Iterator[bytes], limits: Limits, styles: Styles = NO_STYLES) -> SheetScan:
    """Scan the whole part with the streaming parser; damage ends it early and is recorded."""
    scan = SheetScan()
    reader = _Reader(scan, limits, styles)
    try:
        feed(reader.parser, chunks)
    except CutShort as cut:
        scan.cut = cut.reason
    except BadXmlError as error:
        scan.damage = str(error)
    scan.take(reader)
    return scan


def join_spans(rows: list[int]) -> list[Span]:
    """Runs of consecutive numbers.

    >>> join_spans([2, 3, 4, 9])
    [(2, 4), (9, 9)]
    """
    spans: list[Span] = []
    for row in rows:
        if spans and spans[-1][1] + 1 == row:
            spans[-1] = (spans[-1][0], row)
        else:
            spans.append((row, row))
    return spans


class _Reader(RowFacts):
    def __init__(self, scan: SheetScan, limits: Limits, styles: Styles = NO_STYLES) -> None:
        super().__init__(limits.cells, styles)
        self.scan = scan
        self.limits = limits
        self._styles = styles
        self.saw_rows_place = False
        self.parser = guarded_parser("of a worksheet")
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.declared = DeclaredParts(scan.sources)
        self._depth = 0
        self._row = self._col = 0
        self._type = ""
        self._code = 0
        self._formula: Attributes = {}
        self._has_value = True
        self._text: list[str] | None = None

    def start(self, name: str, attributes: Attributes) -> None:
        self._depth += 1
        if self._depth > self.limits.xml_depth:
            raise too_deep("of a worksheet")
        tag = _LOCAL.get(name)
        if tag == "c":
            self._cell(attributes)
        elif tag in ("v", "is"):
            self.bounds.add(self._row, self._col)
            if tag == "v" or self._styles.area:
                self._keep_format()
            if tag == "v" and (self._type == "e" or not self._has_value):
                self._listen()
            self._has_value |= tag == "is" or self._type == "str"  # an empty text is a value
        elif tag == "f":
            self.bounds.add(self._row, self._col)
            self.formula_bounds.add(self._row, self._col)
            self._keep_format()
            self._formula = attributes
            self._has_value = False
            self._listen()
        elif tag is not None:
            self._around(tag, attributes)
        elif self.declared.start(local(name), attributes):
            self.parser.CharacterDataHandler = self.declared.text

    def _around(self, tag: str, attributes: Attributes) -> None:
        if tag == "row":
            self._row = count_in(attributes.get("r"), self._row + 1)
            self._col = 0
            if attributes.get("hidden") in _TRUE:
                self.hidden_rows.append(self._row)
        elif tag == "sheetData":
            self.saw_rows_place = True
        elif tag == "dimension":
            self.scan.dimension = area_of(attributes.get("ref", ""))
        elif tag == "col" and attributes.get("hidden") in _TRUE:
            first, last = count_in(attributes.get("min"), 0), count_in(attributes.get("max"), 0)
            if 0 < first <= last:
                self.scan.hidden_cols.append((first, last))
        elif tag == "mergeCell":
            area = area_of(attributes.get("ref", ""))
            if area is not None:
                self.scan.merges.append(area)

    def _cell(self, attributes: Attributes) -> None:
        place = split_ref(attributes.get("r", ""))
        if place is None:
            self._col += 1
        else:
            self._row, self._col = place
        self._type = attributes.get("t", "")
        self._code = self._styles.codes.get(attributes.get("s", ""), 0)
        self._has_value = True

    def _listen(self) -> None:
        self._text = []
        self.parser.CharacterDataHandler = self._text.append

    def end(self, name: str) -> None:
        self._depth -= 1
        tag = _LOCAL.get(name)
        if tag == "c" and not self._has_value:
            self._has_value = True
            self.keep_unsaved(self._row, self._col, self._formula)
        if self._text is None:
            if name not in _LOCAL:
                self.declared.end(local(name))
            return
        if tag not in ("f", "v"):
            return
        text = "".join(self._text)
        self._text = None
        self.parser.CharacterDataHandler = None
        if tag == "v":
            self._has_value |= bool(text)
            if self._type == "e":
                self.scan.errors.append((self._row, self._col, text.strip()))
        elif text.strip():
            cell = f"{column_letters(self._col)}{self._row}"
            self.scan.formulas.append(raw_formula(cell, text, self._formula))

    def _keep_format(self) -> None:
        area = self._styles.area
        asked = area is None or area.holds(self._row, self._col)
        if self._code and asked and self._styles.tells(self._type):
            self.formats.add(self._row, self._col, self._code)
        self._code = 0


class BackgroundScan(threading.Thread):
    """A scan in its own thread: `start` starts it, `result` waits for it."""

    def __init__(self, chunks: Chunks, again: Chunks, limits: Limits, styles: Styles) -> None:
        super().__init__(daemon=True)
        self._chunks, self._again, self._limits, self._styles = chunks, again, limits, styles
        self._scan: SheetScan | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Scan; an error is kept for `result`."""
        try:
            self._scan = scan_sheet(self._chunks(), self._again(), self._limits, self._styles)
        except (Refused, MemoryError) as error:
            self._error = error

    def result(self) -> SheetScan:
        """Wait for the scan and return it."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._scan or SheetScan(damage="the scan ended early")
