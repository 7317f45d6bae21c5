"""Answer of `read_range`: cells of one sheet, row by row."""

from __future__ import annotations

from dataclasses import dataclass

from sat_retriever.records.area import area_of
from sat_retriever.tools.cells import cell_table, one_line
from sat_retriever.tools.results.result import ToolResult
from sat_retriever.workbook.window import CellValue


@dataclass(frozen=True, slots=True)
class RangeCells(ToolResult):
    """Answer of `read_range`.

    Attributes:
        sheet: Id of the sheet.
        citation: The id with the range of the returned cells.
        range: That range; empty if none of its cells are used.
        used: The sheet's used range.
        rows: The cells, row by row.
        complete: True if these are all requested cells that are used.
        note: Further information for the reader; empty if there is none.
        header: The headers of these columns, if the rows begin below their table's header.
        header_row: Number of the row of those headers; None if it is among the rows.
    """

    sheet: str
    citation: str
    range: str
    used: str
    rows: tuple[tuple[CellValue, ...], ...]
    complete: bool
    note: str
    header: tuple[CellValue, ...] = ()
    header_row: int | None = None

    def __str__(self) -> str:
        area = area_of(self.range)
        lines = [one_line(self.citation)]
        if area is not None:
            table = cell_table(
                self.rows,
                top=area.top,
                left=area.left,
                form="markdown",
                max_tokens=1 << 40,
                header=(self.header_row, self.header) if self.header_row else None,
            )
            lines += ["", table.text, ""]
        lines += [self.note] if self.note else []
        return "\n".join(lines).rstrip()
