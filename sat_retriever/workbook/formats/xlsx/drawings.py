"""Shapes with texts, and places of charts, in a drawing over the cells of a sheet."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.records.area import MAX_COLUMN, MAX_ROW, column_letters
from sat_retriever.records.contents import CellText, TextKind
from sat_retriever.workbook.formats.xlsx.smallpart import PartReader
from sat_retriever.workbook.opening.package import Attributes, local

MAX_CHARTS = 256  # per sheet
_ANCHORS = ("twoCellAnchor", "oneCellAnchor", "absoluteAnchor")
_MAX_NAME = 60
_FIRST = "A1"  # where a drawing is that is placed by lengths alone


@dataclass(frozen=True, slots=True)
class Frame:
    """The name of a chart, and the cell under its top left corner."""

    name: str = ""
    cell: str = _FIRST


class DrawingReader(PartReader):
    """Reader of a drawing part.

    Attributes:
        frames: Frames of charts by the id of their relationship.
        shapes: Texts of shapes, also of those in groups, one of each shape.

    Args:
        linked: False leaves out the shapes that show the text of a cell.
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
            plain = {local(key): value for key, value in attributes.items()}
            self.frames.setdefault(plain.get("id", ""), Frame(self._name, self._cell))
        elif tag == "sp":
            self._pieces = [] if self._linked or not attributes.get("textlink") else None
        elif tag == "t" and self._pieces is not None:
            self.hold()

    def finish(self, tag: str) -> None:
        """Handle the end of an element."""
        if self._fallbacks:
            self._fallbacks -= tag == "Fallback"
        elif tag in ("col", "row") and self._from:
            self._place[tag] = _number(self.held())
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


def _number(text: str) -> int:
    """A count of rows or columns; 0 if it is not valid."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
