"""Answer of `search_cells`: the cells that hold a value."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.records.contents import TextKind
from sat_retriever.tools.cells import cell_text, one_line
from sat_retriever.tools.results.result import ToolResult
from sat_retriever.workbook.window import CellValue


@dataclass(frozen=True, slots=True)
class CellHit:
    """One cell: its citation and its value, a long text cut, and what holds it if no cell does."""

    citation: str
    value: CellValue
    kind: TextKind = TextKind.CELL

    @property
    def place(self) -> str:
        """Its citation, with what is there if that is no cell."""
        return self.kind.at(self.citation)


@dataclass(frozen=True, slots=True)
class FoundCells(ToolResult):
    """Answer of `search_cells`.

    Attributes:
        text: What was searched for.
        cells: The cells that hold it.
        complete: True if these are all such cells of what was searched.
        note: Further information for the reader; empty if there is none.
    """

    text: str
    cells: tuple[CellHit, ...]
    complete: bool
    note: str

    def __str__(self) -> str:
        lines = [f"{one_line(each.place)}: {cell_text(each.value)}" for each in self.cells]
        lines = lines or [f"No cell has {one_line(self.text)!r}."]
        return "\n".join([*lines, *([self.note] if self.note else [])])
