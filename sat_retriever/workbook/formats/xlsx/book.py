"""Sheets, declared structure and cell styles in the package of an xlsx, xlsm or xltx."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from openpyxl.styles.numbers import BUILTIN_FORMATS

from sat_retriever.records.area import Area, area_of
from sat_retriever.records.sheets import SkipReason, Visibility
from sat_retriever.records.structure import DefinedName, External, TableObject
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.package import (
    Attributes,
    BadXmlError,
    Package,
    Relationship,
    feed,
    guarded_parser,
    local,
    local_names,
)
from sat_retriever.workbook.values.grid import MAX_FORMATS
from sat_retriever.workbook.values.numberformat import PLAIN, NumberFormat, number_format
from sat_retriever.workbook.values.read import ListedSheet

_MAX_STYLES = 65_536
_MAX_NAMED = 4_000  # styles that the byte search looks for
_MAIN_TYPE = "officeDocument"
_STYLES_TYPE = "styles"
_OF_COUNTRY = ("14", "22")  # short dates, which each reader's Excel writes as in their country
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_NO_CELLS = {
    "chartsheet": "chart sheet",
    "dialogsheet": "dialog sheet",
}
_STATES = {"hidden": Visibility.HIDDEN, "veryHidden": Visibility.VERY_HIDDEN}


@dataclass(frozen=True, slots=True)
class Styles:
    """The cell styles whose number formats show more than digits."""

    shown: tuple[NumberFormat, ...] = ()
    # Position in `shown`, from 1 on, by the number of a style
    codes: dict[str, int] = field(default_factory=dict)
    # Cells whose texts are asked for, of numbers and of texts; None for the units of all numbers
    area: Area | None = None

    def tells(self, kind: str) -> bool:
        """True if the format of a cell of some type counts."""
        return kind in (("", "n", "s", "str", "inlineStr") if self.area else ("", "n"))

    def sign(self) -> re.Pattern[bytes] | None:
        """Pattern of one of the styles in the tag of a cell with content; None without any."""
        if not self.codes:
            return None
        ends: dict[str, str] = {}  # last digits by those before them, which is fast to search
        for style in list(self.codes)[:_MAX_NAMED]:
            ends[style[:-1]] = ends.get(style[:-1], "") + style[-1]
        numbers = "|".join(f"{begin}[{digits}]" for begin, digits in ends.items())
        kinds, held = ("n|s|str|inlineStr", "[vfi]") if self.area else ("n", "[vf]")
        tag = rf'" s="({numbers})"(?: t="(?:{kinds})"| [cv]m="[0-9]+")*>\s*<{held}'
        return re.compile(tag.encode())


NO_STYLES = Styles()


def read_styles(package: Package, part: str, area: Area | None = None) -> Styles:
    """The styles of a workbook, as far as its part of styles can be read.

    Args:
        area: Cells whose texts are asked for; None for the units of numbers.
    """
    reader = _StylesPart()
    try:
        package.each(part, reader.visit)
    except (BadXmlError, Refused):  # then numbers have no units; the values are read all the same
        return NO_STYLES
    return reader.styles(area)


class _StylesPart:
    def __init__(self) -> None:
        self._named: dict[str, str] = {}
        self._used: list[str] = []
        self._within = ""

    def visit(self, tag: str, attributes: Attributes) -> None:
        if tag in ("numFmts", "cellStyleXfs", "cellXfs", "cellStyles", "dxfs"):
            self._within = tag
        elif len(self._named) + len(self._used) >= _MAX_STYLES:
            return
        elif tag == "numFmt" and self._within == "numFmts":
            self._named[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif tag == "xf" and self._within == "cellXfs":
            self._used.append(attributes.get("numFmtId", "0"))

    def styles(self, area: Area | None) -> Styles:
        read = self._unit if area is None else self._text
        meant = {number: read(number) for number in dict.fromkeys(self._used)}
        places: dict[NumberFormat, int] = {}
        codes: dict[str, int] = {}
        for style, number in enumerate(self._used):
            shown = meant[number]
            if shown != PLAIN and (shown in places or len(places) < MAX_FORMATS):
                codes[str(style)] = places.setdefault(shown, len(places) + 1)
        return Styles(tuple(places), codes, area)

    def _unit(self, number: str) -> NumberFormat:
        return number_format(self._code(number))

    def _text(self, number: str) -> NumberFormat:
        code = self._code(number)
        if code in ("General", "@") or (number in _OF_COUNTRY and number not in self._named):
            return PLAIN
        return NumberFormat(code=code)

    def _code(self, number: str) -> str:
        code = self._named.get(number)
        if code is None:
            code = BUILTIN_FORMATS.get(int(number) if number.isdecimal() else -1, "")
        return code


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of the workbook part and the small parts around it."""

    sheets: tuple[ListedSheet, ...]
    names: tuple[DefinedName, ...] = ()
    externals: tuple[External, ...] = ()
    date_1904: bool = False
    styles: Styles = NO_STYLES


def main_part(package: Package) -> str:
    """Name of the workbook part."""
    for relationship in package.relationships("").values():
        if relationship.type == _MAIN_TYPE and relationship.target in package:
            return relationship.target
    if "xl/workbook.xml" in package:
        return "xl/workbook.xml"
    raise Refused(SkipReason.DAMAGED, "The package has no workbook part.")


