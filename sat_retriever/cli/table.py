"""`sat table`: print the data of a sheet's table as CSV, JSON or Markdown."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sat_retriever.cli.principals import GroupsOption, OwnerOption, opened_for
from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    broken_pipe_is_the_end,
    counted,
    examples,
    plain,
    refuse_unquoted,
    stderr,
)
from sat_retriever.records.files import draft_of
from sat_retriever.tools.naming import named_sheet
from sat_retriever.workbook.typed import FORMATS, table_text

EXAMPLES = examples(
    'sat table "2024/Sales.xlsx#Q1" --index reports.sat > q1.csv',
    'sat table "Sales.xlsx#Q1" --table 1 --format json --index reports.sat',
    'sat table "Sales.xlsx#Q1!A30:F60" --rows --format md --index reports.sat',
)


def table(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="A sheet's id; with '!' and a range, the table in which the range begins.",
            metavar="SHEET[!RANGE]",
        ),
    ],
    file: IndexOption = DEFAULT_INDEX,
    *,
    place: Annotated[
        int,
        typer.Option("--table", min=0, help="Which of its tables; 0 is the main one.", metavar="N"),
    ] = 0,
    form: Annotated[
        str, typer.Option("--format", help=f"One of: {', '.join(FORMATS)}.", metavar="NAME")
    ] = "csv",
    rows: Annotated[
        bool, typer.Option("--rows", help="Add a column _row with the sheet rows.")
    ] = False,
    totals: Annotated[
        bool, typer.Option("--totals", help="Keep totals and subtotals among the records.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write this file instead.", metavar="FILE", dir_okay=False)
    ] = None,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
) -> None:
    """Print the data of a table: its records below the header, without totals.

    The workbook is read at this moment; numbers, dates and units are
    read as such. Headings between the records are a column Section.
    Rows that were left out, and what has changed, are said on standard
    error.
    """
    refuse_unquoted(context, name)
    with opened_for(file, as_groups, as_owner=as_owner) as opened:
        record, cited = named_sheet(opened, name)
        found = opened.table(record.sheet_id, cited or place, totals=totals)
    lines = table_text(found, form, rows=rows)
    if out is not None:
        with draft_of(out) as draft, draft.open("w", encoding="utf-8", newline="") as file_:
            file_.writelines(lines)
    else:
        with broken_pipe_is_the_end():
            for line in lines:
                sys.stdout.write(line)
            sys.stdout.flush()
    said = f"{counted(len(found), 'record')} of {found.citation}"
    stderr().print(plain(f"{said}. {found.note}".rstrip()), style="dim", soft_wrap=True)
