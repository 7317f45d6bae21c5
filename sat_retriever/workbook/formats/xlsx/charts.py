"""Data sources of the charts of a sheet."""

from __future__ import annotations

from sat_retriever.records.structure import DataSource, SourceKind
from sat_retriever.workbook.budget import PARSED, Budget
from sat_retriever.workbook.formats.reftext import MAX_TEXT
from sat_retriever.workbook.limits import MIB
from sat_retriever.workbook.opening.package import (
    Attributes,
    BadXmlError,
    Package,
    feed,
    guarded_parser,
    local,
    too_deep,
)

MAX_CHARTS = 256  # per sheet
MAX_CHART_SOURCES = 512  # per sheet
_MAX_PART = 8 * MIB
_CHARTS = ("chart", "chartEx")
_REFERENCES = ("f", "sqref")  # the latter is for a series with filtered rows
_MAX_NAME = 60


def chart_sources(
    package: Package, sheet: str, sheet_part: str, budget: Budget
) -> tuple[DataSource, ...]:
    """Sources of the charts of a sheet: one for each chart and each sheet that it shows.

    Args:
        package: The workbook.
        sheet: Name of the sheet.
        sheet_part: Its part.
        budget: Remaining work budget.

    Raises:
        Refused: If a part declares entities or nests too deeply.
    """
    found: list[DataSource] = []
    for name, part in _charts(package, sheet_part):
        if len(found) >= MAX_CHART_SOURCES or budget.spent():
            break
        budget.xml_bytes -= PARSED * package.size(part)
        texts = shown_ranges(_texts(package, part))
        found += [DataSource(sheet, SourceKind.CHART, text, name) for text in texts]
    return tuple(found[:MAX_CHART_SOURCES])


def shown_ranges(texts: list[str]) -> list[str]:
    """One reference for each sheet or name among a chart's references, ranges before cells.

    >>> shown_ranges(["Data!$B$1", "Data!$A$2:$A$9", "Data!$B$2:$B$9", "prices"])
    ['Data!$A$2:$A$9', 'prices']
    """
    kept: dict[str, str] = {}
    for text in texts:
        key = text.rpartition("!")[0] or text
        if key not in kept or (":" in text and ":" not in kept[key]):
            kept[key] = text
    return list(kept.values())


def _charts(package: Package, sheet_part: str) -> list[tuple[str, str]]:
    """(name, part) of the charts drawn on a sheet."""
    found: list[tuple[str, str]] = []
    for drawing in package.relationships(sheet_part).values():
        if drawing.type != "drawing" or drawing.external:
            continue
        names = _names(package, drawing.target)
        for link in package.relationships(drawing.target).values():
            if link.type in _CHARTS and not link.external and len(found) < MAX_CHARTS:
                found.append((names.get(link.id, ""), link.target))
    return found


def _names(package: Package, drawing: str) -> dict[str, str]:
    """Names of the charts of a drawing by the id of their relationship."""
    found: dict[str, str] = {}
    name = ""

    def visit(tag: str, attributes: Attributes) -> None:
        nonlocal name
        if tag == "cNvPr":
            name = attributes.get("name", "")[:_MAX_NAME]
        elif tag == "chart" and len(found) < MAX_CHARTS:
            plain = {local(key): value for key, value in attributes.items()}
            found.setdefault(plain.get("id", ""), name)

    if package.size(drawing) <= _MAX_PART:
        try:
            package.each(drawing, visit)
        except BadXmlError:
            return found
    return found


def _texts(package: Package, part: str) -> list[str]:
    """Texts of a chart's references, as far as its part can be read."""
    if package.size(part) > _MAX_PART:
        return []
    reader = _ChartPart(part, package.limits.xml_depth)
    parser = guarded_parser(part, package.limits)
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        feed(parser, package.chunks(part))
    except BadXmlError:
        return list(reader.found)
    return list(reader.found)


class _ChartPart:
    """Expat handlers that collect references."""

    def __init__(self, part: str, max_depth: int) -> None:
        self.found: dict[str, None] = {}
        self._part, self._max_depth = part, max_depth
        self._depth = 0
        self._text: list[str] | None = None

    def start(self, name: str, _attributes: Attributes) -> None:
        self._depth += 1
        if self._depth > self._max_depth:
            raise too_deep(self._part)
        if local(name) in _REFERENCES:
            self._text = []

    def text(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, _name: str) -> None:
        self._depth -= 1
        if self._text is None:
            return
        text, self._text = "".join(self._text).strip().removeprefix("="), None
        if text and len(text) <= MAX_TEXT and len(self.found) < 4 * MAX_CHART_SOURCES:
            self.found.setdefault(text)
