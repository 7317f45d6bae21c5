"""`sat export`: print tables of sheets and workbooks, or save them as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    ForceOption,
    GroupsOption,
    IndexOption,
    OwnerOption,
    TotalsOption,
    examples,
    opened_for,
)
from sat_retriever.cli.show import skipped_of
from sat_retriever.cli.terminal import check_target, counted, plain, stderr, write_parts
from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.records.files import make_folder
from sat_retriever.records.typedtable import TypedTable
from sat_retriever.text.oneline import one_line
from sat_retriever.tools.export import (
    EXPORT_FORMATS,
    AskedTable,
    asked_tables,
    file_names,
    told,
    write_parquet,
    write_workbook,
)
from sat_retriever.tools.naming import find_sheets
from sat_retriever.workbook.typed import table_text

_LISTED = 20  # tables that a message names

app = typer.Typer()


@app.command(
    no_args_is_help=True,
    epilog=examples(
        'sat export "Sales.xlsx#Q1!A30:F60" --index reports.sat > q1.csv',
        'sat export "2024/Sales.xlsx" --format xlsx --out sales.xlsx --index reports.sat',
        'sat export "Sales.xlsx#Q1" "Staff.csv" --format parquet --out tables/ --index reports.sat',
    ),
)
def export(
    names: Annotated[
        list[str],
        typer.Argument(
            help="Workbooks, or ids of sheets; with '!' and a range, the table in which it begins.",
            metavar="SHEET...",
        ),
    ],
    file: IndexOption = DEFAULT_INDEX,
    *,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help=f"One of: {', '.join(EXPORT_FORMATS)}; that of the file's name, else csv.",
            metavar="NAME",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write this file; or into this folder, a file for each table.", metavar="FILE|DIR"
        ),
    ] = None,
    force: ForceOption = False,
    place: Annotated[
        int | None,
        typer.Option(
            "--table", min=0, help="Only this table of each sheet; 0 is the main one.", metavar="N"
        ),
    ] = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Add a column _row with the sheet rows.")
    ] = False,
    totals: TotalsOption = False,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
) -> None:
    """Print tables of sheets and workbooks, or save them as files.

    A table's data are its records below the header, without totals. The
    workbooks are read at this moment; numbers and dates are exact.
    Headings between the records are a column Section. Standard error
    names all that was left out or changed. An xlsx or md file has all
    tables; of other formats each has its own file.
    """
    ending = out.suffix[1:].lower() if out else ""
    form = form or (ending if ending in EXPORT_FORMATS else "csv")
    if form not in EXPORT_FORMATS:
        raise InputError(f"unknown format {form!r}; choose one of: {', '.join(EXPORT_FORMATS)}")
    with opened_for(file, as_groups, as_owner=as_owner) as opened:
        asked, notes = asked_tables(opened, names, place)
        for name in names:
            workbook, ids = find_sheets(opened, name)
            for each in skipped_of(opened, workbook, ids):
                notes.append(f"{each.path}{f'#{each.sheet}' if each.sheet else ''}: {each.message}")
        for note in notes:
            _say(note)
        if not asked:
            raise EmptyInputError("there is no table to export")
        targets = _targets(asked, form, out)
        for target in dict.fromkeys(targets):
            check_target(target, file, force=force)
        tables = _loaded(opened, asked, form, targets, totals=totals)
        if form == "xlsx" and targets[0]:
            places = opened.places([each.record.sheet_id for each in asked])
            write_workbook(tables, places, targets[0].resolve(), rows=rows)
        elif form == "md":
            write_parts(_pages(tables, len(asked), rows=rows), targets[0])
        else:
            for (_asked, table), target in zip(tables, targets, strict=True):
                if form == "parquet" and target:
                    write_parquet(table, target.resolve(), rows=rows)
                else:
                    write_parts(table_text(table, form, rows=rows, defused=form == "csv"), target)


def _targets(asked: Sequence[AskedTable], form: str, out: Path | None) -> list[Path | None]:
    """The file of each table; None for standard output."""
    joined = form in ("xlsx", "md")
    if out is None or str(out) == "-":
        if form in ("xlsx", "parquet"):
            raise InputError(f"{form} is no text; name a file or a folder with --out")
        if len(asked) > 1 and not joined:
            listed = ", ".join(repr(each.citation) for each in asked[:_LISTED])
            raise InputError(
                f"{len(asked)} tables; name a folder with --out, or one of them: {listed}"
                + ", …" * (len(asked) > _LISTED)
            )
        return [None] * len(asked)
    alone = joined or len(asked) == 1
    if not alone and out.suffix and not out.is_dir():
        raise InputError(
            f"{len(asked)} tables, and {form} has one a file; name a folder with --out"
        )
    if alone and not out.is_dir():
        return [out] * len(asked)
    make_folder(out)
    names = file_names(asked, form)
    if joined:
        names = [f"tables.{form}" if len(asked) > 1 else names[0]] * len(asked)
    return [out / name for name in names]


def _loaded(
    opened: SheetIndex,
    asked: Sequence[AskedTable],
    form: str,
    targets: Sequence[Path | None],
    *,
    totals: bool,
) -> Iterator[tuple[AskedTable, TypedTable]]:
    """Yield the tables, one in memory at a time, and tell of each."""
    for each, target in zip(asked, targets, strict=True):
        table = opened.table(each.record.sheet_id, each.place, totals=totals)
        yield each, table
        to = f" in {target}" if target and len(set(targets)) > 1 else ""
        _say(f"{counted(len(table), 'record')} of {table.citation}{to}. {told(table, form)}")


def _pages(
    tables: Iterator[tuple[AskedTable, TypedTable]], number: int, *, rows: bool
) -> Iterator[str]:
    for _asked, table in tables:
        yield f"## {one_line(table.citation)}\n\n" if number > 1 else ""
        yield from table_text(table, "md", rows=rows)
        yield "\n" if number > 1 else ""


def _say(text: str) -> None:
    stderr().print(plain(text.rstrip()), style="dim", soft_wrap=True)
