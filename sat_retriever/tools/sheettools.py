"""The tools over an index, for agents of every framework: read-only and bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from datetime import date
from pathlib import Path
from typing import cast

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.sync.indexing import open_index
from sat_retriever.rank.load import AUTO
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.area import Area, area_of
from sat_retriever.records.filters import Filters
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.hits import NO_COPIES
from sat_retriever.records.links import LinkType, in_order
from sat_retriever.records.permissions import Principals
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.stages import Told, tell
from sat_retriever.text.period.spans import asked_on
from sat_retriever.tools.cells import cell_table, cell_text, fitting
from sat_retriever.tools.cellsearch import (
    AskedCell,
    CellsFound,
    FoundCell,
    kept_beside,
    kept_cells,
    read_cells,
)
from sat_retriever.tools.context import (
    Header,
    header_above,
    labels_note,
    read_sheet,
    rows_note,
    with_labels,
)
from sat_retriever.tools.naming import gone, named_sheet
from sat_retriever.tools.results import (
    CellHit,
    FoundCells,
    FoundSheet,
    FoundSheets,
    IndexStatus,
    QueryAnswer,
    RangeCells,
    RelatedSheet,
    RelatedSheets,
    SheetDescription,
    ToolResult,
    described,
    size_of,
)
from sat_retriever.tools.sql.ask import can_query
from sat_retriever.tools.sql.query import MAX_TABLES, query_over
from sat_retriever.tools.tool import Tool
from sat_retriever.workbook.window import CellValue, CellWindow, parse_range

MAX_TOP_K = 50
MAX_LINKS = 200
MAX_TEXT = 4_000  # characters of a question, a name or a range
MAX_TOKENS = 4_000  # for the cells of one answer
_TABLES = 20  # described per sheet
_KEPT = "Searched: the texts that the index keeps. Name sheets to search all their cells."
_NAMES = "This index keeps no cells, so headers alone were searched; name sheets to read theirs."
_MEANINGS = [kind.kind.meaning for kind in LinkType]
# Texts that replace these names in braces in the tools' docstrings.
_WORDS = {
    "link_types": f"{', '.join(list(LinkType)[:-1])} or {list(LinkType)[-1]}",
    "link_meanings": f"{', '.join(_MEANINGS[:-1])}, and {_MEANINGS[-1]}",
}


class SheetTools:
    """Tools that let an agent use an index: find sheets, describe them, read their cells.

    The tools never write, never compute formulas, and open only files below an indexed folder.
    Safe to share between threads.

    Args:
        reranker: Stage 2 of the search; see `SheetRetriever`.
        max_tokens: Largest number of tokens of the cells, rows, columns, links or sheets that one
            answer lists, as `estimated_tokens` counts them; at least one is always returned.
        today: Reference day for "last year" in a question and `current_date` in SQL; None for the
            day of the call.
        principals: The groups of the one who asks, or `OWNER`; see `SheetIndex.seen_by`. None is
            for an index without permissions, and for tools that `seen_by` is called of.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        InputError: If `max_tokens` is less than 1, or the reranker is not valid.
    """

    def __init__(
        self,
        index: SheetIndex | str | Path,
        reranker: Reranker | str | Path | None = AUTO,
        *,
        max_tokens: int = MAX_TOKENS,
        today: date | None = None,
        principals: Principals | None = None,
    ) -> None:
        if max_tokens < 1:
            raise InputError(f"max_tokens is {max_tokens}; give 1 or more")
        found = open_index(index)
        self.index = found if principals is None else found.seen_by(principals)
        self.max_tokens = max_tokens
        self.today = today
        self.reranker = reranker
        self._retriever = SheetRetriever(self.index, reranker)

    def seen_by(self, principals: Principals) -> SheetTools:
        """Return the same tools for what some groups may see of the index.

        Raises:
            InputError: If a group is no plain name.
            PermissionsError: If these are tools for some groups already.
        """
        other = copy(self)
        other._retriever = self._retriever.seen_by(principals)
        other.index = other._retriever.index
        return other

    def tools(self) -> tuple[Tool, ...]:
        """The tools with their descriptions and arguments, for a framework to wrap.

        `query_tables` is among them if the extra `[sql]` is installed.
        """
        methods: tuple[Callable[..., ToolResult], ...] = (
            self.find_sheets, self.describe_sheet, self.read_range,
            self.related_sheets, self.index_status, self.search_cells,
        )  # fmt: skip
        if can_query():
            methods += (self.query_tables,)
        return tuple(Tool.of(method, **_WORDS) for method in methods)

    def find_sheets(
        self,
        question: str,
        top_k: int = 5,
        workbook: str | None = None,
        path: str | None = None,
    ) -> FoundSheets:
        """Find the worksheets that hold the data for a question, best first.

        Start here. Each result has the sheet's id, which the other tools take, a citation with
        the range of the table or rows that answer, its first columns, cells that match, and why
        it was found. Give read_range the citation to read those rows. The answer says so if
        nothing seems to hold the data; the nearest sheets are listed all the same.

        Args:
            question: The question, or a few words such as names, years and column headers.
            top_k: How many sheets to return at most, from 1 to 50.
            workbook: Only sheets of the workbook with exactly this file name.
            path: Only workbooks whose path matches this pattern, such as 2024/*.xlsx.

        Raises:
            InputError: If the question is empty or too long, or `top_k` is out of range.
        """
        _check_text("question", question)
        _check_number("top_k", top_k, MAX_TOP_K)
        for name, text in (("workbook", workbook), ("path", path)):
            if text:
                _check_text(name, text)
        filters = Filters(workbook=workbook or None, path=path or None)
        day = asked_on(self.today)
        hits = self._retriever.retrieve(question, top_k, filters or None, today=day)
        times = self._retriever.times(question, today=day).label
        found = tuple(map(FoundSheet.of, hits))
        fit = fitting(map(size_of, found), self.max_tokens)
        cut = f"Only the first {fit} of {len(found)} sheets fit here." if fit < len(found) else ""
        return FoundSheets(
            question,
            found[:fit],
            " ".join(filter(None, (hits.note, cut))),
            times,
            round(hits.confidence, 4),
            hits.heading,
        )

    def describe_sheet(self, sheet: str) -> SheetDescription:
        """Describe one worksheet: its tables with ranges, headers, column types and examples.

        Use it before reading cells, to see which columns and rows there are.

        Args:
            sheet: The sheet's id as find_sheets gives it, such as 2024/Sales.xlsx#Q1.

        Raises:
            InputError: If there is no such sheet; the message names the nearest ones.
        """
        record, _cited = self._named(sheet)
        links = Counter(link.type for link in self.index.links([record.sheet_id]))
        tables = described(record, _TABLES, self.max_tokens)
        return SheetDescription(
            sheet=record.sheet_id,
            citation=record.citation,
            workbook=record.workbook,
            path=record.path,
            format=record.format,
            visibility=record.visibility.value,
            used=record.range,
            formulas=record.formulas.value,
            partial=record.partial,
            tables=tables,
            more_tables=len(record.tables) - len(tables),
            links={kind: links[kind] for kind in in_order(links)},
            copies=self.index.copies([record.sheet_id]).get(record.sheet_id, NO_COPIES),
        )

    def read_range(
        self, sheet: str, range: str | None = None, formulas: bool = False
    ) -> RangeCells:
        """Read cells of one worksheet as a table, with row numbers and column letters.

        Rows from the middle of a table come with its headers on top. Long ranges are cut; the
        answer says so, and which rows it has. Cite what you use by the citation of the answer.

        Args:
            sheet: The sheet's id or citation as find_sheets gives it, such as
                2024/Sales.xlsx#Q1 or 2024/Sales.xlsx#Q1!A90:D110.
            range: The cells in A1 form, such as A1:D20; if it is left out, those of the citation,
                or the main table.
            formulas: Show formulas instead of the values they gave.

        Raises:
            InputError: If there is no such sheet, the range is not valid, or the workbook can no
                longer be read.
        """
        record, cited = self._named(sheet)
        if range:
            _check_text("range", range)
        asked = range or cited
        wanted = parse_range(asked) if asked else _main_area(record)
        try:
            file = self.index.bounded_file_of(record.sheet_id)
            window = read_sheet(file, record, wanted, formulas=formulas)
        except PathNotFoundError as error:
            raise gone(record) from error
        return self._cells(record, window, formulas=formulas)

    def related_sheets(
        self, sheet: str, link_type: str | None = None, limit: int = 20
    ) -> RelatedSheets:
        """List the worksheets that are linked to one, with the evidence for each link.

        Links are {link_meanings}.

        Args:
            sheet: The sheet's id as find_sheets gives it, such as 2024/Sales.xlsx#Q1.
            link_type: Only links of this type: {link_types}.
            limit: How many links to return at most, from 1 to 200.

        Raises:
            InputError: If there is no such sheet or type of link, or `limit` is out of range.
        """
        _check_number("limit", limit, MAX_LINKS)
        record, _cited = self._named(sheet)
        found = self.index.links([record.sheet_id])
        if link_type:
            self._check_type(link_type)
            found = [link for link in found if link.type == link_type]
        kinds = in_order({link.type for link in found})
        ranked = sorted(found, key=lambda x: (kinds.index(x.type), -x.weight, x.source, x.target))
        related = tuple(RelatedSheet.of(record.sheet_id, link) for link in ranked[:limit])
        fit = fitting(map(size_of, related), self.max_tokens)
        tell(Told.FOUND, *(each.sheet for each in related[:fit]))
        return RelatedSheets(record.sheet_id, len(found), related[:fit])

    def index_status(self) -> IndexStatus:
        """Tell how many workbooks and sheets can be searched, and what could not be read."""
        status = self.index.status()
        skipped = Counter(
            skip.reason.value for state in self.index.workbooks() for skip in state.skipped
        )
        return IndexStatus(
            workbooks=cast("int", status["workbooks"]),
            sheets=cast("int", status["sheets"]),
            skipped=dict(skipped.most_common()),
            links=cast("dict[str, int]", status["links"]),
            formats=cast("dict[str, int]", status["formats"]),
            encoder=Path(self.index.encoder_name).name,  # the path of a folder stays private
        )

    def search_cells(
        self, text: str, sheets: list[str] | None = None, limit: int = 20
    ) -> FoundCells:
        """Find the cells that hold a value: a code, a name, a phrase, a number, a date.

        Without sheets the texts that the index keeps of all sheets are searched: titles, labels,
        codes, notes, comments and texts of shapes and charts, but no numbers. With sheets all their
        cells are read, numbers too.

        Args:
            text: What the cells hold, word for word, or as they show it, such as ISO 9001, 1250,
                25%, 31.01.2024, TRUE or 01001.
            sheets: Only these sheets, by their ids as find_sheets gives them; at most 20.
            limit: How many cells to return at most, from 1 to 200.

        Raises:
            InputError: If the text is empty or too long, a sheet is unknown or cannot be read, or
                `limit` is out of range.
        """
        _check_text("text", text)
        tell(Told.QUESTION, text)
        _check_number("limit", limit, MAX_LINKS)
        named = [self._named(sheet)[0] for sheet in sheets or ()]
        if len(named) > MAX_TABLES:
            raise InputError(f"{len(named)} sheets; give at most {MAX_TABLES}")
        asked, most = AskedCell(text), limit + 1
        found = self._read(named, asked, most) if named else kept_cells(self.index, asked, most)
        tell(Told.FOUND, *(each.sheet for each in found.cells[:limit]))
        cells = [
            CellHit(each.citation, _bounded(each.value), each.kind) for each in found.cells[:limit]
        ]
        cells = cells[: fitting(map(size_of, cells), self.max_tokens)]
        more = len(found.cells) > len(cells)
        notes = [f"Only the first {len(cells)} cells are listed."] if more else []
        notes += [] if found.complete else ["A sheet is too large to be read to its end."]
        if found.left and not more:
            notes.append(
                f"{found.left:,} more sheets have these words and were not looked through."
            )
        if not named:
            notes.append(_KEPT if self.index.has_contents else _NAMES)
        return FoundCells(
            text,
            tuple(cells),
            complete=found.complete and not found.left and not more,
            note=" ".join(notes),
        )

    def _read(self, records: Sequence[SheetRecord], asked: AskedCell, most: int) -> CellsFound:
        """The cells of some sheets that hold what is asked for, until there are enough."""
        found: list[FoundCell] = []
        whole = True
        for record in records:
            try:
                read = read_cells(self.index, record, asked)
            except PathNotFoundError as error:
                raise gone(record) from error
            found += read.cells
            found += kept_beside(self.index, record, asked)
            whole = whole and read.complete
            if len(found) >= most:
                break
        return CellsFound(found, whole)

    def query_tables(self, sheets: list[str], sql: str = "", totals: bool = False) -> QueryAnswer:
        """Answer a question about tables with SQL: totals, groups, filters, joins of sheets.

        Use it instead of adding up rows by reading them. Call it without sql first: the answer
        names each table and its columns as the query must write them. Then give one SELECT in
        DuckDB's dialect. Every table has a column _row, the row on its sheet. Rows that are no
        records, such as totals, subtotals and headings, are left out; the answer names them. A
        sum that WHERE names, such as 'Gross profit', is found. Cite the citations of the answer.

        Args:
            sheets: The sheets, by their ids or citations as find_sheets gives them, such as
                2024/Sales.xlsx#Q1, or 2024/Sales.xlsx#Q1!A30:F60 for a table that is not the
                sheet's main one.
            sql: One SELECT over these tables; leave it out to see their names and columns.
            totals: Keep rows of totals and subtotals among the records, to compare with them;
                sums over all rows then count them twice.

        Raises:
            InputError: If a sheet is unknown or cannot be read, or the query is not allowed, wrong
                or too expensive; the message helps to mend it.
        """
        for name in sheets:
            _check_text("sheets", name)
        query = query_over(self.index, sheets, today=self.today, totals=totals, on_disk=False)
        found = query.run(sql) if sql.strip() else None
        return QueryAnswer.of(query, found, self.max_tokens)

    # ---- inner workings

    def _named(self, sheet: str) -> tuple[SheetRecord, str]:
        _check_text("sheet", sheet)
        return named_sheet(self.index, sheet, on_disk=False)

    def _cells(self, record: SheetRecord, window: CellWindow, *, formulas: bool) -> RangeCells:
        """The cells that fit in an answer, with notes for the reader."""
        notes = []
        whole = area_of(window.range)
        rows = [tuple(map(_bounded, row)) for row in with_labels(record, window)]
        place, header = (None, None) if whole is None else self._fitting(record, rows, whole)
        if window.cut:
            notes.append("The sheet is too large to read all of it; cells at the end are missing.")
        elif whole is None:
            notes.append(f"This range is empty; the sheet's cells are in {window.used}.")
        if place != whole or not (window.complete or window.cut):
            notes.append("Not all that was asked for fits: ask for the other cells next.")
        if formulas and record.formulas is FormulaState.UNREAD:
            notes.append("The formulas of this sheet cannot be read; these are values.")
        if place:
            notes += filter(None, (rows_note(record, place), labels_note(record, window, place)))
        unsaved = sum(place.holds(*cell) for cell in window.unsaved) if place else 0
        if unsaved:
            notes.append(
                f"Empty cells that have formulas: {unsaved:,} (no value or an empty text is "
                "saved); ask with formulas to see them."
            )
        return RangeCells(
            sheet=record.sheet_id,
            citation=f"{record.cited}!{place.a1()}" if place else record.cited,
            range=place.a1() if place else "",
            used=window.used,
            rows=_part(rows, place) if place else (),
            complete=window.complete and place == whole,
            note=" ".join(notes),
            header=tuple(header[1]) if header else (),
            header_row=header[0] if header else None,
        )

    def _fitting(
        self, record: SheetRecord, rows: Sequence[Sequence[CellValue]], whole: Area
    ) -> tuple[Area, Header | None]:
        """The part of the cells that fits in an answer, first columns, first rows; its header."""
        header = header_above(record, whole)
        table = cell_table(
            rows,
            top=whole.top,
            left=whole.left,
            form="markdown",
            max_tokens=self.max_tokens,
            header=header,
        )
        bottom, right = whole.top + table.rows - 1, whole.left + table.columns - 1
        shown = (header[0], header[1][: table.columns]) if header and table.header else None
        return Area(whole.top, whole.left, bottom, right), shown

    def _check_type(self, link_type: str) -> None:
        _check_text("link_type", link_type)
        known = in_order({*cast("dict[str, int]", self.index.status()["links"]), *LinkType})
        if link_type not in known:
            raise InputError(
                f"there are no links of type {link_type!r}; choose one of: {', '.join(known)}"
            )


def _main_area(record: SheetRecord) -> Area:
    area = area_of(record.main_range or "")
    if area is None:
        raise InputError(f"{record.sheet_id!r} has no known range; give one, such as A1:D20")
    return area


def _part(rows: Sequence[tuple[CellValue, ...]], place: Area) -> tuple[tuple[CellValue, ...], ...]:
    height, width = place.bottom - place.top + 1, place.right - place.left + 1
    return tuple(row[:width] for row in rows[:height])


def _bounded(value: CellValue) -> CellValue:
    """A cell's value; long text is cut as in the table."""
    return cell_text(value) if isinstance(value, str) else value


def _check_text(name: str, text: str) -> None:
    if not text.strip():
        raise InputError(f"{name} is empty; give a text")
    if "\0" in text or text != text.encode("utf-8", "ignore").decode():
        raise InputError(f"{name} has characters that are not text; remove them")
    if len(text) > MAX_TEXT:
        raise InputError(f"{name} has {len(text):,} characters; give at most {MAX_TEXT:,}")


def _check_number(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise InputError(f"{name} is {value}; give a number from 1 to {most}")
