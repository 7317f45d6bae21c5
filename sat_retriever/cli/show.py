"""`sat show`: what the index knows of one workbook or one sheet."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    JsonOption,
    counted,
    examples,
    grid,
    plain,
    print_json,
    skipped_table,
    stdout,
)
from sat_retriever.errors import InputError
from sat_retriever.index import SheetIndex
from sat_retriever.jsonform import to_json
from sat_retriever.types import Link, SheetRecord, Skipped
from sat_retriever.types import Table as SheetTable

_COLUMNS = 8  # headers shown of a sheet among others

EXAMPLES = examples(
    'sat show "2024/Sales.xlsx" --index reports.sat',
    'sat show "Sales.xlsx#Q1" --index reports.sat --json',
)


def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A workbook's path or file name, or that, '#' and a sheet.",
            metavar="WORKBOOK[#SHEET]",
        ),
    ],
    file: IndexOption = DEFAULT_INDEX,
    *,
    as_json: JsonOption = False,
) -> None:
    """Show what the index knows of a workbook, or of one of its sheets."""
    with SheetIndex.open(file) as opened:
        workbook, records = _find(opened, name)
        links = opened.links([record.sheet_id for record in records])
        skipped = _skipped(opened, workbook)
        if not records and not skipped:
            raise InputError(_unknown(opened, name))
    if as_json:
        parts = {"sheets": records, "links": links, "skipped": skipped}
        print_json({"name": name, **{key: to_json(value) for key, value in parts.items()}})
    elif len(records) == 1:
        _print_sheet(records[0], links)
    else:
        _print_workbook(name, records, skipped)


def _find(opened: SheetIndex, name: str) -> tuple[str, list[SheetRecord]]:
    """The workbook that is meant, "" for one sheet only, and the sheets that are meant."""
    exact = opened.records([name])
    if exact:
        return "", list(exact.values())
    whole = _sheets(opened, name)
    if whole or "#" not in name:
        return name, whole
    # A "#" may be part of either name, so every split is tried.
    parts = name.split("#")
    for cut in range(1, len(parts)):
        sheet = "#".join(parts[cut:])
        found = [r for r in _sheets(opened, "#".join(parts[:cut])) if r.sheet == sheet]
        if found:
            return "", found
    return name, []


def _sheets(opened: SheetIndex, workbook: str) -> list[SheetRecord]:
    """The sheets of a workbook, given as it is in the index or as a path from here."""
    ids = opened.sheet_ids(workbook)
    if not ids and workbook:
        here = Path(workbook).resolve()
        states = [s for s in opened.workbooks() if Path(s.root, s.path) == here]
        ids = opened.sheet_ids(states[0].path) if states else []
    return list(opened.records(ids).values())


def _skipped(opened: SheetIndex, workbook: str) -> list[Skipped]:
    if not workbook:
        return []
    here = Path(workbook).resolve()
    return [
        skip
        for state in opened.workbooks()
        if workbook in (state.path, state.path.rpartition("/")[2])
        or Path(state.root, state.path) == here
        for skip in state.skipped
    ]


def _unknown(opened: SheetIndex, name: str) -> str:
    ids = opened.sheet_ids()
    paths = {state.path for state in opened.workbooks()}
    names = sorted({*ids, *paths, *(path.rpartition("/")[2] for path in paths)})
    close = get_close_matches(name, names, n=3, cutoff=0.4)
    hint = f"; did you mean {', '.join(map(repr, close))}?" if close else ""
    return f"{opened.path} has no workbook or sheet {name!r}{hint}"


def _print_sheet(record: SheetRecord, links: list[Link]) -> None:
    out = stdout()
    out.print(plain(record.sheet_id), style="bold green")
    shape = f"{record.num_rows or '?'} rows x {record.num_cols or '?'} columns"
    facts = (record.format, record.visibility.value, shape, record.range or "")
    out.print(plain(", ".join(fact for fact in facts if fact)))
    for number, table in enumerate(record.tables, start=1):
        out.print()
        _print_table(table, "main table" if number == 1 else f"table {number}")
    if links:
        out.print()
        table_of_links = grid("from", "type", "to", "evidence")
        for link in links:
            table_of_links.add_row(
                *map(plain, (link.source, link.type, link.target, link.evidence))
            )
        out.print(table_of_links)


def _print_table(table: SheetTable, title: str) -> None:
    header = "headers in the first column" if table.transposed else "no header row"
    if table.header_row:
        last = table.header_row + table.header_height - 1
        several = table.header_height > 1
        header = f"header rows {table.header_row}-{last}" if several else f"header row {last}"
    # Units and examples are rare enough to leave an empty column out.
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
    out.print(listed)


def _print_workbook(name: str, records: list[SheetRecord], skipped: list[Skipped]) -> None:
    out = stdout()
    out.print(plain(name), style="bold green")
    if records:
        table = grid("sheet", "range", "tables", "columns")
        for record in records:
            names = " | ".join(column.name for column in record.columns[:_COLUMNS])
            count = str(len(record.tables))
            table.add_row(plain(record.sheet_id), record.range or "", count, plain(names))
        out.print(table)
    if skipped:
        out.print()
        out.print(skipped_table(skipped))
