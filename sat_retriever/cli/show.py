"""`sat show`: print what the index knows about one workbook or one sheet, and its links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    QUOTED,
    GroupsOption,
    IndexOption,
    JsonOption,
    OwnerOption,
    examples,
    opened_for,
    refuse_unquoted,
)
from sat_retriever.cli.terminal import (
    counted,
    grid,
    other_end,
    plain,
    print_json,
    skipped_table,
    stderr,
    stdout,
)
from sat_retriever.errors import InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.formats import FormulaState
from sat_retriever.records.hits import NO_COPIES, Copies
from sat_retriever.records.jsonform import to_json
from sat_retriever.records.links import Link, in_order, kind_of
from sat_retriever.records.sheets import SheetRecord, Skipped
from sat_retriever.records.sheets import Table as SheetTable
from sat_retriever.tools.naming import find_sheets, place_of, sheets_called, unknown_name
from sat_retriever.workbook.remote.url import joined

_COLUMNS = 8  # headers shown per sheet of a workbook

app = typer.Typer()


@app.command(
    no_args_is_help=True,
    epilog=examples(
        'sat show "2024/Sales.xlsx" --index reports.sat',
        'sat show "Sales.xlsx#Q1" --index reports.sat --links 20',
        'sat show "Sales.xlsx#Q1" --index reports.sat --json',
    ),
    context_settings=QUOTED,
)
def show(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="A workbook's path or file name, with '#' and a sheet if wanted; or only a sheet.",
            metavar="WORKBOOK[#SHEET]",
        ),
    ],
    file: IndexOption = DEFAULT_INDEX,
    *,
    most: Annotated[
        int,
        typer.Option("--links", min=0, help="Links listed per type and direction.", metavar="N"),
    ] = 5,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what the index knows about a workbook, or one of its sheets.

    For a sheet: its tables, and its links to other sheets with the
    evidence for each. For a workbook: its sheets with their numbers of
    links.
    """
    refuse_unquoted(context, name)
    with opened_for(file, as_groups, as_owner=as_owner) as opened:
        workbook, ids = find_sheets(opened, name)
        skipped = skipped_of(opened, workbook, ids)
        if not ids and not skipped:
            ids = [_only_sheet(opened, name)]
        found = opened.records(ids)
        records = [found[sheet_id] for sheet_id in ids if sheet_id in found]
        links = opened.links(ids)
        copies = opened.copies(ids)
    if as_json:
        parts = {"sheets": records, "links": links, "skipped": skipped}
        listed = {sheet_id: found.to_dict() for sheet_id, found in copies.items()}
        plain_parts = {key: to_json(value) for key, value in parts.items()}
        print_json({"name": name, **plain_parts, "copies": listed})
    elif len(records) == 1:
        _print_sheet(records[0], links, most)
        _print_copies(copies.get(records[0].sheet_id, NO_COPIES))
    else:
        _print_workbook(name, records, links, skipped)


def _print_copies(copies: Copies) -> None:
    if not copies:
        return
    out = stdout()
    out.print()
    out.print(f"{copies.label}:", style="yellow")
    for sheet_id in copies.sheet_ids:
        out.print(plain(f"  {sheet_id}"), soft_wrap=True)
    if copies.number > len(copies.sheet_ids):
        out.print(f"  and {copies.number - len(copies.sheet_ids):,} more")


def _only_sheet(opened: SheetIndex, name: str) -> str:
    """The one sheet that matches a name by other case or without its workbook; reports it."""
    called = sheets_called(opened, name)
    if len(called) != 1:
        raise InputError(unknown_name(opened, name))
    stderr().print(plain(f"the only sheet of that name: {called[0]}"), soft_wrap=True)
    return called[0]


def skipped_of(opened: SheetIndex, workbook: str, ids: Sequence[str]) -> list[Skipped]:
    """What was skipped of a workbook, by its name and by the sheets that it means."""
    if not workbook:
        return []
    here, paths = place_of(workbook), {*opened.workbook_of(ids).values()}
    return [
        skip
        for state in opened.workbooks()
        if state.path in paths
        or workbook in (state.path, state.path.rpartition("/")[2])
        or joined(state.root, state.path) == here
        for skip in state.skipped
    ]


