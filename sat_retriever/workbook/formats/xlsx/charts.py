"""Charts and shapes that are drawn on a sheet: the charts' data sources, and all their texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sat_retriever.records.area import MAX_COLUMN, MAX_ROW, column_letters
from sat_retriever.records.contents import CellText, TextKind
from sat_retriever.records.structure import DataSource, SourceKind
from sat_retriever.workbook.formats.formulas import MAX_TEXT
from sat_retriever.workbook.formats.xlsx.smallpart import PartReader, read_part
from sat_retriever.workbook.limits import Budget, Refused
from sat_retriever.workbook.opening.package import Attributes, Package, count_in, local_names

MAX_CHARTS = 256  # per sheet
_ANCHORS = ("twoCellAnchor", "oneCellAnchor", "absoluteAnchor")
_MAX_NAME = 60
_FIRST = "A1"  # where a drawing is that is placed by lengths alone
MAX_CHART_SOURCES = 512  # per sheet
_MAX_DRAWINGS = 16  # per sheet; programs write one
_CHARTS = ("chart", "chartEx")
_REFERENCES = ("f", "sqref")  # the latter is for a series with filtered rows


@dataclass(frozen=True, slots=True)
class Frame:
    """The name of a chart, and the cell under its top left corner."""

    name: str = ""
    cell: str = _FIRST


class DrawingReader(PartReader):
    """Reader of a drawing part; `frames` are those of charts by the id of their relationship.

    Without `linked` it leaves out the shapes that show the text of a cell.
    """

    tags = frozenset((*_ANCHORS, *"Fallback from col row cNvPr chart sp t p br".split()))

    def __init__(self, *, linked: bool) -> None:
        super().__init__()
        self.frames: dict[str, Frame] = {}
        self.shapes: list[CellText] = []
        self._linked = linked
        self._name, self._cell = "", _FIRST
        self._place: dict[str, int] = {}
        self._from = False
        self._pieces: list[str] | None = None  # of a shape's text
        self._fallbacks = 0  # what programs show that do not know a newer part: no text of it

    def begin(self, tag: str, attributes: Attributes) -> None:
        """Handle the start of an element."""
        if self._fallbacks or tag == "Fallback":
            self._fallbacks += tag == "Fallback"
        elif tag in _ANCHORS:
            self._cell = _FIRST
        elif tag == "from":
            self._from, self._place = True, {}
        elif tag in ("col", "row") and self._from:
            self.hold()
        elif tag == "cNvPr":
            self._name = attributes.get("name", "")[:_MAX_NAME]
        elif tag == "chart" and len(self.frames) < MAX_CHARTS:
            identity = local_names(attributes).get("id", "")
            self.frames.setdefault(identity, Frame(self._name, self._cell))
        elif tag == "sp":
            self._pieces = [] if self._linked or not attributes.get("textlink") else None
        elif tag == "t" and self._pieces is not None:
            self.hold()

    def finish(self, tag: str) -> None:
        """Handle the end of an element."""
        if self._fallbacks:
            self._fallbacks -= tag == "Fallback"
        elif tag in ("col", "row") and self._from:
            self._place[tag] = count_in(self.held().strip(), 0)
        elif tag == "from":
            row, column = (self._place.get(each, 0) + 1 for each in ("row", "col"))
            self._cell = f"{column_letters(min(column, MAX_COLUMN))}{min(row, MAX_ROW)}"
            self._from = False
        elif self._pieces is None:
            return
        elif tag == "t":
            self._pieces.append(self.held())
        elif tag in ("p", "br"):
            self._pieces.append("\n")
        elif tag == "sp":
            text, self._pieces = "".join(self._pieces).strip(), None
            if text:
                self.shapes.append(CellText(self._cell, text, TextKind.SHAPE))


@dataclass(slots=True)
class Drawn:
    """What is drawn on a sheet."""

    # Sources of its charts: one for each chart and each sheet that it shows
    sources: list[DataSource] = field(default_factory=list)
    # Texts of shapes, and of each chart its titles, each at its top left cell
    texts: list[CellText] = field(default_factory=list)
    refused: Refused | None = None


def read_drawn(
    package: Package, sheet: str, sheet_part: str, budget: Budget, *, linked: bool = True
) -> Drawn:
    """The charts and shapes of a sheet; without `linked` no texts that show what a cell holds."""
    found = Drawn()
    for part, frame in _charts(package, sheet_part, budget, found, linked=linked):
        if len(found.sources) >= MAX_CHART_SOURCES:
            break
        reader = _ChartReader(linked=linked)
        _note(found, read_part(package, part, reader, budget))
        texts = shown_ranges(list(reader.references))
        found.sources += [DataSource(sheet, SourceKind.CHART, text, frame.name) for text in texts]
        if reader.titles:
            title = "; ".join(dict.fromkeys(reader.titles))
            found.texts.append(CellText(frame.cell, title, TextKind.CHART))
    found.sources = found.sources[:MAX_CHART_SOURCES]
    return found


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


def _charts(
    package: Package, sheet_part: str, budget: Budget, found: Drawn, *, linked: bool
) -> Iterator[tuple[str, Frame]]:
    links = package.relationships(sheet_part).values()
    drawings = dict.fromkeys(x.target for x in links if x.type == "drawing" and not x.external)
    charts = 0
    for drawing in list(drawings)[:_MAX_DRAWINGS]:
        reader = DrawingReader(linked=linked)
        _note(found, read_part(package, drawing, reader, budget))
        found.texts += reader.shapes
        try:
            own = package.relationships(drawing)
        except Refused as refused:
            _note(found, refused)
            continue
        for link in own.values():
            if link.type in _CHARTS and not link.external and charts < MAX_CHARTS:
                charts += 1
                yield link.target, reader.frames.get(link.id, Frame())


def _note(found: Drawn, refused: Refused | None) -> None:
    found.refused = found.refused or refused


class _ChartReader(PartReader):
    """Reader of a chart part's references and titles, written there or saved as a cell's text."""

    tags = frozenset((*_REFERENCES, *"title t v p br".split()))

    def __init__(self, *, linked: bool) -> None:
        super().__init__()
        self.references: dict[str, None] = {}
        self.titles: list[str] = []
        self._linked = linked
        self._written: list[str] | None = None  # of the present title
        self._saved: list[str] = []

    def begin(self, tag: str, attributes: Attributes) -> None:
        if tag == "title":
            self._written, self._saved = [], []
        elif tag in _REFERENCES or (tag in ("t", "v") and self._written is not None):
            self.hold()

    def finish(self, tag: str) -> None:
        if tag in _REFERENCES:
            text = self.held().strip().removeprefix("=")
            if text and len(text) <= MAX_TEXT and len(self.references) < 4 * MAX_CHART_SOURCES:
                self.references.setdefault(text)
        elif self._written is None:
            return
        elif tag == "t":
            self._written.append(self.held())
        elif tag == "v" and self._linked:
            self._saved.append(self.held())
        elif tag in ("p", "br"):
            self._written.append("\n")
        elif tag == "title":
            text = "".join(self._written).strip() or " ".join(self._saved).strip()
            self._written = None
            if text:
                self.titles.append(text)
