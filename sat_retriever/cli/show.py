"""`sat show`: what the index knows of one workbook or one sheet."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer
from rich.table import Table

from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    JsonOption,
    plain,
    print_json,
    stdout,
)
from sat_retriever.errors import InputError
from sat_retriever.index import SheetIndex
from sat_retriever.types import Link, SheetRecord, Skipped, to_json
from sat_retriever.types import Table as SheetTable

EXAMPLES = """Show what the index knows of a workbook, or of one of its sheets.

[bold]Examples[/bold]

  sat show "2024/Sales.xlsx" --index reports.sat

  sat show "Sales.xlsx#Q1" --index reports.sat --json
"""


def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A workbook's path or name, or that and a sheet.", metavar="WORKBOOK[#SHEET]"
        ),
    ],
    file: IndexOption = DEFAULT_INDEX,
    *,
    as_json: JsonOption = False,
) -> None:
    """Show what the index knows of a workbook or sheet."""
    with SheetIndex.open(file) as opened:
        ids = _find(opened, name)
        records = list(opened.records(ids).values())
        links = opened.links(ids)
        skipped = _skipped(opened, name)
    if not records and not skipped:
        raise InputError(_unknown(file.name, name, _all_names(file)))
    if as_json:
        parts = {"sheets": records, "links": links, "skipped": skipped}
        print_json({"name": name, **{key: to_json(value) for key, value in parts.items()}})
    elif len(records) == 1:
        _print_sheet(records[0], links)
    else:
        _print_workbook(name, records, skipped)


show.__doc__ = EXAMPLES


def _find(opened: SheetIndex, name: str) -> list[str]:
    """Ids of the sheets meant by a sheet id, a workbook's path or name, with or without #sheet."""
    if opened.records([name]):
        return [name]
    found = opened.sheet_ids(name)
    if found or "#" not in name:
        return found
    # A sheet name may hold a "#" itself, so every split is tried.
    parts = name.split("#")
    for cut in range(len(parts) - 1, 0, -1):
        workbook, sheet = "#".join(parts[:cut]), "#".join(parts[cut:])
        ids = [i for i in opened.sheet_ids(workbook) if i.endswith(f"#{sheet}")]
        if ids:
            return ids
    return []


def _skipped(opened: SheetIndex, name: str) -> list[Skipped]:
    wanted = {name, name.partition("#")[0]}
    return [
        skip
        for state in opened.workbooks()
        if wanted & {state.path, state.path.rpartition("/")[2]}
        for skip in state.skipped
    ]


def _all_names(file: object) -> list[str]:
    with SheetIndex.open(str(file)) as opened:
        ids = opened.sheet_ids()
    return sorted({part for i in ids for part in (i, i.partition("#")[0])})


def _unknown(index: str, name: str, names: list[str]) -> str:
    close = get_close_matches(name, names, n=3, cutoff=0.4)
    hint = f"; did you mean {', '.join(map(repr, close))}?" if close else ""
    return f"{index} has no workbook or sheet {name!r}{hint}"


def _print_sheet(record: SheetRecord, links: list[Link]) -> None:
    out = stdout()
    out.print(plain(record.sheet_id), style="bold green")
    shape = f"{record.num_rows or '?'} rows x {record.num_cols or '?'} columns"
    facts = (record.format, record.visibility.value, shape, record.range or "")
    out.print(plain(" · ".join(fact for fact in facts if fact)))
    for number, table in enumerate(record.tables, start=1):
        out.print(_columns(table, "main table" if number == 1 else f"table {number}"))
    if links:
        grid = Table(title="links", title_justify="left")
        for name in ("from", "type", "to", "evidence"):
            grid.add_column(name, overflow="fold")
        for link in links:
            grid.add_row(*map(plain, (link.source, link.type, link.target, link.evidence)))
        out.print(grid)


def _columns(table: SheetTable, title: str) -> Table:
    header = "headers in the first column" if table.transposed else "no header row"
    if table.header_row:
        last = table.header_row + table.header_height - 1
        rows = str(last) if table.header_height == 1 else f"{table.header_row}-{last}"
        header = f"header row {rows}"
    text = plain(f"{title} {table.range}: {header}, {table.num_rows:,} records")
    grid = Table(title=text, title_justify="left")
    for name in ("column", "type", "unit", "example"):
        grid.add_column(name, overflow="fold")
    for column in table.columns:
        grid.add_row(
            plain(column.name),
            column.type.value,
            plain(column.unit or ""),
            plain(column.example or ""),
        )
    return grid


def _print_workbook(name: str, records: list[SheetRecord], skipped: list[Skipped]) -> None:
    grid = Table(title=plain(name), title_justify="left")
    for title in ("sheet", "range", "tables", "columns"):
        grid.add_column(title, overflow="fold")
    for record in records:
        names = " | ".join(column.name for column in record.columns[:8])
        grid.add_row(
            plain(record.sheet_id), record.range or "", str(len(record.tables)), plain(names)
        )
    for skip in skipped:
        grid.add_row(
            plain(skip.sheet or "(whole file)"), "", skip.reason.value, plain(skip.message)
        )
    stdout().print(grid)
