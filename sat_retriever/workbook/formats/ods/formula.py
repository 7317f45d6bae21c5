"""Translation of OpenFormula, the formula language of ods files, to the notation of Excel.

Source: ODF 1.3 part 4 (OpenFormula), sections 5.8 to 5.12. Departs: parts that cannot be parsed
are left unchanged, because only the references of a formula matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sat_retriever.links.formula.external import decoded
from sat_retriever.workbook.formats.formulas import MAX_TEXT, reference_text

_PREFIX = re.compile(r"(?:of|oooc|msoxl|[A-Za-z][\w.-]*):(?==)")
# Pieces of a formula. A text ends at a quote that is not doubled. Brackets hold quoted names, in
# which brackets have no meaning. An unclosed piece extends to the end, so that no character is
# matched twice.
_PIECE = re.compile(
    r"""
    (?P<text>"(?:[^"]|"")*+"?)
    | (?P<reference>\[(?:'(?:[^']|'')*+'?|[^\]'])*+\]?)
    | (?P<name>\$?'(?:[^']|'')*+'?\#?(?:\$|[\w.]|'(?:[^']|'')*+'?)*+)
    | (?P<error>\#[A-Z][A-Z0-9/]*+[!?]?)
    | (?P<word>\$?\$?[^\W\d][\w.]*+)
    | (?P<other>[0-9][0-9.]*+|\s++|.)
    """,
    re.VERBOSE | re.DOTALL,
)
# Most formulas: only functions, numbers and cells of the same sheet.
_OWN_CELLS = re.compile(
    r"(?:[^][\"'{}~!|#$:]|\[\.\$?[A-Z]{1,3}\$?[0-9]{1,7}"
    r"(?::\.\$?[A-Z]{1,3}\$?[0-9]{1,7})?\])*+"
)
# Content of brackets: [file#][$]sheet.cell[:[[$]sheet].cell]; a sheet name with special
# characters is quoted.
_SHEET = r"(?:\$?(?:'((?:[^']|'')*)'|([^'.:\s\[\]#$]+)))?"
_CELL = r"(\$?[A-Za-z]{1,3}\$?[0-9]{1,7}|\$?[A-Za-z]{1,3}|\$?[0-9]{1,7})"
_FILE = r"(?:'((?:[^']|'')*)'\#)?"
_REFERENCE = re.compile(rf"{_FILE}{_SHEET}\.{_CELL}(?::{_SHEET}\.{_CELL})?")
_NAMED = re.compile(rf"{_FILE}(?:\$\$)?(?:{_SHEET}\.)?([^\W\d][\w.]*)")
_NAMESPACES = re.compile(r"(?:COM\.MICROSOFT|ORG\.LIBREOFFICE|ORG\.OPENOFFICE)\.", re.IGNORECASE)
_ENDS = re.compile(rf"{_SHEET}\.(.*)", re.DOTALL)
_ADDRESSES = re.compile(r"(?:'(?:[^']|'')*'|[^\s'])+")
_MAX_PIECES = 4_096


def excel_formula(formula: str) -> str:
    """A formula of an ods file as Excel would write it, without "=".

    >>> excel_formula("of:=SUM([.A1:.B2];[$'Q 1'.B2])")
    "SUM(A1:B2,'Q 1'!B2)"
    >>> excel_formula("of:=['file:///data/x%20y.ods'#$Sheet.A1]")
    "'[file:///data/x y.ods]Sheet'!A1"
    >>> excel_formula("of:=[$Jan.A1:$Dec.B2]")
    'Jan:Dec!A1:B2'
    """
    text = formula[:MAX_TEXT]
    prefix = _PREFIX.match(text)
    excels_own = prefix is not None and prefix[0] == "msoxl:"
    text = (text[prefix.end() :] if prefix else text).strip().removeprefix("=").strip()
    if excels_own:
        return text
    if _OWN_CELLS.fullmatch(text) and not _NAMESPACES.search(text):
        text = text.replace("[.", "").replace(":.", ":")
        return text.replace("]", "").replace(";", ",")
    return _translated(text)


def _translated(text: str) -> str:
    translation = _Translation()
    for match in _PIECE.finditer(text):
        translation.add(match.lastgroup or "other", match[0])
    return "".join(translation.done)


def excel_reference(text: str) -> str:
    """The cells inside `[…]` in Excel's notation; empty if it names no cells.

    >>> excel_reference("$Sheet1.$A$1:.$B$5"), excel_reference(".A1"), excel_reference("#REF!")
    ('Sheet1!$A$1:$B$5', 'A1', '')
    """
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return ""
    file, first, last = _plain(match[1]), _name(match[2], match[3]), _name(match[5], match[6])
    start, end = match[4].upper(), (match[7] or "").upper()
    if file and not first:
        return ""
    bare = not any(sign.isdigit() for sign in start) or not any(sign.isalpha() for sign in start)
    if not end and bare:  # a single column or row is not a range
        return ""
    last = "" if last.casefold() == first.casefold() else last
    if last and not first:
        return ""
    place = f"{start}:{end}" if end else start
    return reference_text(place, first, last=last, workbook=decoded(file))


def excel_references(addresses: str) -> list[str]:
    """The cells named by a list of addresses, as in attributes.

    >>> excel_references("Sheet1.A1:Sheet1.B2 'Q 1'.A1:'Q 1'.B9")
    ['Sheet1!A1:B2', "'Q 1'!A1:B9"]
    """
    found = []
    for address in _ADDRESSES.findall(addresses[: 4 * MAX_TEXT])[:_MAX_PIECES]:
        text = excel_reference(address)
        if text:
            found.append(text)
    return found


def sheet_of(address: str) -> str:
    """The sheet that an address names; empty without one.

    >>> sheet_of("$'Q 1'.$A$1"), sheet_of(".A1"), sheet_of("Sheet1.A1:Sheet1.B2")
    ('Q 1', '', 'Sheet1')
    """
    match = _REFERENCE.fullmatch(address[:MAX_TEXT])
    return _name(match[2], match[3]) if match else ""


@dataclass(slots=True)
class _Translation:
    """State of a translation: pieces in Excel's notation, and the preceding pieces."""

    done: list[str] = field(default_factory=list)
    _braces: int = 0
    _word: str = ""
    _in_indirect: bool = False

    def add(self, kind: str, piece: str) -> None:
        if kind == "text":
            self.done.append(_indirect(piece) if self._in_indirect else piece)
        elif kind == "reference":
            self.done.append(_bracketed(piece))
        elif kind == "name":
            self.done.append(_named(piece))
        elif kind == "word":
            self.done.append(_word(piece))
        else:
            self.done.append(self._other(piece))
        self._in_indirect = piece == "(" and self._word.upper() == "INDIRECT"
        if not piece.isspace():
            self._word = piece

    def _other(self, piece: str) -> str:
        if piece in "{}":
            self._braces += 1 if piece == "{" else -1
        if piece == ";":
            return ","
        if piece == "|" and self._braces > 0:
            return ";"
        return {"~": ",", "!": " "}.get(piece, piece)


def _bracketed(piece: str) -> str:
    inner = piece[1:-1].strip()
    text = excel_reference(inner)
    if text:
        return text
    return "#REF!" if "#REF!" in inner else piece


def _word(piece: str) -> str:
    """A function or name: `COM.MICROSOFT.XLOOKUP`, `$Sheet1.rate`."""
    bare = _NAMESPACES.match(piece)
    if bare:
        return piece[bare.end() :]
    return _named(piece) if piece.startswith("$") else piece


def _named(piece: str) -> str:
    match = _NAMED.fullmatch(piece)
    if match is None:
        return piece
    file, sheet = _plain(match[1]), _name(match[2], match[3])
    return reference_text(match[4], sheet, workbook=decoded(file))


def _indirect(piece: str) -> str:
    """The text argument of an INDIRECT, with its leading sheet in Excel's notation.

    >>> _indirect('"$Data.A"')
    '"Data!A"'
    """
    inner = piece[1:].removesuffix('"').replace('""', '"')
    text = excel_reference(inner)
    if not text and (start := _ENDS.fullmatch(inner)) and (sheet := _name(start[1], start[2])):
        text = reference_text(start[3], sheet)
    return '"' + text.replace('"', '""') + '"' if text else piece


def _name(quoted: str | None, bare: str | None) -> str:
    return _plain(quoted) or (bare or "").removeprefix("$")


def _plain(quoted: str | None) -> str:
    return (quoted or "").replace("''", "'")
