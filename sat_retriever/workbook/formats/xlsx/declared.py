"""Declarations after the rows of a worksheet part: lists of choices and consolidations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sat_retriever.links.formula.scope import decoded
from sat_retriever.records.area import area_of
from sat_retriever.records.structure import DataSource, SourceKind
from sat_retriever.workbook.formats.reftext import MAX_TEXT, reference_text
from sat_retriever.workbook.opening.package import Attributes, Relationship, local

MAX_SOURCES = 256  # per kind and sheet
_MAX_PLACE = 60
_FORMULA = ("formula1", "f")
_MAX_STARTED = 1 << 16  # characters of a formula or place that are held while parsing


@dataclass(frozen=True, slots=True)
class RawSource:
    """A data source whose workbook is not yet resolved from the id of a relationship.

    Attributes:
        kind: Kind of the part that shows it.
        area: Range as written, or the whole reference if there is no sheet.
        sheet: Sheet of the range.
        name: A name instead of a range.
        place: Place on the sheet.
        relation: Id of the relationship that names another workbook.
    """

    kind: SourceKind
    area: str = ""
    sheet: str = ""
    name: str = ""
    place: str = ""
    relation: str = ""

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
    """Expat handlers for the elements after the rows, called with local names.

    Attributes:
        sources: Sources found so far, each list of choices once.
    """

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
            self._is_list = _plain(attributes).get("type") == "list"
            self._parts, self._held = {"sqref": [_plain(attributes).get("sqref", "")]}, 0
        elif tag == "dataRef":
            self._consolidate(_plain(attributes))
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

    def _consolidate(self, attributes: Attributes) -> None:
        self._consolidated += 1
        if self._consolidated > MAX_SOURCES:
            return
        source = raw_source(SourceKind.CONSOLIDATION, attributes)
        self.sources.append(source)


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


def _plain(attributes: Attributes) -> Attributes:
    return {local(key): value for key, value in attributes.items()}
