"""`sat search`: find the sheets that answer a question."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Set
from typing import Annotated

import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.text import Text

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.cli.options import (
    DEFAULT_INDEX,
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
    opened_for,
)
from sat_retriever.cli.terminal import (
    QUOTED,
    ending,
    examples,
    grid,
    other_end,
    plain,
    print_json,
    refuse_unquoted,
    stderr,
    stdout,
)
from sat_retriever.errors import InputError
from sat_retriever.rank.load import AUTO
from sat_retriever.records.contents import Role
from sat_retriever.records.filters import Filters
from sat_retriever.records.hits import Hit, Why
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Visibility
from sat_retriever.text.lexical import query_words
from sat_retriever.text.oneline import short
from sat_retriever.text.period.spans import asked_on
from sat_retriever.text.segment import stems

_WORD = re.compile(r"[^\W_]+")
_CELLS = 3  # cells shown per hit
_EQUAL = 3  # copies of equal files shown per hit
_COLUMNS = 6  # headers shown per hit; the rest are counted
_LINE_CHARS = 48  # characters that a cut line may claim from other columns
_NAME_CHARS = 12  # least characters of the sheet's name in it

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
    reranker: RerankerOption = AUTO,
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
    with opened_for(file, as_groups, as_owner=as_owner, device=device) as opened:
        opened.warm_up()
        retriever = SheetRetriever(opened, chosen(reranker))
        find, most = (retriever.retrieve_set, 20) if complete else (retriever.retrieve, 5)
        day = asked_on(today.date() if today else None)
        hits = find(
            query, top_k or most, filters, min_score=min_score, today=day, all_copies=all_copies
        )
        times = retriever.times(query, today=day)
        empty = len(opened) == 0
    if as_json:
        print_json({"query": query, "times": times.to_dict(), **hits.to_dict()})
    elif hits:
        if hits.heading:
            stdout().print(plain(hits.heading), style="yellow", soft_wrap=True)
        _print_hits(query, hits)
    else:
        reason = "the index is empty" if empty else "nothing meets these conditions"
        stdout().print(f"no sheets: {reason}")
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


def _print_hits(query: str, hits: list[Hit]) -> None:
    table = grid("#", "score", "sheet", "range", "why", title=plain(query))
    table.columns[0].justify = "right"
    ranks = {hit.sheet_id: hit.rank for hit in hits}
    wanted = set(query_words(query))
    for hit in hits:
        sheet, why = _sheet(hit), _why(hit, ranks)
        _mark(sheet, wanted)
        if hit is not hits[-1]:
            sheet.append("\n")  # a blank line between hits, whichever column is longer
            why.append(Text())
        table.add_row(str(hit.rank), f"{hit.score:.3f}", sheet, _range(hit), Group(*why))
    out = stdout()
    with out.capture() as shown:
        out.print(table)
    out.print(table)
    _print_ids([hit for hit in hits if _is_folded(hit, shown.get())])


def _is_folded(hit: Hit, shown: str) -> bool:
    """True if a sheet's name or path is broken over lines, so that it cannot be copied."""
    names = (hit.record.sheet, hit.record.path or hit.record.workbook)
    return not all(plain(name).plain in shown for name in names)


def _print_ids(hits: list[Hit]) -> None:
    out = stdout()
    if hits:
        out.print()
        out.print("ids in full, for sat show:", style="dim")
    for hit in hits:
        line = Text(f"{hit.rank}  ").append_text(plain(hit.sheet_id))
        out.print(line, soft_wrap=True)


def _mark(text: Text, wanted: Set[str]) -> None:
    """Underline the words of a text that the query has; only a terminal shows it."""
    for word in _WORD.finditer(text.plain):
        if not wanted.isdisjoint(stems(word[0])):
            text.stylize("underline", *word.span())


def _sheet(hit: Hit) -> Text:
    record = hit.record
    text = plain(record.sheet)
    text.stylize("bold green")
    if record.visibility is not Visibility.VISIBLE:
        text.append(f" ({record.visibility.value.replace('_', ' ')})", style="yellow")
    if record.path or record.workbook:
        text.append("\n").append_text(plain(record.url or record.path or record.workbook))
    names = [column.name for column in hit.columns if column.name]
    if names:
        more = f" +{len(names) - _COLUMNS}" if len(names) > _COLUMNS else ""
        listed = plain(" | ".join(names[:_COLUMNS]) + more)
        listed.stylize("dim")
        text.append("\n").append_text(listed)
    for each in hit.why.cells[:_CELLS]:
        line = plain(f"{each.place}: {short(each.text)}")
        line.stylize("cyan", end=len(each.place))
        text.append("\n").append_text(line)
    if hit.copies:
        text.append(f"\n{hit.copies.label}", style="yellow")
    for other in hit.copies.equal[:_EQUAL]:
        text.append("\n= ", style="yellow").append_text(plain(other))
    return text


def _range(hit: Hit) -> Text:
    if not hit.range:
        return Text("")
    text = Text(hit.range, style="cyan")
    if hit.part and hit.answering:
        text.append(f"\nof {hit.answering.range}", "dim")
    return text.append(f"\nheader row {hit.header_row}" if hit.header_row else "", "dim")


def _why(hit: Hit, ranks: Mapping[str, int]) -> list[RenderableType]:
    """Common words, both scores, time, the link that raised the score, and linked hits."""
    parts: list[RenderableType] = [
        plain(hit.why.common() or "no word in common"),
        Text(_scores(hit.why), style="dim"),
    ]
    if hit.why.period:
        parts.append(Text("time ", "cyan").append_text(plain(hit.why.period)))
    if hit.why.via:
        parts += _via(hit, hit.why.via)
    ends = {end for link in hit.why.links for end in (link.source, link.target)}
    linked = sorted(ranks[end] for end in ends - {hit.sheet_id} if end in ranks)
    if linked:
        parts.append(Text(f"linked with {', '.join(map(str, linked))}", style="dim"))
    return parts


def _scores(why: Why) -> str:
    """The scores of names, and that of cells if a word of the question stands there."""
    cells = f", cells {why.contents:.2f}" if why.contents else ""
    return f"meaning {why.dense:.2f}, words {why.lexical:.2f}{cells}"


class _OneLine:
    """A text cut to one line: its start, and as much of the end of the rest as fits.

    Args:
        start: Shown whole if there is room.
        rest: Untrusted text, shown by its end, which tells most.
    """

    def __init__(self, start: Text, rest: str) -> None:
        self._start = start
        self._rest = plain(rest).plain

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        whole = self._start.cell_len + cell_len(self._rest)
        most = max(_LINE_CHARS, options.max_width * 2 // 5)
        return Measurement(1, min(whole, most)).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - self._start.cell_len
        text = Text(no_wrap=True, overflow="ellipsis").append_text(self._start)
        yield text.append(ending(self._rest, room) if room >= _NAME_CHARS else self._rest)


def _via(hit: Hit, via: Link) -> list[RenderableType]:
    """The link that raised a sheet's score, and its evidence, one line each."""
    way = "from" if via.source != hit.sheet_id else "to"
    start = plain(f"via {via.type} {way} ")
    start.stylize("cyan", end=4)
    lines: list[RenderableType] = [_OneLine(start, other_end(hit.record, via))]
    if via.evidence:
        evidence = plain(f"  {via.evidence}")
        evidence.stylize("dim")
        lines.append(_OneLine(evidence, ""))
    return lines
