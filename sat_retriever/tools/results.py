"""What the tools answer: plain values for programs, bounded Markdown for language models.

Names, headers and cells come from workbooks that anybody may have written: they are data, and
a model that is handed them must not take them for instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sat_retriever.records.area import area_of
from sat_retriever.records.cells import CellValue, cell_table, cell_text, one_line
from sat_retriever.records.hits import Hit
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.links import Link, kind_of
from sat_retriever.records.sheets import SheetRecord, Table

_COLUMNS_FOUND, _COLUMNS_DESCRIBED = 12, 60  # of a hit, of all tables of a sheet
_CHARS = 60  # of a header or an example
_WORDS = 10


class ToolResult:
    """A tool's answer; `str` gives it as Markdown."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        found: dict[str, Any] = to_json(self)
        return found


@dataclass(frozen=True, slots=True)
class FoundSheet:
    """One sheet that `find_sheets` found.

    Attributes:
        rank: 1 for the best.
        sheet: Its id, which the other tools take.
        citation: The id with the range of the main table.
        columns: Its first headers.
        rows: Rows of the used range; None when unknown.
        score: What the ranking is by; higher is better.
        why: What speaks for it, in words.
    """

    rank: int
    sheet: str
    citation: str
    columns: tuple[str, ...]
    rows: int | None
    score: float
    why: str

    @classmethod
    def of(cls, hit: Hit) -> FoundSheet:
        """The hit as a tool gives it."""
        record = hit.record
        names = [column.name for column in record.columns if column.name]
        return cls(
            rank=hit.rank,
            sheet=hit.sheet_id,
            citation=record.citation,
            columns=tuple(_short(name) for name in names[:_COLUMNS_FOUND]),
            rows=record.num_rows,
            score=round(hit.score, 4),
            why=_why(hit),
        )

    def __str__(self) -> str:
        facts = [f"{self.rank}. {one_line(self.citation)}"]
        if self.columns:
            facts.append(f"columns: {', '.join(self.columns)}")
        facts.append(f"why: {cell_text(self.why)}")
        return "\n   ".join(facts)


@dataclass(frozen=True, slots=True)
class FoundSheets(ToolResult):
    """Answer of `find_sheets`.

    Attributes:
        question: What was asked.
        sheets: The best sheets, best first.
        note: What else a reader should know; empty if nothing.
        times: The times that the question was understood to name, in words; empty if none.
    """

    question: str
    sheets: tuple[FoundSheet, ...]
    note: str = ""
    times: str = ""

    def __str__(self) -> str:
        if not self.sheets:
            return "No sheet was found: the index is empty, or no sheet meets the conditions."
        times = f"Times understood: {cell_text(self.times)}" if self.times else ""
        return "\n".join(filter(None, [*map(str, self.sheets), times, self.note]))


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """One column: header, what most cells are, unit and one cell as an example."""

    name: str
    type: str
    unit: str | None
    example: str | None


