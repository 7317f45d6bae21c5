"""Scan of rows in plain worksheet XML by byte search instead of parsing.

A parser calls Python for each cell of a sheet. Here C code (`bytes.find`, `re`) skips over
cells, and Python runs once per row and once per formula.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from operator import itemgetter

from sat_retriever.records.area import Area, area_of
from sat_retriever.records.structure import RawFormula
from sat_retriever.workbook.formats.xlsx.book import NO_STYLES, Styles
from sat_retriever.workbook.values.grid import CellFormats, Places

_ROW = re.compile(rb'<row r="([1-9][0-9]{0,6})"([^<>]*)>')
_REF = re.compile(rb'<c r="(([A-Z]{1,3})([1-9][0-9]{0,6}))"')
_HELD = re.compile(rb'<c r="([A-Z]+)[0-9]+"[^<>]*>\s*<[vfi]')
# Letters of a cell with content; empty for any other "<c".
_CELLS = re.compile(rb'<c(?: r="([A-Z]{1,3})[1-9][0-9]{0,6}"[^<>]*>\s*<[vfi])?')
_DIGITS = b"0123456789"
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ERROR = re.compile(rb' t="e"')
_VALUE = re.compile(rb"<v>([^<]*)</v>")
_VALUE_TAG = re.compile(rb"<v[ >/]")
# A cell's address and other attributes; those of its formula; the text with its end tag; what is
# behind: the begin of a saved value, or its end and an empty value, which may be a saved text.
_FORMULA = re.compile(
    rb'<c r="([A-Z]{1,3}[1-9][0-9]{0,6})"([^<>]*)>\s*<f([^<>]*)>([^<]*</f>)?\s*'
    rb"(</c>|<v(?:\s[^<>]*)?(?:/>|></v>)\s*</c>|<v(?:\s[^<>]*)?(?<!/)>[^<]|<is[ >/])"
)
_TYPE = re.compile(rb' t="([A-Za-z]*)"')
_TEXT_TYPE = re.compile(rb'\st="str"')
_HIDDEN = re.compile(rb'\shidden="(?:1|true|on)"')
# (a byte that is searched first because that is fast, the sign of unusual rows)
_UNUSUAL = (
    (b"!", b"<!"),
    (b"?", b"<?"),
    (b"'", b"='"),
    (b"x", b"<extLst"),
    (b"x", b"xmlns"),
)
_DECLARATION = re.compile(rb'<\?xml version="1\.0"(?: encoding="([A-Za-z0-9-]+)")?')
_CARRY_LIMIT = 64 << 20
_PREFIX = b":sheetData"
_ATTRIBUTE = re.compile(rb'([A-Za-z:]+)="([^"]*)"')
_ENTITY = re.compile(r"&(#x[0-9A-Fa-f]{1,6}|#[0-9]{1,7}|[a-z]{2,4});")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class Bounds:
    """A rectangle that grows to include every cell added to it."""

    __slots__ = ("bottom", "left", "right", "top")

    def __init__(self) -> None:
        self.top = self.left = 1 << 31
        self.bottom = self.right = 0

    def add(self, row: int, col: int) -> None:
        """Grow to include a cell."""
        self.top = min(self.top, row)
        self.bottom = max(self.bottom, row)
        self.left = min(self.left, col)
        self.right = max(self.right, col)

    @property
    def area(self) -> Area | None:
        """The rectangle; None before the first cell."""
        return Area(self.top, self.left, self.bottom, self.right) if self.right else None


class RowFacts:
    """What the rows of a sheet tell, as either reader of them collects it."""

    def __init__(self, room: int, styles: Styles) -> None:
        self.bounds = Bounds()
        self.formula_bounds = Bounds()
        self.hidden_rows: list[int] = []
        self.unsaved = Places(room)
        self.formats = CellFormats(styles.shown, room)

    def keep_unsaved(self, row: int, col: int, attributes: Mapping[str, str]) -> None:
        """Note a cell, or all that its array fills, whose formula has no saved value."""
        area = filled_area(attributes)
        if area is None:
            self.unsaved.add(row, col)
        else:
            self.unsaved.fill(area)


class RowScanner(RowFacts):
    """Collector of bounds, formulas, formats, errors and hidden rows from a stream of row bytes.

    It keeps the places of at most `room` formulas without a saved value, and as many formats.
    """

    def __init__(self, room: int, styles: Styles = NO_STYLES) -> None:
        super().__init__(room, styles)
        self.formulas: list[RawFormula] = []
        self.errors: list[tuple[int, int, str]] = []
        self._codes = {style.encode(): code for style, code in styles.codes.items()}
        self._styled = styles.sign()
        self._styles = styles

    def strip_rows(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield all but the rows, which are scanned; `NotPlain` if byte search could fail."""
        pending = b""
        inside = False
        done = False
        for chunk in chunks:
            if done:
                yield chunk
                continue
            pending += chunk
            if not inside:
                head, pending, inside = _split_head(pending)
                if head:
                    yield head
                if not inside:
                    continue
            end = pending.find(b"</sheetData")
            cut = end if end >= 0 else pending.rfind(b"</row>") + 6
            if end < 0 and cut < 6:
                if len(pending) > _CARRY_LIMIT:
                    raise NotPlain("a row of over 64 MiB")
                continue
            self._scan(pending[:cut])
            pending = pending[cut:]
            if end >= 0:
                done = True
                yield pending
        if not done:
            yield pending

    def _scan(self, block: bytes) -> None:
        for byte, sign in _UNUSUAL:
            if byte in block and sign in block:
                raise NotPlain(f"{sign!r} among the rows")
        self._scan_rows(block)
        if b"<f" in block:
            self._scan_formulas(block)
        if b' t="e"' in block:
            self._scan_errors(block)
        if self._styled is not None:
            self._scan_formats(self._styled, block)

    def _scan_formats(self, styled: re.Pattern[bytes], block: bytes) -> None:
        columns: dict[bytes, int] = {}
        area = self._styles.area
        first, last = (0, len(block)) if area is None else _bytes_of(block, area)
        for sign in styled.finditer(block, first, last):
            start = block.rfind(b"<", 0, sign.start())
            place = _REF.match(block, start)
            if place is None or not self._styles.tells(_type_before(place, sign)):
                continue
            letters = place[2]
            column = columns.get(letters) or columns.setdefault(letters, _column(letters))
            if area is None or area.holds(int(place[3]), column):
                self.formats.add(int(place[3]), column, self._codes[sign[1]])

    def _scan_rows(self, block: bytes) -> None:
        # Of each row: its number, its other attributes, the start of its content.
        rows = [(int(match[1]), match[2], match.end()) for match in _ROW.finditer(block)]
        if len(rows) != block.count(b"<row"):
            raise NotPlain("rows without a number in first place")
        if b' hidden="' in block:
            self.hidden_rows += [row for row, rest, _start in rows if _HIDDEN.search(rest)]
        columns = set(_CELLS.findall(block))
        if b"" in columns:  # some cells are empty or unusual
            columns.remove(b"")
            if block.count(b"<c") != block.count(b'<c r="'):
                raise NotPlain("cells without an address in first place")
        if not columns:
            return
        numbers = [_column(letters) for letters in columns]
        rows.sort(key=itemgetter(0))
        self.bounds.add(_first_held(block, rows), min(numbers))
        rows.reverse()
        self.bounds.add(_first_held(block, rows), max(numbers))

    def _scan_formulas(self, block: bytes) -> None:
        found: list[tuple[bytes, ...]] = _FORMULA.findall(block)
        closed = sum(content != b"" for _, _, _, content, _ in found)
        tags = block.count(b"<f") - block.count(b"<family")  # of a text's font
        if len(found) != tags or closed != block.count(b"</f>"):
            raise NotPlain("formulas in an unusual form")
        if not found:
            return
        columns = [_column(letters) for letters in {each[0].rstrip(_DIGITS) for each in found}]
        rows = [int(each[0].lstrip(_LETTERS)) for each in found]
        self.formula_bounds.add(min(rows), min(columns))
        self.formula_bounds.add(max(rows), max(columns))
        for cell, tag, attributes, content, behind in found:
            text = content[:-4]
            if text and not text.isspace():
                own = attributes_of(attributes) if b"t=" in attributes else {}
                self.formulas.append(raw_formula(cell.decode(), text_of(text), own))
            if behind[-4:] == b"</c>" and (behind == b"</c>" or not _TEXT_TYPE.search(tag)):
                row, col = int(cell.lstrip(_LETTERS)), _column(cell.rstrip(_DIGITS))
                self.keep_unsaved(
                    row, col, attributes_of(attributes) if b"ref" in attributes else {}
                )

    def _scan_errors(self, block: bytes) -> None:
        for sign in _ERROR.finditer(block):
            start = block.rfind(b"<", 0, sign.start())
            place = _REF.match(block, start)
            close = block.find(b">", start)
            if place is None or close < sign.start():
                raise NotPlain("an error mark outside of a cell")
            if block[close - 1 : close] == b"/":
                continue
            content = block[close + 1 : block.find(b"</c>", close)]
            value = _VALUE.search(content)
            if value is not None:
                self.errors.append((int(place[3]), _column(place[2]), text_of(value[1]).strip()))
            elif _VALUE_TAG.search(content):
                raise NotPlain("an error value in an unusual form")


