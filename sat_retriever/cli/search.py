"""`sat search`: a question in, the sheets that answer it out."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    JsonOption,
    plain,
    print_json,
    stdout,
)
from sat_retriever.errors import InputError
from sat_retriever.filters import Filters
from sat_retriever.index import SheetIndex
from sat_retriever.retriever import Hit, SheetRetriever
from sat_retriever.types import Visibility

EXAMPLES = """Find the sheets that answer a question, best first, each with the reason why.

[bold]Examples[/bold]

  sat search "monthly revenue by region 2024" --index reports.sat

  sat search "payroll March" -i reports.sat -k 10 --path "hr/*" --format xlsx

  sat search "open purchase orders" -i reports.sat --json | jq '.hits[0].range'
"""


def search(
    query: Annotated[str, typer.Argument(help="A question or a few words.")],
    file: IndexOption = DEFAULT_INDEX,
    *,
    top_k: Annotated[int, typer.Option("-k", "--top-k", min=1, help="Most hits.")] = 5,
    min_score: Annotated[
        float | None, typer.Option(help="Leave out hits with a lower score.")
    ] = None,
    workbook: Annotated[str | None, typer.Option(help="Only this workbook's file name.")] = None,
    path: Annotated[str | None, typer.Option(help="Only paths that match this glob.")] = None,
    visibility: Annotated[
        Visibility | None, typer.Option(help="Only sheets shown like this.")
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="Only this file format, e.g. xlsx.")
    ] = None,
    after: Annotated[
        dt.datetime | None, typer.Option(help="Only files modified at this time (UTC) or later.")
    ] = None,
    before: Annotated[
        dt.datetime | None, typer.Option(help="Only files modified before this time (UTC).")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(help="Only this metadata value.", metavar="KEY=VALUE")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the sheets that answer a question."""
    filters = Filters(
        workbook=workbook,
        path=path,
        visibility=visibility,
        format=format_,
        modified_after=after,
        modified_before=before,
        metadata=dict(_key_value(text) for text in where or ()),
    )
    with SheetIndex.open(file) as opened:
        hits = SheetRetriever(opened).retrieve(query, top_k, filters, min_score=min_score)
        empty = len(opened) == 0
    if as_json:
        print_json({"query": query, "hits": [hit.to_dict() for hit in hits]})
    elif hits:
        _print_hits(query, hits)
    else:
        note = "the index is empty" if empty else "nothing meets these conditions"
        stdout().print(f"no sheets: {note}")


search.__doc__ = EXAMPLES


def _key_value(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise InputError(f"--where takes KEY=VALUE, not {text!r}")
    return key, value


def _print_hits(query: str, hits: list[Hit]) -> None:
    table = Table(title=plain(query), title_justify="left", title_style="bold", expand=True)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("sheet", ratio=4, overflow="fold")
    table.add_column("where", ratio=2, overflow="fold")
    table.add_column("columns", ratio=4, overflow="fold")
    table.add_column("why", ratio=3, overflow="fold")
    for hit in hits:
        table.add_row(str(hit.rank), f"{hit.score:.3f}", _sheet(hit), _where(hit), *_cells(hit))
    stdout().print(table)


def _sheet(hit: Hit) -> Text:
    record = hit.record
    text = plain(record.sheet)
    text.stylize("bold green")
    if record.visibility is not Visibility.VISIBLE:
        text.append(f" ({record.visibility.value.replace('_', ' ')})", style="yellow")
    if record.path or record.workbook:
        text.append("\n")
        text.append(plain(record.path or record.workbook))
    return text


def _where(hit: Hit) -> Text:
    record = hit.record
    area = record.tables[0].range if record.tables else record.range
    header = f"header row {record.header_row}" if record.header_row else "no header row"
    return plain(area or "").append(f"\n{header}", style="dim")


def _cells(hit: Hit) -> tuple[Text, Text]:
    names = [column.name for column in hit.record.columns if column.name]
    more = f" +{len(names) - 6}" if len(names) > 6 else ""
    why = plain(" ".join(hit.why.words) or "meaning only")
    why.append(f"\nmeaning {hit.why.dense:.2f}, words {hit.why.lexical:.2f}", style="dim")
    return plain(" | ".join(names[:6]) + more), why
