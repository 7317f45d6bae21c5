"""Print the hits of `sat search` as a table, with reasons, and ids that can be copied."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segments
from rich.text import Text

from sat_retriever.cli.terminal import ending, grid, other_end, plain, stdout
from sat_retriever.records.hits import Hit, Why
from sat_retriever.records.links import Link
from sat_retriever.records.sheets import Visibility
from sat_retriever.text.lexical import query_words
from sat_retriever.text.oneline import short
from sat_retriever.text.segment import stems

_WORD = re.compile(r"[^\W_]+")
_CELLS = 3  # cells shown per hit
_EQUAL = 3  # copies of equal files shown per hit
_COLUMNS = 6  # headers shown per hit; the rest are counted
_LINE_CHARS = 48  # characters that a cut line may claim from other columns
_NAME_CHARS = 12  # least characters of the sheet's name in it


def print_hits(query: str, hits: Sequence[Hit]) -> None:
    """Print hits, best first, below the question."""
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
    drawn = Segments(out.render(table))
    with out.capture() as shown:
        out.print(drawn)
    out.print(drawn)
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