def _type_before(place: re.Match[bytes], sign: re.Match[bytes]) -> str:
    """The type that a cell's tag names before its style; empty without one."""
    named = _TYPE.search(place.string, place.end() - 1, sign.start() + 1)
    return named[1].decode() if named else ""


def _bytes_of(block: bytes, area: Area) -> tuple[int, int]:
    """Begin and end of the bytes that hold the rows of an area, and perhaps others."""
    rows = [(int(match[1]), match.start()) for match in _ROW.finditer(block)]
    held = [at for at, (row, _start) in enumerate(rows) if area.top <= row <= area.bottom]
    if not held:
        return 0, 0
    end = rows[held[-1] + 1][1] if held[-1] + 1 < len(rows) else len(block)
    return rows[held[0]][1], end


def filled_area(attributes: Mapping[str, str]) -> Area | None:
    """The cells that an array or data table fills; its other cells have no formula of their own."""
    fills = attributes.get("t") in ("array", "dataTable")
    return area_of(attributes.get("ref", "")) if fills else None


def _first_held(block: bytes, rows: list[tuple[int, bytes, int]]) -> int:
    for number, rest, start in rows:
        if not rest.endswith(b"/") and _HELD.search(block, start, block.find(b"</row>", start)):
            return number
    raise NotPlain("a cell outside of a row")


