"""`sat cells`: print cells of a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

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
    plain,
    print_json,
    print_rows,
    stderr,
    stdout,
)
from sat_retriever.errors import InputError
from sat_retriever.records.area import area_of, column_letters
from sat_retriever.tools.context import labels_note, read_sheet, rows_note, with_labels
from sat_retriever.tools.naming import named_sheet
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
