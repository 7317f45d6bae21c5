"""Answers of the tools: plain values for programs, bounded Markdown for language models.

Names, headers and cells come from workbooks that anybody may have written: they are data, and
a model that reads them must not take them for instructions. The docstrings of the answers are
part of the schemas that MCP clients receive.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sat_retriever.records.area import area_of
from sat_retriever.records.contents import TextKind
from sat_retriever.records.hits import NO_COPIES, Copies, Hit
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.links import Link, kind_of
from sat_retriever.records.sheetanswer import QueryResult, ResultValue
from sat_retriever.records.sheets import LeftOut, SheetRecord, Table
from sat_retriever.text.oneline import one_line, short
from sat_retriever.tools.cells import cell_table, cell_text, estimated_tokens, fitting
from sat_retriever.tools.fitting import fitting_result, result_line, schema_text
from sat_retriever.tools.sql.query import TableQuery
from sat_retriever.workbook.window import CellValue


class ToolResult:
    """A tool's answer; `str` gives it as Markdown."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        found: dict[str, Any] = to_json(self)
        return found


def size_of(part: object) -> int:
    """Tokens of a part of an answer, as text or as values, of which clients show a model either.

    Values may take an eighth more than the text: names of fields tell a model little.
    """
    values = estimated_tokens(json.dumps(to_json(part), ensure_ascii=False))
    return max(estimated_tokens(str(part)), values * 8 // 9)


@dataclass(frozen=True, slots=True)
class RelatedSheet:
    """One link from or to a sheet.

    Attributes:
        sheet: Id of the other sheet.
        type: Type of the link.
        way: Relation of the requested sheet to the other, in words, for example "sums up".
        weight: Strength of the link in (0, 1].
        evidence: Evidence for the link, for example a formula.
    """

    sheet: str
    type: str
    way: str
    weight: float
    evidence: str

    @classmethod
    def of(cls, sheet_id: str, link: Link) -> RelatedSheet:
        """Describe a link from the side of one of its sheets."""
        there, back = kind_of(link.type).says
        out = link.source == sheet_id
        other, way = (link.target, there) if out else (link.source, back)
        return cls(other, link.type, way, link.weight, cell_text(link.evidence))

    def __str__(self) -> str:
        evidence = f" ({self.evidence})" if self.evidence else ""
        return f"- {self.way} {one_line(self.sheet)}{evidence}"


@dataclass(frozen=True, slots=True)
class RelatedSheets(ToolResult):
    """Answer of `related_sheets`.

    Attributes:
        sheet: Id of the requested sheet.
        total: Number of its links, of the requested type if one was given.
        related: The first of them, by type, then strongest first.
    """

    sheet: str
    total: int
    related: tuple[RelatedSheet, ...]

    def __str__(self) -> str:
        if not self.related:
            return f"{one_line(self.sheet)} has no such links."
        lines = [one_line(self.sheet), *map(str, self.related)]
        if self.total > len(self.related):
            lines.append(f"{self.total - len(self.related)} more links are not listed.")
        return "\n".join(lines)


_HEADERS = 12  # headers of a sheet that are listed
_WORDS = 10
_CELLS = 3


@dataclass(frozen=True, slots=True)
class FoundSheet:
    """One sheet that `find_sheets` found.

    Attributes:
        rank: 1 for the best.
        sheet: Its id, which the other tools take.
        citation: The id with the range of the table, or of its rows, that answers.
        columns: Its first headers.
        rows: Rows of the used range; None when unknown.
        score: Value that sheets are ranked by; higher is better.
        why: The reasons why it was found, in words.
        cells: Cells that match the question, each as "B17: text", or as "comment at B17: text"
            if no cell holds the text.
        copies: Number of its other versions; `describe_sheet` lists them.
        newer: Number of those that are newer, if the question named this version.
        equal: Ids of those whose files are byte for byte the same.
    """

    rank: int
    sheet: str
    citation: str
    columns: tuple[str, ...]
    rows: int | None
    score: float
    why: str
    cells: tuple[str, ...] = ()
    copies: int = 0
    newer: int = 0
    equal: tuple[str, ...] = ()

    @classmethod
    def of(cls, hit: Hit) -> FoundSheet:
        """Build the tool's form of a hit."""
        names = [column.name for column in hit.columns if column.name]
        return cls(
            rank=hit.rank,
            sheet=hit.sheet_id,
            citation=hit.citation,
            columns=tuple(short(name) for name in names[:_HEADERS]),
            rows=hit.record.num_rows,
            score=round(hit.score, 4),
            why=_why(hit),
            cells=tuple(f"{each.place}: {short(each.text)}" for each in hit.why.cells[:_CELLS]),
            copies=hit.copies.number,
            newer=hit.copies.newer,
            equal=hit.copies.equal,
        )

    def __str__(self) -> str:
        facts = [f"{self.rank}. {one_line(self.citation)}"]
        if self.columns:
            facts.append(f"columns: {', '.join(self.columns)}")
        if self.cells:
            facts.append(f"cells: {', '.join(self.cells)}")
        facts.append(f"why: {cell_text(self.why)}")
        if self.copies:
            label = Copies(self.copies, self.newer, equal=self.equal).label
            facts.append(": ".join(filter(None, [label, ", ".join(map(one_line, self.equal))])))
        return "\n   ".join(facts)


@dataclass(frozen=True, slots=True)
class FoundSheets(ToolResult):
    """Answer of `find_sheets`.

    Attributes:
        question: The question.
        sheets: The best sheets, best first.
        note: Further information for the reader; empty if there is none.
        times: The times that were recognized in the question, in words; empty if none.
        confidence: Probability that the sheets searched hold the data, in [0, 1].
        heading: Says that nothing seems to hold the data, if that is so; else empty.
    """

    question: str
    sheets: tuple[FoundSheet, ...]
    note: str = ""
    times: str = ""
    confidence: float = 0.0
    heading: str = ""

    def __str__(self) -> str:
        if not self.sheets:
            return f"No sheet was found. {self.note}".rstrip()
        times = f"Times understood: {cell_text(self.times)}" if self.times else ""
        return "\n".join(filter(None, [self.heading, *map(str, self.sheets), times, self.note]))


def _why(hit: Hit) -> str:
    why = hit.why
    common = why.common(_WORDS)
    words = f"words {common}" if common else "no word in common"
    reasons = [words, f"meaning {why.dense:.2f} (rank {why.dense_rank})"]
    if why.contents_rank is not None:
        reasons.append(f"cells {why.contents:.2f} (rank {why.contents_rank})")
    if why.period is not None:
        reasons.append(f"time {why.period}")
    if why.via is not None:
        seen = RelatedSheet.of(hit.sheet_id, why.via)
        reasons.append(f"{seen.way} {seen.sheet}")
    return "; ".join(reasons)


_COLUMNS = 60  # shown of all tables of a sheet together
_LEFT_OUT = 20  # rows that are listed of each kind
_COPIES = 500  # tokens of the ids of other versions


@dataclass(frozen=True, slots=True)
class DescribedColumn:
    """One column: header, type of most cells, unit, and one cell as an example."""

    name: str
    type: str
    unit: str | None
    example: str | None

    def __str__(self) -> str:
        unit = f", in {self.unit}" if self.unit else ""
        example = f", such as {self.example}" if self.example else ""
        return f"- {self.name or '(no name)'}: {self.type}{unit}{example}"


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
        lines = [f"Table {self.range}, {self.rows} rows, {header}:", *map(str, self.columns)]
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
            named = list(map(one_line, self.copies.sheet_ids))
            listed = ", ".join(named[: fitting(map(estimated_tokens, named), _COPIES)])
            lines.append(f"Other versions, newest first ({self.copies.number:,}): {listed}")
        return "\n".join(lines)


def described(record: SheetRecord, most: int, max_tokens: int) -> tuple[DescribedTable, ...]:
    """The first tables of a sheet, with at most `_COLUMNS` columns in all, as many as fit."""
    left = _COLUMNS
    found: list[DescribedTable] = []
    for table in record.tables[:most]:
        whole = DescribedTable.of(record, table, left)
        if found and estimated_tokens(whole.note) > max_tokens:
            break
        fit = fitting(map(size_of, whole.columns), max_tokens - estimated_tokens(whole.note))
        found.append(DescribedTable.of(record, table, fit))
        left -= fit
        max_tokens -= size_of(found[-1])
    return tuple(found)


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

    def __str__(self) -> str:
        return f"{one_line(self.place)}: {cell_text(self.value)}"


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
        lines = list(map(str, self.cells)) or [f"No cell has {one_line(self.text)!r}."]
        return "\n".join([*lines, *([self.note] if self.note else [])])


@dataclass(frozen=True, slots=True)
class QueryAnswer(ToolResult):
    """Answer of `query_tables`.

    Attributes:
        sql: The query; empty if only the tables were asked for.
        tables: Names of the tables and of their columns.
        columns: Names of the first columns of the result.
        rows: The first rows of the result, with these columns.
        complete: True if these are all rows and columns.
        citations: Where the result comes from, one citation a table.
        note: Further information for the reader; empty if there is none.
    """

    sql: str
    tables: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[ResultValue, ...], ...] = ()
    complete: bool = True
    citations: tuple[str, ...] = ()
    note: str = ""

    @classmethod
    def of(cls, tables: TableQuery, found: QueryResult | None, max_tokens: int) -> QueryAnswer:
        """Return the answer with as much as fits, or only the tables without a result."""
        if found is None:
            return cls("", schema_text(tables.tables, max_tokens))
        wide, long = fitting_result(found, max_tokens)
        rows = [
            tuple(cell_text(each) if isinstance(each, str) else each for each in row[:wide])
            for row in found.rows[:long]
        ]
        cut = wide < len(found.columns), long < len(found.rows)
        said = [found.note] if found.note else []
        said += (
            [f"Only the first {wide:,} columns fit here; name those you need."] if cut[0] else []
        )
        said += [f"Only the first {long:,} rows fit here."] if cut[1] else []
        return cls(
            found.sql,
            "",
            found.columns[:wide],
            tuple(rows),
            complete=found.complete and not any(cut),
            citations=found.citations,
            note=" ".join(said),
        )

    def __str__(self) -> str:
        if not self.sql:
            return self.tables
        rule = f"|{'---|' * len(self.columns)}"
        lines = [result_line(self.columns), rule, *map(result_line, self.rows)]
        if not self.rows:
            lines = ["The query gives no row."]
        cited = ", ".join(map(one_line, self.citations))
        lines += ["", f"From {cited}"] if cited else []
        lines += [self.note] if self.note else []
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