def _column(letters: bytes) -> int:
    col = 0
    for letter in letters:
        col = col * 26 + letter - 64
    return col


def _split_head(pending: bytes) -> tuple[bytes, bytes, bool]:
    """Split into (bytes before the rows, the rest, True if the rows have begun)."""
    position = pending.find(b"<sheetData")
    close = pending.find(b">", position) if position >= 0 else -1
    if close < 0:
        if len(pending) > _CARRY_LIMIT or _PREFIX in pending:
            raise NotPlain("no rows in the first 64 MiB, or prefixed ones")
        return b"", pending, False
    head = pending[: close + 1]
    if pending[close - 1 : close] == b"/":
        return b"", pending, False
    _check_head(head)
    return head, pending[close + 1 :], True


def _check_head(head: bytes) -> None:
    declaration = _DECLARATION.match(head.removeprefix(b"\xef\xbb\xbf"))
    encoding = declaration[1] if declaration else None
    if b"<?xml" in head and (declaration is None or head.count(b"<?") != 1):
        raise NotPlain("an unusual XML declaration")
    if (encoding or b"utf-8").lower() not in (b"utf-8", b"us-ascii") or b"<!" in head:
        raise NotPlain("another encoding, a comment or a DOCTYPE")
    if b'xmlns="' not in head:
        raise NotPlain("no default namespace")


def raw_formula(cell: str, text: str, attributes: Mapping[str, str]) -> RawFormula:
    """One formula entry; it is shared or an array only if it has a range."""
    kind, ref = attributes.get("t", ""), attributes.get("ref")
    if kind in ("array", "shared") and ref:
        return (cell, text, ref, kind)
    return (cell, text, None, "normal")


class NotPlain(Exception):  # noqa: N818 - a signal between the two readers
    """Signal that byte search cannot be trusted with the XML."""


def attributes_of(raw: bytes) -> dict[str, str]:
    """The attributes of a tag by name."""
    return {text_of(key): text_of(value) for key, value in _ATTRIBUTE.findall(raw)}


def text_of(raw: bytes) -> str:
    r"""Decode the bytes between two tags, or two quotes.

    >>> text_of(b"a &lt; b\r\n")
    'a < b\n'
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise NotPlain("bytes that are not UTF-8") from error
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    name = match[1]
    if not name.startswith("#"):
        if name not in _NAMED:
            raise NotPlain(f"entity {name}")
        return _NAMED[name]
    code = int(name[2:], 16) if name[1] == "x" else int(name[1:])
    if code > 0x10FFFF or code == 0:
        raise NotPlain(f"character {code}")
    return chr(code)
