"""`sat cells` and `sat table`: print cells of a sheet, or the data of a table of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    QUOTED,
    GroupsOption,
    IndexOption,
    JsonOption,
    OwnerOption,
    TotalsOption,
    examples,
    opened_for,
    refuse_unquoted,
)
from sat_retriever.cli.terminal import (
    broken_pipe_is_the_end,
    counted,
    plain,
    print_json,
    print_rows,
    stderr,
    stdout,
)
from sat_retriever.errors import InputError
from sat_retriever.records.area import area_of, column_letters
from sat_retriever.records.files import draft_of
from sat_retriever.tools.context import labels_note, read_sheet, rows_note, with_labels
from sat_retriever.tools.naming import named_sheet
from sat_retriever.workbook.typed import FORMATS, table_text
from sat_retriever.workbook.window import CellWindow, parse_range

app = typer.Typer()


@app.command(
    no_args_is_help=True,
    epilog=examples(
        'sat cells "2024/Sales.xlsx#Q1!A1:D20" --index reports.sat',
        'sat cells "Sales.xlsx#Q1!B:B" --formulas --index reports.sat',
    ),
    context_settings=QUOTED,
)
def cells(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="A sheet's id, with '!' and a range of cells; without it the main table.",
            metavar="SHEET[!RANGE]",
        ),
    ],
    file: IndexOption = DEFAULT_INDEX,
    *,
    formulas: Annotated[
        bool, typer.Option("--formulas", help="Formulas instead of the values they gave.")
    ] = False,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print cells of a sheet, with row numbers and column letters.

    The workbook is read at this moment. At most 20,000 cells are
    printed; formulas are not computed. A label that is merged over rows
    of a table is printed in each of them.
    """
    refuse_unquoted(context, name, _cited)
    with opened_for(file, as_groups, as_owner=as_owner) as opened:
        record, cited = named_sheet(opened, name)
        asked = cited or record.main_range
        if not asked:
            raise InputError(f"{record.sheet_id!r} has no known range; give one, such as !A1:D20")
        place = opened.bounded_file_of(record.sheet_id)
        window = read_sheet(place, record, parse_range(asked), formulas=formulas)
    area = area_of(window.range)
    citation = f"{record.cited}!{window.range}" if area else record.cited
    rows = with_labels(record, window)
    notes = [_note(window)]
    if area:
        notes += [rows_note(record, area), labels_note(record, window, area)]
    if as_json:
        print_json(
            {
                "citation": citation,
                "range": window.range,
                "used": window.used,
                "complete": window.complete,
                "rows": [list(row) for row in rows],
                "note": " ".join(filter(None, notes)),
            }
        )
    elif area:
        stdout().print(plain(citation), style="bold green", soft_wrap=True)
        columns = map(column_letters, range(area.left, area.right + 1))
        numbers = range(area.top, area.top + len(rows))
        print_rows([*columns], rows, [*map(str, numbers)])
    for note in filter(None, notes):
        stderr().print(plain(note), style="yellow", soft_wrap=True)


def _cited(words: Sequence[str]) -> str:
    """Words of a sheet's name, and the range after them if there is one, as one citation."""
    *name, last = words
    try:
        parse_range(last)
    except InputError:
        return " ".join(words)
    return f"{' '.join(name)}!{last}"


def _note(window: CellWindow) -> str:
    """What is to be said about cells that are not printed; empty if there is nothing."""
    if not window.range:
        return f"this range is empty; the sheet's cells are in {window.used}"
    if window.cut:
        return "the sheet is too large to be read to its end; later cells are missing"
    return "" if window.complete else f"only {window.range} fits; ask for the other cells next"


@app.command(
    no_args_is_help=True,
    epilog=examples(
        'sat table "2024/Sales.xlsx#Q1" --index reports.sat > q1.csv',
        'sat table "Sales.xlsx#Q1" --table 1 --format json --index reports.sat',
        'sat table "Sales.xlsx#Q1!A30:F60" --rows --format md --index reports.sat',
    ),
    context_settings=QUOTED,
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
    totals: TotalsOption = False,
    out: Annotated[
        Path | None, typer.Option(help="Write this file instead.", metavar="FILE", dir_okay=False)
    ] = None,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
) -> None:
    """Print the data of a table: its records below the header, without totals.

    The workbook is read at this moment; numbers, dates and units are
    read as such. Headings between the records are a column Section.
    Standard error names the rows that were left out, and changes of the
    file.
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
