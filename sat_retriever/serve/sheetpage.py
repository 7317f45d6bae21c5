"""The page of one sheet: its facts, its cells in pieces, its tables as CSV, its links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from urllib.parse import quote

from sat_retriever.index.index import SheetIndex
from sat_retriever.records.area import area_of, column_letters
from sat_retriever.records.contents import Role
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.hits import NO_COPIES
from sat_retriever.records.sheets import SUMS, SheetRecord, Table, Visibility
from sat_retriever.serve.blocks import BlockReader
from sat_retriever.serve.foundlists import FoundList
from sat_retriever.serve.pieces import Piece, piece_of, reading, record_of
from sat_retriever.serve.request import (
    PageError,
    Related,
    cell_of,
    csv_url,
    number_of,
    related_of,
    sheet_url,
)
from sat_retriever.serve.searchform import SearchForm
from sat_retriever.serve.workbookfile import attachment
from sat_retriever.stages import Told, tell
from sat_retriever.workbook.typed import TableFormat, table_text

_RELATED = 24
_TABS = 100
_TABLES = 20
_COLUMNS = 40  # of a table
_MOST_TABLES = 10_000
_PLAIN = "".join(map(chr, range(32, 127))).replace("%", "")  # as it is in a header
_BYTE_ORDER_MARK = "\ufeff"  # by which spreadsheets know UTF-8


@dataclass(frozen=True, slots=True)
class TableView:
    """A table of the sheet: where it is, its columns, its addresses, and rows left out."""

    range: str
    title: str
    records: int
    columns: tuple[tuple[str, str, str], ...]
    url: str
    csv: str
    note: str
    csv_totals: str


@dataclass(frozen=True, slots=True)
class Steps:
    """Place of a sheet among those found; each neighbour is an address and a sheet's id."""

    place: int
    of: int
    before: tuple[str, str] | None
    after: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class SheetPage:
    """Values that the page shows of a sheet.

    Attributes:
        facts: Facts about it, each a label and a text.
        more_related: Number of links that are not shown.
        form: The search that led to it, without a question if none did.
        steps: Its place among the sheets that the search found; None if it is none of them.
        crumbs: Folders of its workbook, each the address of a search in it and a name.
        sorts: First and last row of its records, if these are those of one table; else None.
        tabs: Sheets of its workbook in their order, each an address and a name.
        more_tabs: Number of sheets that are not among them.
        status: Status of the answer: 200, or why the cells cannot be read.
    """

    record: SheetRecord
    facts: tuple[tuple[str, str], ...]
    tables: tuple[TableView, ...]
    more_tables: int
    related: tuple[Related, ...]
    more_related: int
    form: SearchForm
    steps: Steps | None
    crumbs: tuple[tuple[str, str], ...]
    tabs: tuple[tuple[str, str], ...]
    more_tabs: int
    copies: tuple[tuple[str, str], ...]
    sorts: tuple[int, int] | None
    piece: Piece | None
    problem: str
    status: int
    cell: str

    @property
    def gone(self) -> bool:
        """True if its workbook is no longer there, to be opened, read or saved."""
        return self.status == 410

    @property
    def asked(self) -> str:
        """The end of the address of another sheet that keeps the search."""
        return f"&{self.form.asked}" if self.form.q else ""


def steps_in(found: FoundList, sheet_id: str, asked: str) -> Steps | None:
    """Return the place of a sheet among those that a search found; None if it is none of them.

    Args:
        asked: The query string of the search, so that an address alone leads on, in any window
            and without a script.
    """
    at = {each.sheet_id: place for place, each in enumerate(found)}.get(sheet_id)
    if at is None:
        return None
    near = [found[place] if 0 <= place < len(found) else None for place in (at - 1, at + 1)]
    before, after = ((f"{each.url}&{asked}", each.sheet_id) if each else None for each in near)
    return Steps(at + 1, len(found), before, after)


