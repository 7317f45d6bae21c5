"""Parsing of one operand of a formula: `'[2]Q1 data'!$B$2:$B$9` in its parts."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

from sat_retriever.records.area import MAX_COLUMN, MAX_ROW, column_number
from sat_retriever.records.formats import extension_of
from sat_retriever.records.structure import Use

MAX_FORMULA = 8_192  # characters; Excel's own limit
MAX_NAME = 255
SPACES = str.maketrans("\r\n\t\v\f", "     ")
# Pieces of an operand: quoted text, text in brackets, "!" and ":", anything else.
_PIECE = re.compile(r"'(?:[^']|'')*'|\[(?:[^\[\]]|\[[^\[\]]*\])*\]|[!:]|[^'!:\[\]]+|.", re.DOTALL)
_CELL = re.compile(r"\$?([A-Z]{1,3})(?:\$?([1-9][0-9]{0,6}))?|\$?([1-9][0-9]{0,6})")
_R1C1 = re.compile(r"R(?:\d+|\[-?\d+\])?C(?:\d+|\[-?\d+\])?(?::R.*)?", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d][\w.?\\]*|\\[\w.?\\]*")


class Target(NamedTuple):
    """The target of an operand; the fields are those of `structure.Reference`."""

    workbook: str = ""
    first: str = ""
    last: str = ""
    name: str = ""
    area: str = ""


class Taken(NamedTuple):
    """One target of a formula, and how the formula uses it."""

    use: Use
    target: Target


def targets(operand: str, names: Container[str], *, r1c1: bool = False) -> list[Target]:
    """The targets of an operand, see `taken`; none for the same sheet's cells and broken ones."""
    segments = _segments(operand)
    if len(segments) == 1:
        return _unqualified(segments[0], names)
    found: list[Target] = []
    qualifier = segments[0]
    for position, segment in enumerate(segments[1:], 2):
        body, following = segment, []
        if position < len(segments):  # Q1!A1:Q1!B9 - the last part belongs to the next "!"
            if ":" not in segment:
                return found
            cut = len(segment) - 1 - segment[::-1].index(":")
            body, following = segment[:cut], segment[cut + 1 :]
        target = _qualified(qualifier, body, r1c1=r1c1)
        if target is not None and target not in found:
            found.append(target)
        qualifier = following
    return found


def opening(text: str) -> Target | None:
    """The sheet at the start of an incomplete operand: `Q1!B` of `"Q1!B"&ROW()`."""
    segments = _segments(text)
    if len(segments) != 2:
        return None
    target = _qualified(segments[0], ["A1"])
    return target and target._replace(area="")


def is_cells(text: str) -> bool:
    """True if the text is a cell, or one end of a range: "$B$2", "C" or "$7".

    >>> is_cells("XFD1"), is_cells("ZIP5"), is_cells("$C"), is_cells("A0")
    (True, False, True, False)
    """
    match = _CELL.fullmatch(text.upper())
    if match is None:
        return False
    letters, row, whole_row = match.groups()
    if letters and column_number(letters) > MAX_COLUMN:
        return False
    return int(row or whole_row or 1) <= MAX_ROW


def _segments(operand: str) -> list[list[str]]:
    segments: list[list[str]] = [[]]
    for piece in _PIECE.findall(operand.strip()):
        if piece == "!":
            segments.append([])
        else:
            segments[-1].append(piece)
    return segments


def _unqualified(pieces: list[str], names: Container[str]) -> list[Target]:
    found = []
    for position, piece in enumerate(pieces):
        name = piece.strip()
        following = pieces[position + 1] if position + 1 < len(pieces) else ""
        if following.startswith("["):
            if _NAME.fullmatch(name):  # a table; without a name it is the formula's own table
                found.append(Target(name=name, area=following))
        elif name.casefold() in names and not _is_address(pieces, position):
            found.append(Target(name=name))
    return list(dict.fromkeys(found))


def _is_address(pieces: list[str], position: int) -> bool:
    """True if a piece is a cell, or a column or row in a range: "A" of "A:C"."""
    text = pieces[position].strip()
    ranged = ":" in (pieces[position - 1 : position] + pieces[position + 1 : position + 2])
    return is_cells(text) and (ranged or text[-1:].isdigit())


def _qualified(qualifier: list[str], body: list[str], *, r1c1: bool = False) -> Target | None:
    """Target of the parts before and after a "!"; None if either part is broken."""
    quoted = len(qualifier) == 1 and qualifier[0].startswith("'")
    before = "".join(_unquoted(piece) for piece in qualifier).strip(None if not quoted else "")
    after = "".join(body).strip()
    if not before or not after or after.startswith("#"):
        return None
    first_part = body[0].strip()
    cells = _is_address(body, 0) or (r1c1 and _R1C1.fullmatch(after) is not None)
    name = "" if cells else first_part
    if name and (len(name) > MAX_NAME or not _NAME.fullmatch(name)):
        return None
    workbook, sheets = _split_workbook(before, named=bool(name))
    first, _, last = sheets.partition(":")
    if cells and not first:
        return None
    if len(first) > MAX_NAME or len(last) > MAX_NAME or len(workbook) > 2_000:
        return None
    last = "" if last.casefold() == first.casefold() else last
    return Target(workbook, first, last, name, after if cells or len(body) > 1 else "")


def _split_workbook(qualifier: str, *, named: bool) -> tuple[str, str]:
    """Workbook and sheets in the part before a "!", without quotes.

    `[0]` is the formula's own workbook. A name can belong to a whole workbook: `Book.xlsx!rate`.
    """
    start, end = qualifier.rfind("["), qualifier.rfind("]")
    if 0 <= start < end:
        workbook = qualifier[:start] + qualifier[start + 1 : end]
        return ("" if workbook == "0" else workbook), qualifier[end + 1 :]
    is_file = extension_of(qualifier) or "\\" in qualifier or "/" in qualifier
    return (qualifier, "") if named and is_file else ("", qualifier)


def _unquoted(piece: str) -> str:
    if len(piece) >= 2 and piece.startswith("'") and piece.endswith("'"):
        return piece[1:-1].replace("''", "'")
    return piece
