"""`sat cells`: print cells of a sheet, read anew from its workbook."""

from __future__ import annotations

from typing import Annotated

import typer

from sat_retriever.cli.datatable import print_rows
from sat_retriever.cli.principals import GroupsOption, OwnerOption, opened_for
from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    JsonOption,
    examples,
    plain,
    print_json,
    refuse_unquoted,
    stderr,
    stdout,
)
from sat_retriever.errors import InputError
from sat_retriever.records.area import Area, area_of, column_letters
from sat_retriever.tools.naming import named_sheet
from sat_retriever.workbook.window import CellWindow, parse_range, read_range

EXAMPLES = examples(
    'sat cells "2024/Sales.xlsx#Q1!A1:D20" --index reports.sat',
    'sat cells "Sales.xlsx#Q1!B:B" --formulas --index reports.sat',
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
    printed; formulas are not computed.
    """
    refuse_unquoted(context, name)
    with opened_for(file, as_groups, as_owner=as_owner) as opened:
        record, cited = named_sheet(opened, name)
        path, within = opened.bounded_file_of(record.sheet_id)
    asked = cited or record.main_range
    if not asked:
        raise InputError(f"{record.sheet_id!r} has no known range; give one, such as !A1:D20")
    window = read_range(
        path,
        record.sheet,
        parse_range(asked),
        formulas=formulas,
        within=within,
        relative=record.path or None,
    )
    area = area_of(window.range)
    citation = f"{record.cited}!{window.range}" if area else record.cited
    note = _note(window)
    if as_json:
        print_json(
            {
                "citation": citation,
                "range": window.range,
                "used": window.used,
                "complete": window.complete,
                "rows": [list(row) for row in window.rows],
            }
        )
    elif area:
        stdout().print(plain(citation), style="bold green", soft_wrap=True)
        _print(window, area)
    if note:
        stderr().print(plain(note), style="yellow", soft_wrap=True)


def _print(window: CellWindow, area: Area) -> None:
    columns = range(area.left, area.right + 1)
    numbers = range(area.top, area.top + len(window.rows))
    print_rows([*map(column_letters, columns)], window.rows, [*map(str, numbers)])


def _note(window: CellWindow) -> str:
    """What is to be said about cells that are not printed; empty if there is nothing."""
    if not window.range:
        return f"no cell there is used; the sheet uses {window.used}"
    if window.cut:
        return "the sheet is too large to be read to its end; later cells are missing"
    return "" if window.complete else f"only {window.range} fits; ask for the other cells next"
