"""Answer of `describe_sheet`: the tables of one sheet with their columns, and its links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sat_retriever.records.hits import NO_COPIES, Copies
from sat_retriever.records.sheets import LeftOut, SheetRecord, Table
from sat_retriever.tools.cells import one_line
from sat_retriever.tools.results.result import ToolResult, short

_COLUMNS = 60  # shown of all tables of a sheet together
_LEFT_OUT = 20  # rows that are listed of each kind


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """One column: header, type of most cells, unit, and one cell as an example."""

    name: str
    type: str
    unit: str | None
    example: str | None


@dataclass(frozen=True, slots=True)
class DescribedTable:
    """One table of a sheet.

    Attributes:
        citation: The sheet's id with the range of the table.
        range: That range alone.
        header_row: First row of its header; None without one.
        rows: Data records.
        note: The rows that are no records, or may be none, in words; empty without any.
        left_out: The first of these rows: row, reason, first text.
        num_left_out: Number of all rows that are no records.
        doubtful: The first rows that may sum up others, but do not add up: records, unless they are
            left out, too.
        columns: Its first columns.
        more_columns: Number of its further columns.
    """

    citation: str
    range: str
    header_row: int | None
    rows: int
    columns: tuple[DescribedColumn, ...]
    more_columns: int
    note: str = ""
    left_out: tuple[LeftOut, ...] = ()
    num_left_out: int = 0
    doubtful: tuple[LeftOut, ...] = ()

    @classmethod
    def of(cls, record: SheetRecord, table: Table, most: int) -> DescribedTable:
        """Describe one table of a sheet, with at most `most` columns."""
        shown = table.columns[:most]
        return cls(
            citation=f"{record.cited}!{table.range}",
            range=table.range,
            header_row=table.header_row,
            rows=table.num_rows,
            columns=tuple(
                DescribedColumn(
                    short(c.name),
                    c.type.value,
                    short(c.unit) if c.unit else None,
                    short(c.example) if c.example else None,
                )
                for c in shown
            ),
            more_columns=len(table.columns) - len(shown),
            note=table.note,
            left_out=table.left_out[:_LEFT_OUT],
            num_left_out=table.num_left_out,
            doubtful=table.doubtful[:_LEFT_OUT],
        )

    def __str__(self) -> str:
        header = f"header in row {self.header_row}" if self.header_row else "no header row"
        lines = [f"Table {self.range}, {self.rows} rows, {header}:"]
        for column in self.columns:
            unit = f", in {column.unit}" if column.unit else ""
            example = f", such as {column.example}" if column.example else ""
            lines.append(f"- {column.name or '(no name)'}: {column.type}{unit}{example}")
        if self.more_columns:
            lines.append(f"- and {self.more_columns} more columns")
        lines += [self.note] if self.note else []
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class SheetDescription(ToolResult):
    """Answer of `describe_sheet`.

    Attributes:
        sheet: Id of the sheet.
        citation: The id with the range of the main table.
        workbook: File name of the workbook.
        path: Its path below the indexed folder.
        format: File format.
        visibility: "visible", "hidden" or "very_hidden".
        used: Used range; None when unknown.
        formulas: State of its formulas: "none", "read" or "unread".
        partial: True if only part of the sheet was read, so that tables may be longer.
        tables: Its first tables.
        more_tables: Number of its further tables.
        links: Number of links to other sheets by type.
        copies: Its other versions, newest first: how many, how many newer, the first of them.
    """

    sheet: str
    citation: str
    workbook: str
    path: str
    format: str
    visibility: str
    used: str | None
    formulas: str
    partial: bool
    tables: tuple[DescribedTable, ...]
    more_tables: int
    links: Mapping[str, int]
    copies: Copies = NO_COPIES

    def __str__(self) -> str:
        facts = [self.format, self.visibility, f"used range {self.used}" if self.used else ""]
        lines = [f"{one_line(self.citation)}: {', '.join(fact for fact in facts if fact)}"]
        if self.partial:
            lines.append("Only a part of this sheet was read; its tables may go on further.")
        lines += map(str, self.tables)
        if self.more_tables:
            lines.append(f"and {self.more_tables} more tables")
        if self.links:
            counts = ", ".join(f"{count} {kind}" for kind, count in self.links.items())
            lines.append(f"Links to other sheets: {counts}")
        if self.copies:
            listed = ", ".join(map(one_line, self.copies.sheet_ids))
            lines.append(f"Other versions, newest first ({self.copies.number:,}): {listed}")
        return "\n".join(lines)


def described(record: SheetRecord, most: int) -> tuple[DescribedTable, ...]:
    """The first tables of a sheet, with at most `_COLUMNS` columns in all."""
    left, found = _COLUMNS, []
    for table in record.tables[:most]:
        found.append(DescribedTable.of(record, table, left))
        left -= len(found[-1].columns)
    return tuple(found)
