"""Count sheet-to-sheet formula edges of an xlsx file by a slow, plain reading of its raw XML.

It only checks the package and shares no code with it: `zipfile`, ElementTree and a scanner that
reads each formula character by character. Shared formulas are expanded cell by cell, array formulas
by their range; names and tables are looked up in the workbook's own parts. R1C1 and `INDIRECT` of
computed text are not handled.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

_STOPS = set('(),;{}+-*/^&=<>% \t\r\n"')
Edge = tuple[str, str]


@dataclass
class RawCount:
    """The edges of one workbook.

    Attributes:
        sheets: Worksheets in tab order, with the number of their non-empty cells.
        edges: Number of formula cells by edge (sheet with the formula, sheet that it reads).
        array_edges: The same for cells of array formulas alone.
        shared_edges: The same for cells of shared formulas alone.
        cells: Number of cells with a formula; each cell of an array formula counts.
        array_cells: Number of cells of array formulas.
        shared_cells: Number of cells of shared formulas, including masters.
        external: Number of formula cells by (sheet, other workbook as listed, sheet there).
    """

    sheets: dict[str, int] = field(default_factory=dict)
    edges: Counter[Edge] = field(default_factory=Counter)
    array_edges: Counter[Edge] = field(default_factory=Counter)
    shared_edges: Counter[Edge] = field(default_factory=Counter)
    cells: int = 0
    array_cells: int = 0
    shared_cells: int = 0
    external: Counter[tuple[str, str, str]] = field(default_factory=Counter)


@dataclass
class _Book:
    tabs: list[str] = field(default_factory=list)
    parts: dict[str, str] = field(default_factory=dict)  # sheet -> part, worksheets only
    names: dict[tuple[str, str], str] = field(default_factory=dict)  # (scope, name) -> text
    tables: dict[str, str] = field(default_factory=dict)  # table -> sheet
    others: list[str] = field(default_factory=list)  # other workbooks, [1] first


def count_edges(path: Path) -> RawCount:
    """Return the formula edges of one xlsx file."""
    count = RawCount()
    with zipfile.ZipFile(path) as archive:
        book = _read_book(archive)
        for sheet, part in book.parts.items():
            _count_sheet(archive.read(part), sheet, book, count)
    return count


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _relationships(
    archive: zipfile.ZipFile, part: str, *, raw: bool = False
) -> dict[str, tuple[str, str]]:
    folder, name = posixpath.split(part)
    try:
        text = archive.read(f"{folder}/_rels/{name}.rels")
    except KeyError:
        return {}
    found = {}
    for each in ElementTree.fromstring(text):
        target = each.get("Target", "")
        whole = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
        kind = each.get("Type", "").rpartition("/")[2]
        found[each.get("Id", "")] = (kind, target if raw else posixpath.normpath(whole))
    return found


def _read_book(archive: zipfile.ZipFile) -> _Book:
    book = _Book()
    root = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    relationships = _relationships(archive, "xl/workbook.xml")
    for element in root.iter():
        if _tag(element) == "sheet":
            name = element.get("name", "")
            book.tabs.append(name)
            identity = next(v for k, v in element.attrib.items() if k.endswith("}id"))
            kind, part = relationships[identity]
            if kind == "worksheet":
                book.parts[name] = part
    for element in root.iter():
        if _tag(element) == "definedName":
            local = element.get("localSheetId")
            scope = book.tabs[int(local)].lower() if local is not None else ""
            book.names[scope, element.get("name", "").lower()] = element.text or ""
        if _tag(element) == "externalReference":
            identity = next(v for k, v in element.attrib.items() if k.endswith("}id"))
            targets = _relationships(archive, relationships[identity][1], raw=True)
            book.others.append(next((unquote(target) for _, target in targets.values()), ""))
    for sheet, part in book.parts.items():
        for kind, target in _relationships(archive, part).values():
            if kind == "table":
                table = ElementTree.fromstring(archive.read(target))
                book.tables[table.get("displayName", "").lower()] = sheet
    return book


def _count_sheet(xml: bytes, sheet: str, book: _Book, count: RawCount) -> None:
    masters: dict[str, set[str]] = {}
    filled = 0
    for cell in ElementTree.fromstring(xml).iter():
        if _tag(cell) != "c":
            continue
        children = {_tag(child): child for child in cell}
        filled += bool(children)
        formula = children.get("f")
        if formula is None:
            continue
        kind, group, text = formula.get("t", "normal"), formula.get("si", ""), formula.text or ""
        if kind == "shared" and not text:
            sheets = masters.get(group, set())
        elif text:
            sheets = _sheets_of(text, sheet, book)
        else:
            continue  # a data table, or a cell that an array formula fills
        if kind == "shared" and text:
            masters[group] = sheets
        cells = _cells(formula.get("ref", "")) if kind == "array" else 1
        count.cells += cells
        count.array_cells += cells if kind == "array" else 0
        count.shared_cells += kind == "shared"
        for target in sheets:
            if target.startswith("["):
                number, _, there = target[1:].partition("]")
                count.external[sheet, book.others[int(number) - 1], there] += cells
                continue
            count.edges[sheet, target] += cells
            if kind == "array":
                count.array_edges[sheet, target] += cells
            elif kind == "shared":
                count.shared_edges[sheet, target] += 1
    count.sheets[sheet] = filled


def _cells(ref: str) -> int:
    corners = []
    for corner in ref.split(":"):
        column = 0
        for letter in corner:
            if letter.isalpha():
                column = column * 26 + ord(letter) - 64
        corners.append((int("".join(c for c in corner if c.isdigit())), column))
    (top, left), (bottom, right) = corners[0], corners[-1]
    return (abs(bottom - top) + 1) * (abs(right - left) + 1)


def _sheets_of(text: str, own: str, book: _Book, depth: int = 0) -> set[str]:
    """Return the other sheets that a formula reads; `[1]About` in other workbooks."""
    found: set[str] = set()
    if depth > 8:
        return found
    for qualifier, word in _operands(text):
        if qualifier is None:
            key = word.partition("[")[0].lower()
            defined = book.names.get((own.lower(), key)) or book.names.get(("", key))
            if defined is not None:
                found |= _sheets_of(defined, own, book, depth + 1)
            elif key in book.tables:
                found.add(book.tables[key])
        elif qualifier.startswith("["):
            found.add(qualifier)
        else:
            found |= _qualified(qualifier, word, own, book, depth)
    return {sheet for sheet in found if sheet.lower() != own.lower()}


def _qualified(qualifier: str, word: str, own: str, book: _Book, depth: int) -> set[str]:
    first, _, last = qualifier.lower().partition(":")
    if word.startswith("#"):  # Q1!#REF!
        return set()
    defined = book.names.get((first, word.lower()))
    if defined is not None:
        return _sheets_of(defined, own, book, depth + 1)
    lower = [tab.lower() for tab in book.tabs]
    if first not in lower or (last and last not in lower):
        return set()
    start, end = lower.index(first), lower.index(last or first)
    return set(book.tabs[min(start, end) : max(start, end) + 1])


def _operands(text: str) -> list[tuple[str | None, str]]:
    """Return (text before a "!", word after it), and (None, word) for other words."""
    found: list[tuple[str | None, str]] = []
    place, word, quoted = 0, "", None
    while place <= len(text):
        letter = text[place] if place < len(text) else ","
        if letter == "'":
            name, place = _until_quote(text, place, "'")
            quoted = word + name
            word = ""
        elif letter == "[":
            end = _closing_bracket(text, place)
            word += text[place:end]
            place = end
        elif letter == "!":
            qualifier = quoted if quoted is not None else word
            word, quoted, place = "", None, place + 1
            rest = place
            while rest < len(text) and text[rest] not in _STOPS | set("'[!:"):
                rest += 1
            found.append(
                (
                    qualifier.rpartition(":")[2] if _ranged(qualifier) else qualifier,
                    text[place:rest],
                )
            )
            place = rest
            word = ""
        elif letter in _STOPS:
            if word and letter != "(":
                found += [(None, part) for part in word.split(":")]
            word, quoted = "", None
            if letter == '"':
                string, place = _until_quote(text, place, '"')
                if text[:place].upper().rstrip().endswith(f'INDIRECT("{string.upper()}"'):
                    found += _operands(string)
            else:
                place += 1
        else:
            word += letter
            place += 1
    return found


def _ranged(qualifier: str) -> bool:
    """True for ":Q1", the tail of Q1!A1:Q1!B9."""
    return qualifier.startswith(":")


def _until_quote(text: str, start: int, quote: str) -> tuple[str, int]:
    """Return the text between quotes, with doubled ones undone, and the place after it."""
    content, place = "", start + 1
    while place < len(text):
        if text[place] == quote:
            if text[place + 1 : place + 2] != quote:
                return content, place + 1
            place += 1
        content += text[place]
        place += 1
    return content, place


def _closing_bracket(text: str, start: int) -> int:
    """Return the place after the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "[") - (text[place] == "]")
        if depth == 0:
            return place + 1
    return len(text)
