"""The five tools over an index, for agents of every framework: read-only and bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import cast

from sat_retriever.errors import InputError, PathNotFoundError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.indexing import open_index
from sat_retriever.period.asked import asked_on
from sat_retriever.rank.load import AUTO
from sat_retriever.rank.reranker import Reranker
from sat_retriever.records.area import Area, area_of
from sat_retriever.records.copies import NO_COPIES
from sat_retriever.records.filters import Filters
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.links import LinkType, in_order
from sat_retriever.records.sheets import SheetRecord
from sat_retriever.retriever import SheetRetriever
from sat_retriever.tools.cells import cell_table, cell_text
from sat_retriever.tools.naming import named_sheet
from sat_retriever.tools.results import (
    FoundSheet,
    FoundSheets,
    IndexStatus,
    RangeCells,
    RelatedSheet,
    RelatedSheets,
    SheetDescription,
    described,
)
from sat_retriever.tools.tool import Tool
from sat_retriever.workbook.window import CellValue, CellWindow, parse_range, read_range

MAX_TOP_K = 50
MAX_LINKS = 200
MAX_TEXT = 4_000  # characters of a question, a name or a range
MAX_TOKENS = 4_000  # of the cells of one answer
_TABLES = 20  # described of a sheet
_MEANINGS = [kind.kind.meaning for kind in LinkType]
# What stands in docstrings of the tools in place of these names in braces.
_WORDS = {
    "link_types": f"{', '.join(list(LinkType)[:-1])} or {list(LinkType)[-1]}",
    "link_meanings": f"{', '.join(_MEANINGS[:-1])}, and {_MEANINGS[-1]}",
}


class SheetTools:
    """What an agent can do with an index: find sheets, describe them, read their cells.

    Nothing is ever written, no formula is worked out, and only files that are under an indexed
    folder are opened. Safe to share between threads.

    Args:
        index: An index, or its path.
        reranker: Stage 2 of the search; see `SheetRetriever`.
        max_tokens: Most tokens of the cells that one call of `read_range` answers, as
            `estimated_tokens` counts them; one cell is always there.
        today: The day that "last year" in a question counts from; None is the day it is asked on.

    Raises:
        IndexNotFoundError: If there is no index at the path.
        InputError: If `max_tokens` is less than 1, or the reranker is none.
    """

    def __init__(
        self,
        index: SheetIndex | str | Path,
        reranker: Reranker | str | Path | None = AUTO,
        *,
        max_tokens: int = MAX_TOKENS,
        today: date | None = None,
    ) -> None:
        if max_tokens < 1:
            raise InputError(f"max_tokens is {max_tokens}; give 1 or more")
        self.index = open_index(index)
        self.max_tokens = max_tokens
        self.today = today
        self._retriever = SheetRetriever(self.index, reranker)

    def tools(self) -> tuple[Tool, ...]:
        """The tools with their descriptions and arguments, for a framework to wrap."""
        methods = (
            self.find_sheets, self.describe_sheet, self.read_range,
            self.related_sheets, self.index_status,
        )  # fmt: skip
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
        the range of its data, its first columns, and why it was found.

        Args:
            question: The question, or a few words such as names, years and column headers.
            top_k: How many sheets to return at most, from 1 to 50.
            workbook: Only sheets of the workbook with exactly this file name.
            path: Only workbooks whose path matches this pattern, such as 2024/*.xlsx.

        Raises:
            InputError: If the question is empty or too long, or `top_k` out of its range.
        """
        _check_text("question", question)
        _check_number("top_k", top_k, MAX_TOP_K)
        for name, text in (("workbook", workbook), ("path", path)):
            if text:
                _check_text(name, text)
        filters = Filters(workbook=workbook or None, path=path or None)
        day = asked_on(self.today)
        hits = self._retriever.retrieve(question, top_k, filters or None, today=day)
        note = self._retriever.note(question, filters or None, today=day) if hits else ""
        times = self._retriever.times(question, today=day).label
        return FoundSheets(question, tuple(map(FoundSheet.of, hits)), note, times)

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
            tables=described(record, _TABLES),
            more_tables=max(0, len(record.tables) - _TABLES),
            links={kind: links[kind] for kind in in_order(links)},
            copies=self.index.copies([record.sheet_id]).get(record.sheet_id, NO_COPIES),
        )

    def read_range(
        self, sheet: str, range: str | None = None, formulas: bool = False
    ) -> RangeCells:
        """Read cells of one worksheet as a table, with row numbers and column letters.

        Long ranges are cut; the answer says so, and which rows it has. Cite what you use by the
        citation of the answer.

        Args:
            sheet: The sheet's id as find_sheets gives it, such as 2024/Sales.xlsx#Q1.
            range: The cells in A1 form, such as A1:D20; the main table if it is left out.
            formulas: Show formulas instead of the values they gave.

        Raises:
            InputError: If there is no such sheet, the range is none, or the workbook cannot be
                read any more.
        """
        record, cited = self._named(sheet)
        if range:
            _check_text("range", range)
        asked = range or cited
        wanted = parse_range(asked) if asked else _main_area(record)
        file, within = self.index.bounded_file_of(record.sheet_id)
        try:
            window = read_range(file, record.sheet, wanted, formulas=formulas, within=within)
        except PathNotFoundError as error:  # where it was is nobody's business
            raise InputError(
                f"the workbook of {record.sheet_id!r} is gone; index its folder again"
            ) from error
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
            InputError: If there is no such sheet or type of link, or `limit` is out of its range.
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
        return RelatedSheets(record.sheet_id, len(found), related)

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
            encoder=Path(self.index.encoder_name).name,  # of a folder its path is nobody's business
        )

    # ---- inner workings

    def _named(self, sheet: str) -> tuple[SheetRecord, str]:
        """The one sheet that is meant, and the range of cells if a citation names it."""
        _check_text("sheet", sheet)
        return named_sheet(self.index, sheet)

    def _cells(self, record: SheetRecord, window: CellWindow, *, formulas: bool) -> RangeCells:
        """The cells that fit in an answer, and what a reader should know of them."""
        notes = []
        whole = area_of(window.range)
        rows = [tuple(map(_bounded, row)) for row in window.rows]
        place = None if whole is None else self._fitting(rows, whole)
        if window.cut:
            notes.append("The sheet is too large to read all of it; cells at the end are missing.")
        elif whole is None:
            notes.append(f"No cell there is used; the sheet uses {window.used}.")
        if place != whole or not (window.complete or window.cut):
            notes.append("Not all that was asked for fits: ask for the other cells next.")
        if formulas and record.formulas is FormulaState.UNREAD:
            notes.append("The formulas of this sheet cannot be read; these are values.")
        unsaved = sum(place.holds(*cell) for cell in window.unsaved) if place else 0
        if unsaved:
            notes.append(
                f"Empty cells that have formulas: {unsaved:,} (no value or an empty text is "
                "saved); ask with formulas to see them."
            )
        return RangeCells(
            sheet=record.sheet_id,
            citation=f"{record.sheet_id}!{place.a1()}" if place else record.sheet_id,
            range=place.a1() if place else "",
            used=window.used,
            rows=_part(rows, place) if place else (),
            complete=window.complete and place == whole,
            note=" ".join(notes),
        )

    def _fitting(self, rows: Sequence[Sequence[CellValue]], whole: Area) -> Area:
        """The part of the cells that fits in an answer: first columns, first rows."""
        table = cell_table(
            rows, top=whole.top, left=whole.left, form="markdown", max_tokens=self.max_tokens
        )
        bottom, right = whole.top + table.rows - 1, whole.left + table.columns - 1
        return Area(whole.top, whole.left, bottom, right)

    def _check_type(self, link_type: str) -> None:
        _check_text("link_type", link_type)
        known = in_order({*cast("dict[str, int]", self.index.status()["links"]), *LinkType})
        if link_type not in known:
            raise InputError(
                f"there are no links of type {link_type!r}; choose one of: {', '.join(known)}"
            )


def _main_area(record: SheetRecord) -> Area:
    """The cells of the main table, else of the used range."""
    area = area_of(record.main_range or "")
    if area is None:
        raise InputError(f"{record.sheet_id!r} has no known range; give one, such as A1:D20")
    return area


def _part(rows: Sequence[tuple[CellValue, ...]], place: Area) -> tuple[tuple[CellValue, ...], ...]:
    """The first rows and columns, as many as a place has."""
    height, width = place.bottom - place.top + 1, place.right - place.left + 1
    return tuple(row[:width] for row in rows[:height])


def _bounded(value: CellValue) -> CellValue:
    """A cell's value, long text cut as it is in the table."""
    return cell_text(value) if isinstance(value, str) else value


def _check_text(name: str, text: str) -> None:
    if not text.strip():
        raise InputError(f"{name} is empty; say what is meant")
    if "\0" in text or text != text.encode("utf-8", "ignore").decode():
        raise InputError(f"{name} has characters that are no text; leave them out")
    if len(text) > MAX_TEXT:
        raise InputError(f"{name} has {len(text):,} characters; give at most {MAX_TEXT:,}")


def _check_number(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise InputError(f"{name} is {value}; give a number from 1 to {most}")
