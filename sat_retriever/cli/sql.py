"""`sat sql`: ask tables of found sheets in SQL, with citations of what was read."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import typer

from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    AnswerOutOption,
    ForceOption,
    GroupsOption,
    IndexOption,
    JsonOption,
    OwnerOption,
    TotalsOption,
    examples,
    opened_for,
)
from sat_retriever.cli.terminal import (
    check_excel,
    counted,
    plain,
    print_json,
    print_rows,
    stderr,
    stdout,
)
from sat_retriever.errors import InputError
from sat_retriever.tools.answerfile import AnswerFile
from sat_retriever.tools.sql.ask import QueryLimits
from sat_retriever.tools.sql.query import query_over

app = typer.Typer()


@app.command(
    no_args_is_help=True,
    epilog=examples(
        'sat sql --sheets "Sales.xlsx#Q1" --index reports.sat',
        'sat sql "SELECT region, sum(revenue) FROM q1 GROUP BY 1" --sheets "Sales.xlsx#Q1"',
        'sat sql "SELECT * FROM q1 JOIN staff USING (region)" '
        '-s "Sales.xlsx#Q1" -s "Staff.csv#Staff"',
    ),
)
def sql(
    query: Annotated[
        str,
        typer.Argument(
            help="One SELECT; without it the names of tables and columns.", metavar="[SQL]"
        ),
    ] = "",
    file: IndexOption = DEFAULT_INDEX,
    *,
    sheets: Annotated[
        list[str] | None,
        typer.Option(
            "--sheets",
            "-s",
            help="A sheet's id, or a citation of one of its tables; may be repeated.",
            metavar="SHEET",
        ),
    ] = None,
    totals: TotalsOption = False,
    rows: Annotated[int, typer.Option(min=1, help="Most rows of the result.", metavar="N")] = 1000,
    columns: Annotated[
        int, typer.Option(min=1, help="Most columns of the result, or of a table.", metavar="N")
    ] = 100,
    today: Annotated[
        dt.datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            help="Day of current_date and now(); today if not given.",
            metavar="YYYY-MM-DD",
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Most seconds of the query.", metavar="N")
    ] = 10.0,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    out: AnswerOutOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Ask the tables of some sheets in SQL (DuckDB, extra sql).

    Each table has the name of its sheet, and a column _row with the
    sheet's row. The workbooks are read at this moment. Rows that are no
    records, such as totals, are left out and named. The query runs in a
    process of its own, without files, network and settings.
    """
    if not sheets:
        raise InputError("no sheet is named; add --sheets with an id from sat search")
    check_excel(out, file, force=force)
    with opened_for(file, as_groups, as_owner=as_owner) as opened:
        limits = QueryLimits(seconds=seconds, rows=rows, columns=columns)
        day = today.date() if today else None
        asked = query_over(opened, sheets, limits, day, totals=totals)
        ids = [each.table.sheet_id for each in asked.tables]
        places, records = opened.places(ids), [*opened.records(ids).values()]
    if not query.strip():
        for line in asked.schema.split("\n"):
            stdout().print(plain(line), soft_wrap=True)
        return
    found = asked.run(query)
    if out:
        AnswerFile(out, places, records, asked.tables).write_result(found)
    if as_json:
        print_json(found.to_dict())
        return
    print_rows(found.columns, found.rows)
    said = [counted(len(found.rows), "row"), *(f"from {each}" for each in found.citations)]
    stderr().print(plain("; ".join(said)), style="dim", soft_wrap=True)
    if found.note:
        stderr().print(plain(found.note), style="yellow", soft_wrap=True)
