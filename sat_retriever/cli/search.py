"""`sat search`: find the sheets that answer a question."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import typer

from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    QUOTED,
    DeviceOption,
    GroupsOption,
    IndexOption,
    JsonOption,
    OwnerOption,
    PathOption,
    RerankerOption,
    TodayOption,
    WorkbookOption,
    chosen,
    examples,
    opened_for,
    refuse_unquoted,
)
from sat_retriever.errors import InputError
from sat_retriever.records.contents import Role
from sat_retriever.records.filters import Filters
from sat_retriever.records.sheets import Visibility
from sat_retriever.text.period.spans import asked_on

app = typer.Typer()


@app.command(
    no_args_is_help=True,
    epilog=examples(
        'sat search "monthly revenue by region 2024" --index reports.sat',
        'sat search "payroll March" -i reports.sat -k 10 --path "hr/*" --format xlsx',
        "sat search \"open orders\" -i reports.sat --json | jq '.hits[0].range'",
    ),
    context_settings=QUOTED,
)
def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="A question or a few words.", metavar="QUERY")],
    file: IndexOption = DEFAULT_INDEX,
    *,
    top_k: Annotated[
        int | None,
        typer.Option(
            "-k", "--top-k", min=1, help="At most N hits: 5, or 20 with --complete.", metavar="N"
        ),
    ] = None,
    complete: Annotated[
        bool,
        typer.Option("--complete", help="As many hits as the question needs, not a fixed number."),
    ] = False,
    reranker: RerankerOption = "auto",
    device: DeviceOption = "auto",
    min_score: Annotated[
        float | None, typer.Option(help="Leave out hits with a lower score.", metavar="SCORE")
    ] = None,
    workbook: WorkbookOption = None,
    path: PathOption = None,
    visibility: Annotated[
        Visibility | None,
        typer.Option(help="Only visible, hidden or very_hidden sheets.", metavar="NAME"),
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="Only this format, e.g. xlsx.", metavar="NAME")
    ] = None,
    role: Annotated[
        Role | None, typer.Option(help="Only sheets of this role, e.g. lookup.", metavar="NAME")
    ] = None,
    period: Annotated[
        str | None,
        typer.Option(help="Only sheets of this time, e.g. 'Q1 2024'.", metavar="TIME"),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(help="Only files modified at or after this time (UTC).", metavar="DATE"),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(help="Only files modified before this time (UTC).", metavar="DATE"),
    ] = None,
    today: TodayOption = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only sheets with this metadata value.", metavar="KEY=VALUE"),
    ] = None,
    all_copies: Annotated[
        bool, typer.Option("--all-copies", help="Show every copy and version of a sheet.")
    ] = False,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    as_json: JsonOption = False,
) -> None:
    """Find the sheets that answer a question, best first, each with the reason why."""
    refuse_unquoted(context, query)
    filters = Filters(
        workbook=workbook,
        path=path,
        visibility=visibility,
        format=format_ or None,
        role=role,
        period=period,
        modified_after=_moment("--after", after),
        modified_before=_moment("--before", before),
        metadata=dict(_key_value(text) for text in where or ()),
    )
    from sat_retriever.index.store.ahead import load_encoder_ahead

    load_encoder_ahead(file, device)
    with opened_for(file, as_groups, as_owner=as_owner, device=device) as opened:
        with opened.warming_up():
            from sat_retriever.answer.retriever import SheetRetriever
            from sat_retriever.cli.hits import print_hits
            from sat_retriever.cli.terminal import plain, print_json, stderr, stdout

            day = asked_on(today.date() if today else None)
            times = opened.search.asked_times(query, today=day)
            retriever = SheetRetriever(opened, chosen(reranker))
        find, most = (retriever.retrieve_set, 20) if complete else (retriever.retrieve, 5)
        hits = find(
            query, top_k or most, filters, min_score=min_score, today=day, all_copies=all_copies
        )
    if as_json:
        print_json({"query": query, "times": times.to_dict(), **hits.to_dict()})
    elif hits:
        if hits.heading:
            stdout().print(plain(hits.heading), style="yellow", soft_wrap=True)
        print_hits(query, hits)
    else:
        stdout().print("no sheets")
    if times and not as_json:
        stdout().print(plain(f"times: {times.label}"), soft_wrap=True)
    if hits.note:
        stderr().print(plain(hits.note), soft_wrap=True)


def _key_value(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise InputError(f"--where takes KEY=VALUE, not {text!r}")
    return key, value


def _moment(option: str, text: str | None) -> dt.datetime | None:
    """The start of a year, month or day, or a time.

    >>> _moment("--after", "2024-03")
    datetime.datetime(2024, 3, 1, 0, 0)
    """
    if text is None:
        return None
    written = text.strip()
    try:
        return dt.datetime.fromisoformat(written + {4: "-01-01", 7: "-01"}.get(len(written), ""))
    except ValueError as error:
        raise InputError(
            f"{option} is {text!r}, which is not a date; write one like 2024, 2024-03, 2024-03-31 "
            "or 2024-03-31T18:00"
        ) from error