def read_contents(package: Package, shown: Area | None = None) -> Contents:
    """Sheets, names, externals, date system and styles of a workbook.

    Args:
        shown: Cells whose texts are asked for; None for the units of numbers.
    """
    part = main_part(package)
    links = package.relationships(part)
    reader = _WorkbookPart()
    parser = guarded_parser(part)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        feed(parser, package.chunks(part))
    except BadXmlError as error:
        if not reader.sheets:
            message = f"The workbook part cannot be read: {error}."
            raise Refused(SkipReason.DAMAGED, message) from error
    sheets = tuple(_sheet_part(attributes, links) for attributes in reader.sheets)
    names = tuple(_defined_name(attributes, text, sheets) for attributes, text in reader.names)
    externals = _externals(package, reader.externals, links)
    of_styles = [link.target for link in links.values() if link.type == _STYLES_TYPE]
    styles = read_styles(package, of_styles[0], shown) if of_styles else NO_STYLES
    return Contents(sheets, names, externals, reader.date_1904, styles)


def table_objects(package: Package, sheet_part: str) -> tuple[TableObject, ...]:
    """Table objects of a sheet, in relationship order; damaged ones are left out."""
    found = []
    for relationship in package.relationships(sheet_part).values():
        if relationship.type != "table" or relationship.external:
            continue
        table = _table_object(package, relationship.target)
        if table is not None:
            found.append(table)
    return tuple(found)


class _WorkbookPart:
    def __init__(self) -> None:
        self.sheets: list[Attributes] = []
        self.names: list[tuple[Attributes, str]] = []
        self.externals: list[str] = []
        self.date_1904 = False
        self._name: Attributes | None = None
        self._text: list[str] = []

    def start(self, name: str, attributes: Attributes) -> None:
        tag = local(name)
        plain = local_names(attributes)
        if tag == "sheet":
            self.sheets.append(plain)
        elif tag == "definedName":
            self._name, self._text = plain, []
        elif tag == "externalReference":
            self.externals.append(plain.get("id", ""))
        elif tag == "workbookPr":
            self.date_1904 = plain.get("date1904", "") in ("1", "true", "on")

    def text(self, text: str) -> None:
        if self._name is not None:
            self._text.append(text)

    def end(self, name: str) -> None:
        if self._name is not None and local(name) == "definedName":
            self.names.append((self._name, "".join(self._text).strip()))
            self._name = None


def _sheet_part(attributes: Attributes, links: dict[str, Relationship]) -> ListedSheet:
    link = links.get(attributes.get("id", ""))
    return ListedSheet(
        name=attributes.get("name", ""),
        part=link.target if link and not link.external else "",
        visibility=_STATES.get(attributes.get("state", ""), Visibility.VISIBLE),
        other=_NO_CELLS.get(link.type, "") if link else "",
    )


def _defined_name(
    attributes: Attributes, text: str, sheets: tuple[ListedSheet, ...]
) -> DefinedName:
    scope = attributes.get("localSheetId", "")
    index = int(scope) if scope.isascii() and scope.isdigit() else -1
    return DefinedName(
        name=attributes.get("name", ""),
        text=text.removeprefix("="),
        sheet=sheets[index].name if 0 <= index < len(sheets) else None,
        hidden=attributes.get("hidden", "") in ("1", "true"),
    )


def _externals(
    package: Package, identities: list[str], links: dict[str, Relationship]
) -> tuple[External, ...]:
    found = []
    for index, identity in enumerate(identities, start=1):
        link = links.get(identity)
        if link is None:
            continue
        paths = [
            to.target
            for to in package.relationships(link.target).values()
            if to.type in ("externalLinkPath", "xlPathMissing") or to.external
        ]
        if paths:
            found.append(External(index, paths[0]))
    return tuple(found)


def unescaped(text: str) -> str:
    r"""A text with the characters that `_xHHHH_` escapes stand for.

    >>> unescaped("Total_x000a_score")
    'Total\nscore'
    """
    return _ESCAPED.sub(_character, text)


def _character(escaped: re.Match[str]) -> str:
    """The character of an escape; a blank for one that no text holds, such as a lone surrogate."""
    character = chr(int(escaped[1], 16))
    return character if character.isprintable() or character.isspace() else " "


def _table_object(package: Package, part: str) -> TableObject | None:
    table: Attributes = {}
    columns: list[str] = []

    def visit(tag: str, attributes: Attributes) -> None:
        if tag == "table":
            table.update(attributes)
        elif tag == "tableColumn":
            columns.append(unescaped(attributes.get("name", "")))

    try:
        package.each(part, visit)
    except BadXmlError:
        return None
    area = area_of(table.get("ref", ""))
    if area is None:
        return None
    return TableObject(
        name=table.get("displayName") or table.get("name", ""),
        area=area,
        header_rows=0 if table.get("headerRowCount") == "0" else 1,
        total_rows=1 if table.get("totalsRowCount", "0") not in ("", "0") else 0,
        columns=tuple(columns),
    )