def sheet_page(
    index: SheetIndex, reader: BlockReader, given: Mapping[str, str], steps: Steps | None = None
) -> SheetPage:
    """Return the page of a sheet; a workbook that is gone leaves what the index knows."""
    record, form = record_of(index, given), SearchForm.of(given)
    links = index.links([record.sheet_id])
    related = related_of(record.sheet_id, links, len(links) + 1)
    tell(Told.FOUND, *(each.sheet_id for each in related[:_RELATED]))
    copies = index.copies([record.sheet_id]).get(record.sheet_id, NO_COPIES)
    ids = index.tabs(record.path) if record.path else []
    tabs = ids[:_TABS]
    piece, problem, status = None, "", 200
    cell = given.get("cell", "").strip()
    try:
        cell_of(given)
    except PageError as error:  # the page stays, so that it can be corrected
        problem, status = error.message, error.status
        given = {name: text for name, text in given.items() if name != "cell"}
    try:
        piece = piece_of(record, reader, given)
    except PageError as error:
        if error.status == 400:
            raise
        problem, status = error.message, error.status
    return SheetPage(
        record,
        _facts(record),
        tuple(
            _table(record, place, each, form.asked)
            for place, each in enumerate(record.tables[:_TABLES])
        ),
        max(0, len(record.tables) - _TABLES),
        related[:_RELATED],
        max(0, len(related) - _RELATED),
        form,
        steps,
        _crumbs(record, form),
        tuple((sheet_url(each, asked=form.asked), each[len(record.path) + 1 :]) for each in tabs),
        max(0, len(ids) - len(tabs)),
        tuple((sheet_url(each), each) for each in copies.sheet_ids),
        _sorts(record),
        piece,
        problem,
        status,
        cell,
    )


def _facts(record: SheetRecord) -> tuple[tuple[str, str], ...]:
    size = ""
    if record.num_rows and record.num_cols:
        size = f"{record.num_rows:,} rows × {record.num_cols:,} columns"
    unread = record.formulas is FormulaState.UNREAD
    visible = record.visibility is Visibility.VISIBLE
    found = [
        ("Workbook", record.path or record.workbook),
        ("Format", record.format),
        ("Size", size),
        ("Used range", record.range or ""),
        ("Role", record.role.value if record.role is not Role.DATA else ""),
        ("Visibility", "" if visible else record.visibility.value.replace("_", " ")),
        ("Formulas", "not read in this format; values are shown" if unread else ""),
        ("Read", "only in part: the file is over a limit" if record.partial else ""),
    ]
    return tuple((label, text) for label, text in found if text)


def _table(record: SheetRecord, place: int, table: Table, asked: str) -> TableView:
    area = area_of(table.range)
    columns = tuple(
        (each.name or f"(column {column_letters((area.left if area else 1) + at)})",
         each.type.value + (f", {each.unit}" if each.unit else ""), each.example or "")
        for at, each in enumerate(table.columns[:_COLUMNS])
    )  # fmt: skip
    row, column = (area.top, area.left) if area else (1, 1)
    summed = any(each.reason in SUMS for each in table.left_out)
    return TableView(
        table.range,
        table.name or "",
        table.num_rows,
        columns,
        sheet_url(record.sheet_id, row=row, column=column, asked=asked),
        csv_url(record.sheet_id, place) if record.path else "",
        table.note,
        csv_url(record.sheet_id, place, totals=True) if record.path and summed else "",
    )


def _sorts(record: SheetRecord) -> tuple[int, int] | None:
    if len(record.tables) != 1:
        return None
    table, area = record.tables[0], area_of(record.tables[0].range)
    if area is None or table.transposed or table.header_row is None:
        return None
    return table.header_row + max(table.header_height, 1), area.bottom


def _crumbs(record: SheetRecord, form: SearchForm) -> tuple[tuple[str, str], ...]:
    names = record.path.split("/")[:-1]
    return tuple(
        (form.url(folder="/".join(names[: at + 1])), name) for at, name in enumerate(names)
    )


def table_file(
    index: SheetIndex, given: Mapping[str, str], form: TableFormat = "csv"
) -> tuple[Iterator[bytes], dict[str, str]]:
    """Return the lines of a table in UTF-8, and the headers that name the file.

    The header `x-sat-note` says what was left out, and what else a reader must know.
    """
    record = record_of(index, given)
    place = number_of(given, "table", 0, _MOST_TABLES, 0)
    totals = bool(number_of(given, "totals", 0, 1, 0))
    if place >= len(record.tables):
        raise PageError(404, f"The sheet {record.sheet_id!r} has no table {place}.")
    with reading(record):
        table = index.table(record.sheet_id, place, totals=totals)
    sheet = form == "csv"  # a spreadsheet opens it
    lines = chain([_BYTE_ORDER_MARK] * sheet, table_text(table, form, defused=sheet))
    names = [record.workbook_name, record.sheet]
    name = " ".join(dict.fromkeys(filter(None, names))) + (f" {place + 1}" if place else "")
    headers = attachment(name, "csv") if sheet else {}
    if table.note:
        headers["x-sat-note"] = quote(table.note, safe=_PLAIN, errors="replace")
    return (line.encode("utf-8", "replace") for line in lines), headers