def _print_sheet(record: SheetRecord, links: list[Link], most: int) -> None:
    out = stdout()
    out.print(plain(record.sheet_id), style="bold green")
    shape = f"{_size(record.num_rows, 'row')} x {_size(record.num_cols, 'column')}"
    unread = "formulas not read" if record.formulas is FormulaState.UNREAD else ""
    partial = "read in part" if record.partial else ""
    encoding = f"{record.encoding} (unsure)" if record.unsure_encoding else record.encoding
    kind = " ".join(filter(None, (record.format, encoding)))
    facts = (kind, record.visibility.value, shape, record.range or "", unread, partial)
    out.print(plain(", ".join(fact for fact in facts if fact)))
    for number, table in enumerate(record.tables, start=1):
        out.print()
        _print_table(table, "main table" if number == 1 else f"table {number}")
    if links:
        out.print()
        out.print(link_table(record, links, most))


def _size(number: int | None, noun: str) -> str:
    return counted(number, noun) if number else f"? {noun}s"


def _print_table(table: SheetTable, title: str) -> None:
    header = "headers in the first column" if table.transposed else "no header row"
    if table.header_row:
        last = table.header_row + table.header_height - 1
        several = table.header_height > 1
        header = f"header rows {table.header_row}-{last}" if several else f"header row {last}"
    # Units are rare, so an empty column of units is left out.
    units = any(column.unit for column in table.columns)
    names = ("column", "type", "unit", "example") if units else ("column", "type", "example")
    listed = grid(*names)
    for column in table.columns:
        cells = [plain(column.name), plain(column.type.value), plain(column.example or "")]
        if units:
            cells.insert(2, plain(column.unit or ""))
        listed.add_row(*cells)
    out = stdout()
    out.print(f"{title} {table.range}: {header}, {counted(table.num_rows, 'record')}", style="bold")
    if table.note:
        out.print(plain(table.note), style="yellow")
    out.print(listed)


def _print_workbook(
    name: str, records: list[SheetRecord], links: list[Link], skipped: list[Skipped]
) -> None:
    out = stdout()
    out.print(plain(name), style="bold green")
    if records:
        ends = Counter(end for link in links for end in {link.source, link.target})
        table = grid("sheet", "range", "tables", "links", "columns")
        for record in records:
            names = " | ".join(column.name for column in record.columns[:_COLUMNS])
            more = len(record.columns) - _COLUMNS
            names += f" +{more}" if more > 0 else ""
            counts = (f"{len(record.tables):,}", f"{ends[record.sheet_id]:,}")
            table.add_row(plain(record.sheet_id), record.range or "", *counts, plain(names))
        out.print(table)
        if links:
            types = Counter(link.type for link in links)
            listed = ", ".join(f"{types[kind]:,} {kind}" for kind in in_order(types))
            out.print()
            out.print("links:", plain(listed))
    if skipped:
        out.print()
        out.print(skipped_table(skipped))


def link_table(record: SheetRecord, links: Sequence[Link], most: int) -> Table:
    """Links from and to a sheet, at most `most` per type and direction, strongest first."""
    table = grid("link", "sheet", "evidence")
    table.columns[0].no_wrap = True
    for kind in in_order({link.type for link in links}):
        own = [link for link in links if link.type == kind]
        table.add_row(Text.assemble((plain(kind).plain, "bold"), (f"  {len(own):,}", "dim")))
        for way, ends in _by_way(kind, own, record.sheet_id):
            _add_rows(table, record, way, ends, most)
    return table


def _by_way(kind: str, links: Sequence[Link], sheet_id: str) -> list[tuple[str, list[Link]]]:
    there, back = kind_of(kind).says
    if not kind_of(kind).directed:
        return [(there, list(links))]
    out = [link for link in links if link.source == sheet_id]
    return [(there, out), (back, [link for link in links if link.source != sheet_id])]


def _add_rows(
    table: Table, record: SheetRecord, way: str, links: Sequence[Link], most: int
) -> None:
    ranked = sorted(links, key=lambda x: (-x.weight, x.source, x.target))
    for link in ranked[:most]:
        table.add_row(f"  {way}", plain(other_end(record, link)), plain(link.evidence))
        way = ""
    rest = len(ranked) - len(ranked[:most])
    if rest:
        table.add_row(f"  {way}" if most == 0 else "", Text(f"+{rest:,} more", style="dim"))
