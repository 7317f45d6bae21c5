"""Data sources that a sheet declares: lists of choices, consolidations, pivot tables."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from sat_retriever.links.formula.external import decoded
from sat_retriever.records.area import area_of
from sat_retriever.records.structure import DataSource, SourceKind
from sat_retriever.workbook.formats.formulas import MAX_TEXT, reference_text
from sat_retriever.workbook.opening.package import (
    Attributes,
    BadXmlError,
    Package,
    Relationship,
    local_names,
)

MAX_SOURCES = 256  # per kind and sheet
_MAX_PLACE = 60
_FORMULA = ("formula1", "f")
_MAX_STARTED = 1 << 16  # characters of a formula or place that are held while parsing
_SOURCES = ("worksheetSource", "rangeSet")
_MAX_PIVOTS = 256  # per sheet
_MAX_NAME = 60


@dataclass(frozen=True, slots=True)
class RawSource:
    """A data source whose workbook is not yet resolved from the id of a relationship."""

    kind: SourceKind
    area: str = ""  # range as written, or the whole reference if there is no sheet
    sheet: str = ""
    name: str = ""  # A name instead of a range
    place: str = ""
    relation: str = ""  # id of the relationship that names another workbook

    def text(self, links: Mapping[str, Relationship]) -> str:
        """The reference as in a formula; empty if it has no target."""
        link = links.get(self.relation)
        if self.relation and link is None:
            return ""
        workbook = decoded(link.target) if link else ""
        place = self.name or self.area
        return reference_text(place, self.sheet, workbook=workbook) if place else ""


def data_sources(
    sheet: str, raw: list[RawSource], links: Mapping[str, Relationship]
) -> list[DataSource]:
    """The distinct sources of a sheet, with resolved references."""
    found: dict[tuple[SourceKind, str], DataSource] = {}
    for each in raw:
        text = each.text(links)
        if text and len(text) <= MAX_TEXT:
            found.setdefault((each.kind, text), DataSource(sheet, each.kind, text, each.place))
    return list(found.values())


@dataclass(slots=True)
class DeclaredParts:
    """Expat handlers for the elements after the rows, called with local names."""

    sources: list[RawSource] = field(default_factory=list)
    _is_list: bool = False
    _reading: str = ""
    _held: int = 0
    _parts: dict[str, list[str]] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    _consolidated: int = 0

    def start(self, tag: str, attributes: Attributes) -> bool:
        """Handle the start of an element; return True if its text is needed."""
        if tag == "dataValidation":
            plain = local_names(attributes)
            self._is_list = plain.get("type") == "list"
            self._parts, self._held = {"sqref": [plain.get("sqref", "")]}, 0
        elif tag == "dataRef":
            self._consolidated += 1
            if self._consolidated <= MAX_SOURCES:
                self.sources.append(raw_source(SourceKind.CONSOLIDATION, local_names(attributes)))
        elif self._is_list and (tag in _FORMULA or tag == "sqref"):
            self._reading = "sqref" if tag == "sqref" else "formula"
            return True
        return False

    def text(self, text: str) -> None:
        """Handle characters of an element whose text is needed."""
        if self._reading and self._held < _MAX_STARTED:
            self._held += len(text)
            self._parts.setdefault(self._reading, []).append(text)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        if tag == "dataValidation":
            if self._is_list:
                self._choices()
            self._is_list = False
        elif tag in _FORMULA or tag == "sqref":
            self._reading = ""

    def _choices(self) -> None:
        """Keep a list of choices if it may be on another sheet."""
        text = "".join(self._parts.get("formula", ())).strip().removeprefix("=")
        if not text or len(text) > MAX_TEXT or text.startswith('"') or text in self._known:
            return
        if area_of(text) is not None or len(self._known) >= MAX_SOURCES:
            return
        self._known.add(text)
        cells = "".join(self._parts["sqref"]).split()
        place = cells[0][:_MAX_PLACE] if cells else ""
        self.sources.append(RawSource(SourceKind.VALIDATION, area=text, place=place))


def raw_source(kind: SourceKind, attributes: Attributes, place: str = "") -> RawSource:
    """The source given by `ref`, `sheet`, `name` and `id` of an element."""
    return RawSource(
        kind,
        area=attributes.get("ref", ""),
        sheet=attributes.get("sheet", ""),
        name=attributes.get("name", ""),
        place=place,
        relation=attributes.get("id", ""),
    )


class _EnoughError(Exception):
    """Signal that the rest of a part is long and has no source."""


def pivot_sources(package: Package, sheet: str, sheet_part: str) -> tuple[DataSource, ...]:
    """Sources of the pivot tables of a sheet, including consolidated ranges and other workbooks."""
    found: list[DataSource] = []
    pivots = [
        link.target
        for link in package.relationships(sheet_part).values()
        if link.type == "pivotTable" and not link.external
    ]
    for part in pivots[:_MAX_PIVOTS]:
        name = _pivot_name(package, part)
        for cache in package.relationships(part).values():
            if cache.type == "pivotCacheDefinition" and not cache.external:
                raw = _cache_sources(package, cache.target, name)
                found += data_sources(sheet, raw, package.relationships(cache.target))
    return tuple(dict.fromkeys(found))[:MAX_SOURCES]


def _pivot_name(package: Package, part: str) -> str:
    names: list[str] = []

    def visit(_tag: str, attributes: Attributes) -> None:
        names.append(attributes.get("name", "")[:_MAX_NAME])
        raise _EnoughError

    with suppress(_EnoughError, BadXmlError):
        package.each(part, visit)
    return names[0] if names else ""


def _cache_sources(package: Package, part: str, place: str) -> list[RawSource]:
    found: list[RawSource] = []

    def visit(tag: str, attributes: Attributes) -> None:
        if tag in _SOURCES and len(found) < MAX_SOURCES:
            found.append(raw_source(SourceKind.PIVOT, local_names(attributes), place))
        elif tag == "cacheFields":
            raise _EnoughError

    with suppress(_EnoughError, BadXmlError):
        package.each(part, visit)
    return found
