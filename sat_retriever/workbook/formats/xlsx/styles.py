"""Number formats of the cell styles in an xlsx, as far as they show more than digits."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from openpyxl.styles.numbers import BUILTIN_FORMATS

from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.package import Attributes, BadXmlError, Package
from sat_retriever.workbook.values.cellformats import MAX_FORMATS
from sat_retriever.workbook.values.numberformat import PLAIN, NumberFormat, number_format

_MAX_STYLES = 65_536
_MAX_NAMED = 4_000  # styles that the byte search looks for


@dataclass(frozen=True, slots=True)
class Styles:
    """The cell styles whose number formats show more than digits.

    Attributes:
        shown: What each of the formats shows.
        codes: Position in `shown`, from 1 on, by the number of a style.
    """

    shown: tuple[NumberFormat, ...] = ()
    codes: dict[str, int] = field(default_factory=dict)

    def cells(self) -> re.Pattern[bytes] | None:
        """Pattern of a number with one of the styles: letters, row and style; None without any."""
        if not self.codes:
            return None
        ends: dict[str, str] = {}  # last digits by those before them, which is fast to search
        for style in list(self.codes)[:_MAX_NAMED]:
            ends[style[:-1]] = ends.get(style[:-1], "") + style[-1]
        numbers = "|".join(f"{begin}[{digits}]" for begin, digits in ends.items())
        number = '(?: t="n"| [cv]m="[0-9]+")*'
        cell = f'<c r="([A-Z]{{1,3}})([1-9][0-9]{{0,6}})"(?: t="n")? s="({numbers})"{number}>'
        return re.compile(rf"{cell}\s*<[vf]".encode())


NO_STYLES = Styles()


def read_styles(package: Package, part: str) -> Styles:
    """The styles of a workbook, as far as its part of styles can be read."""
    reader = _StylesPart()
    try:
        package.each(part, reader.visit)
    except (BadXmlError, Refused):  # then numbers have no units; the values are read all the same
        return NO_STYLES
    return reader.styles()


class _StylesPart:
    """Collector of format codes and of the formats of cell styles."""

    def __init__(self) -> None:
        self._named: dict[str, str] = {}
        self._used: list[str] = []
        self._within = ""

    def visit(self, tag: str, attributes: Attributes) -> None:
        """Take an element."""
        if tag in ("numFmts", "cellStyleXfs", "cellXfs", "cellStyles", "dxfs"):
            self._within = tag
        elif len(self._named) + len(self._used) >= _MAX_STYLES:
            return
        elif tag == "numFmt" and self._within == "numFmts":
            self._named[attributes.get("numFmtId", "")] = attributes.get("formatCode", "")
        elif tag == "xf" and self._within == "cellXfs":
            self._used.append(attributes.get("numFmtId", "0"))

    def styles(self) -> Styles:
        """The styles that were found."""
        meant = {number: self._shown(number) for number in dict.fromkeys(self._used)}
        places: dict[NumberFormat, int] = {}
        codes: dict[str, int] = {}
        for style, number in enumerate(self._used):
            shown = meant[number]
            if shown != PLAIN and (shown in places or len(places) < MAX_FORMATS):
                codes[str(style)] = places.setdefault(shown, len(places) + 1)
        return Styles(tuple(places), codes)

    def _shown(self, number: str) -> NumberFormat:
        code = self._named.get(number)
        if code is None:
            code = BUILTIN_FORMATS.get(int(number) if number.isdecimal() else -1, "")
        return number_format(code)
