"""Contents of a sheet: the texts of its cells, each with its place, and its role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ContentsPolicy(StrEnum):
    """How much of its sheets' cells an index keeps."""

    NAMES = "names"
    """Names, headers and shape alone: the paper's metadata."""
    EXAMPLES = "examples"
    """Beside these an example and the unit of each column."""
    ALL = "all"
    """Beside these the texts of the cells: notes, row labels, distinct values."""


class Role(StrEnum):
    """Purpose of a sheet."""

    DATA = "data"
    """Records, measured or entered."""
    DOCUMENTATION = "documentation"
    """Prose: what the workbook's other sheets mean, where their data comes from."""
    COVER = "cover"
    """A title page or a list of the workbook's sheets."""
    LOOKUP = "lookup"
    """A short list of codes or names that other sheets choose from."""
    CHART = "chart"
    """Charts or pivot tables over the data of other sheets."""
    CALCULATION = "calculation"
    """Mostly formulas over other cells."""


class TextKind(StrEnum):
    """Part of a sheet that holds a text."""

    CELL = "cell"
    """A cell."""
    COMMENT = "comment"
    """A comment or note on a cell."""
    SHAPE = "shape"
    """A text box or another shape over the cells."""
    CHART = "chart"
    """The titles of a chart."""

    def at(self, place: str) -> str:
        """Where a text stands, in words if that is no cell.

        >>> TextKind.CELL.at("B7"), TextKind.COMMENT.at("B7")
        ('B7', 'comment at B7')
        """
        return place if self is TextKind.CELL else f"{self} at {place}"


@dataclass(frozen=True, slots=True)
class CellText:
    """A text on one line, and where it stands.

    Attributes:
        cell: A1 address of the first cell that holds it, for example "B7"; of a comment the cell
            that it is on, of a shape or chart the cell under its top left corner.
    """

    cell: str
    text: str
    kind: TextKind = TextKind.CELL

    @property
    def place(self) -> str:
        """`TextKind.at` of its cell."""
        return self.kind.at(self.cell)

    @property
    def is_on_cell(self) -> bool:
        """True if it is about its cell: the cell's own text, or a comment on it."""
        return self.kind in (TextKind.CELL, TextKind.COMMENT)


@dataclass(frozen=True, slots=True)
class TableContents:
    """Texts of one table of a sheet.

    Attributes:
        caption: The title above or below it.
        labels: Distinct texts of its first text columns, which name its rows, top down.
        values: Distinct texts and codes of its other columns, column by column.
    """

    caption: CellText | None = None
    labels: tuple[CellText, ...] = ()
    values: tuple[CellText, ...] = ()

    def __iter__(self) -> Iterator[CellText]:
        if self.caption is not None:
            yield self.caption
        yield from self.labels
        yield from self.values


@dataclass(frozen=True, slots=True)
class SheetContents:
    """Texts of one sheet, bounded; beyond the bounds a fair sample of all rows.

    Attributes:
        notes: Texts outside its tables that are no table's caption, those of a page of prose,
            and those of comments, shapes and charts, top down.
        tables: Texts of its tables, in the order of `SheetRecord.tables`.
    """

    notes: tuple[CellText, ...] = ()
    tables: tuple[TableContents, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.notes) or any(True for table in self.tables for _ in table)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values: each text as [cell, text], with its kind if that is no cell.

        >>> table = TableContents(CellText("A1", "Sales"), (CellText("A3", "North"),))
        >>> SheetContents((CellText("A9", "Source: survey"),), (table,)).to_json()
        {'notes': [['A9', 'Source: survey']], 'tables': [[['A1', 'Sales'], [['A3', 'North']], []]]}
        """
        return {
            "notes": _pairs(self.notes),
            "tables": [
                [
                    None if each.caption is None else [each.caption.cell, each.caption.text],
                    _pairs(each.labels),
                    _pairs(each.values),
                ]
                for each in self.tables
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SheetContents:
        """The contents that `to_json` wrote.

        >>> found = SheetContents((CellText("A9", "Source"),), (TableContents(),))
        >>> SheetContents.from_json(found.to_json()) == found
        True
        """
        tables = tuple(
            TableContents(None if caption is None else CellText(*caption), *map(_texts, rest))
            for caption, *rest in data["tables"]
        )
        notes = (CellText(cell, text, *map(TextKind, kind)) for cell, text, *kind in data["notes"])
        return cls(tuple(notes), tables)


def _pairs(texts: Sequence[CellText]) -> list[list[str]]:
    return [
        [each.cell, each.text, *([] if each.kind is TextKind.CELL else [each.kind.value])]
        for each in texts
    ]


def _texts(pairs: Sequence[Sequence[str]]) -> tuple[CellText, ...]:
    return tuple(CellText(cell, text) for cell, text in pairs)
