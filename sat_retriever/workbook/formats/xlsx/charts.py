"""Charts and shapes that are drawn on a sheet: the charts' data sources, and all their texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sat_retriever.records.contents import CellText, TextKind
from sat_retriever.records.structure import DataSource, SourceKind
from sat_retriever.workbook.budget import Budget
from sat_retriever.workbook.formats.reftext import MAX_TEXT
from sat_retriever.workbook.formats.xlsx.drawings import MAX_CHARTS, DrawingReader, Frame
from sat_retriever.workbook.formats.xlsx.smallpart import PartReader, read_part
from sat_retriever.workbook.limits import Refused
from sat_retriever.workbook.opening.package import Attributes, Package

MAX_CHART_SOURCES = 512  # per sheet
_MAX_DRAWINGS = 16  # per sheet; programs write one
_CHARTS = ("chart", "chartEx")
_REFERENCES = ("f", "sqref")  # the latter is for a series with filtered rows


@dataclass(slots=True)
class Drawn:
    """What is drawn on a sheet.

    Attributes:
        sources: Sources of its charts: one for each chart and each sheet that it shows.
        texts: Texts of shapes, and of each chart its titles, each at its top left cell.
        refused: Reason why a part was not read, or not to its end; of several the first.
    """

    sources: list[DataSource] = field(default_factory=list)
    texts: list[CellText] = field(default_factory=list)
    refused: Refused | None = None


def read_drawn(
    package: Package, sheet: str, sheet_part: str, budget: Budget, *, linked: bool = True
) -> Drawn:
    """Read the charts and shapes of a sheet.

    Args:
        package: The workbook.
        sheet: Name of the sheet.
        sheet_part: Its part.
        budget: Remaining work budget.
        linked: False leaves out texts that show what a cell holds.

    Raises:
        Refused: If the sheet's relationships declare entities or nest too deeply.
    """
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
    """Yield the parts of a sheet's charts with their frames; add the texts of its shapes."""
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
    """Reader of a chart part: its references, and its titles.

    A title is written in the chart, or saved with it as the text of a cell.
    """

    tags = frozenset((*_REFERENCES, *"title t v p br".split()))

    def __init__(self, *, linked: bool) -> None:
        super().__init__()
        self.references: dict[str, None] = {}
        self.titles: list[str] = []
        self._linked = linked
        self._written: list[str] | None = None  # of the present title
        self._saved: list[str] = []

    def begin(self, tag: str, attributes: Attributes) -> None:
        """Handle the start of an element."""
        if tag == "title":
            self._written, self._saved = [], []
        elif tag in _REFERENCES or (tag in ("t", "v") and self._written is not None):
            self.hold()

    def finish(self, tag: str) -> None:
        """Handle the end of an element."""
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