@dataclass(frozen=True, slots=True)
class DescribedTable:
    """One table of a sheet.

    Attributes:
        citation: Where it is.
        range: The same without the sheet's id.
        header_row: First row of its header; None without one.
        rows: Data records.
        columns: Its first columns.
        more_columns: How many more it has.
    """

    citation: str
    range: str
    header_row: int | None
    rows: int
    columns: tuple[DescribedColumn, ...]
    more_columns: int

    @classmethod
    def of(cls, record: SheetRecord, table: Table, most: int) -> DescribedTable:
        """One table of a sheet as a tool gives it, with so many columns at most."""
        shown = table.columns[:most]
        return cls(
            citation=f"{record.sheet_id}!{table.range}",
            range=table.range,
            header_row=table.header_row,
            rows=table.num_rows,
            columns=tuple(
                DescribedColumn(
                    _short(c.name),
                    c.type.value,
                    _short(c.unit) if c.unit else None,
                    _short(c.example) if c.example else None,
                )
                for c in shown
            ),
            more_columns=len(table.columns) - len(shown),
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
        formulas: Whether its formulas were read: "none", "read" or "unread".
        partial: Whether only a part of the sheet was read, so that tables may go on further.
        tables: Its first tables.
        more_tables: How many more it has.
        links: Number of links to other sheets by type.
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
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class RangeCells(ToolResult):
    """Answer of `read_range`.

    Attributes:
        sheet: Id of the sheet.
        citation: The id with the range of the cells here.
        range: That range; empty if none of it is used.
        used: The sheet's used range.
        rows: The cells, row by row.
        complete: Whether these are all used cells that were asked for.
        note: What else a reader should know; empty if nothing.
    """

    sheet: str
    citation: str
    range: str
    used: str
    rows: tuple[tuple[CellValue, ...], ...]
    complete: bool
    note: str

    def __str__(self) -> str:
        area = area_of(self.range)
        lines = [one_line(self.citation)]
        if area is not None:
            table = cell_table(
                self.rows, top=area.top, left=area.left, form="markdown", max_tokens=1 << 40
            )
            lines += ["", table.text, ""]
        lines += [self.note] if self.note else []
        return "\n".join(lines).rstrip()


@dataclass(frozen=True, slots=True)
class RelatedSheet:
    """One link from or to a sheet.

    Attributes:
        sheet: Id of the other sheet.
        type: Type of the link.
        way: What the sheet that was asked about does to the other, in words.
        weight: Strength of the link in (0, 1].
        evidence: What shows it, for example a formula.
    """

    sheet: str
    type: str
    way: str
    weight: float
    evidence: str

    @classmethod
    def of(cls, sheet_id: str, link: Link) -> RelatedSheet:
        """A link as seen from one of its sheets."""
        there, back = kind_of(link.type).says
        out = link.source == sheet_id
        other, way = (link.target, there) if out else (link.source, back)
        return cls(other, link.type, way, link.weight, cell_text(link.evidence))


@dataclass(frozen=True, slots=True)
class RelatedSheets(ToolResult):
    """Answer of `related_sheets`.

    Attributes:
        sheet: Id of the sheet that was asked about.
        total: How many links it has, of the type that was asked for.
        related: The first of them, by type, then strongest first.
    """

    sheet: str
    total: int
    related: tuple[RelatedSheet, ...]

    def __str__(self) -> str:
        if not self.related:
            return f"{one_line(self.sheet)} has no such links."
        lines = [one_line(self.sheet)]
        for link in self.related:
            evidence = f" ({link.evidence})" if link.evidence else ""
            lines.append(f"- {link.way} {one_line(link.sheet)}{evidence}")
        if self.total > len(self.related):
            lines.append(f"{self.total - len(self.related)} more links are not listed.")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class IndexStatus(ToolResult):
    """Answer of `index_status`.

    Attributes:
        workbooks: Workbook files.
        sheets: Sheets that can be found.
        skipped: Files and sheets that could not be read, by reason.
        links: Links by type.
        formats: Sheets by file format.
        encoder: Name of the Sheet Encoder.
    """

    workbooks: int
    sheets: int
    skipped: Mapping[str, int]
    links: Mapping[str, int]
    formats: Mapping[str, int]
    encoder: str

    def __str__(self) -> str:
        lines = [f"sheets {self.sheets}, workbooks {self.workbooks}"]
        for name in ("formats", "links", "skipped"):
            counts = getattr(self, name)
            if counts:
                listed = ", ".join(f"{kind} {count}" for kind, count in counts.items())
                lines.append(f"{name}: {listed}")
        return "\n".join(lines)


def described(record: SheetRecord, most: int) -> tuple[DescribedTable, ...]:
    """The first tables of a sheet, the columns of all of them together bounded."""
    left, found = _COLUMNS_DESCRIBED, []
    for table in record.tables[:most]:
        found.append(DescribedTable.of(record, table, left))
        left -= len(found[-1].columns)
    return tuple(found)


def _why(hit: Hit) -> str:
    """Words in common, the likeness of meaning, and the link that lifted the sheet."""
    why = hit.why
    words = f"words {', '.join(why.words[:_WORDS])}" if why.words else "no word in common"
    reasons = [words, f"meaning {why.dense:.2f} (rank {why.dense_rank})"]
    if why.period is not None:
        reasons.append(f"time {why.period}")
    if why.via is not None:
        seen = RelatedSheet.of(hit.sheet_id, why.via)
        reasons.append(f"{seen.way} {seen.sheet}")
    return "; ".join(reasons)


def _short(text: str) -> str:
    """A header or an example as one short line."""
    line = one_line(text)
    return line if len(line) <= _CHARS else f"{line[: _CHARS - 1]}…"
