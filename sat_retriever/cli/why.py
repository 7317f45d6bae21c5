"""`sat why`: where one sheet stands for a question, and why it is not higher."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import typer
from rich.text import Text

from sat_retriever.answer.retriever import SheetRetriever
from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    QUOTED,
    GroupsOption,
    IndexOption,
    JsonOption,
    OwnerOption,
    PathOption,
    RerankerOption,
    WorkbookOption,
    chosen,
    examples,
    opened_for,
)
from sat_retriever.cli.terminal import other_end, plain, print_json, stdout
from sat_retriever.errors import InputError
from sat_retriever.rank.load import AUTO
from sat_retriever.records.contents import Role
from sat_retriever.records.explanation import Placed, RankExplanation, WordPart
from sat_retriever.records.filters import Filters
from sat_retriever.text.period.spans import asked_on
from sat_retriever.tools.cells import cell_text
from sat_retriever.tools.naming import one_sheet

_CELLS = 3
_LINKS = 5
_SKIPS = 5

app = typer.Typer()


@app.command(
    no_args_is_help=True,
    epilog=examples(
        'sat why "monthly revenue by region" "Sales.xlsx#Q1" --index reports.sat',
        'sat why "payroll March" Staff -i reports.sat --path "hr/*"',
        'sat why "open orders" Orders -i reports.sat --json | jq .placed.rank',
    ),
    context_settings=QUOTED,
)
def why(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="A question or a few words.", metavar="QUERY")],
    sheet: Annotated[
        str, typer.Argument(help="A sheet's id, or a part that no other has.", metavar="SHEET")
    ],
    file: IndexOption = DEFAULT_INDEX,
    *,
    reranker: RerankerOption = AUTO,
    workbook: WorkbookOption = None,
    path: PathOption = None,
    today: Annotated[
        dt.datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"],
            help="Reference day for 'last year'; today if not given.",
            metavar="YYYY-MM-DD",
        ),
    ] = None,
    as_groups: GroupsOption = None,
    as_owner: OwnerOption = False,
    as_json: JsonOption = False,
) -> None:
    """Explain where a sheet stands for a question, and why it is not higher."""
    if context.args:
        *words, last = [query, sheet, *context.args]
        raise InputError(
            f"{2 + len(context.args)} arguments where two are taken; put each in quotes: "
            f'sat why "{" ".join(words)}" "{last}"'
        )
    filters = Filters(workbook=workbook, path=path)
    with opened_for(file, as_groups, as_owner=as_owner) as opened:
        name = one_sheet(opened, sheet)
        retriever = SheetRetriever(opened, chosen(reranker))
        day = asked_on(today.date() if today else None)
        found = retriever.why(query, name, filters or None, today=day)
    if as_json:
        print_json(found.to_dict())
        return
    for line in _lines(found):
        stdout().print(line, soft_wrap=True)


def _lines(found: RankExplanation) -> list[Text]:
    name = plain(found.sheet_id)
    name.stylize("bold green")
    skips = [
        _fact("skipped", f"{x.reason.value}: {x.message}", "yellow") for x in found.skipped[:_SKIPS]
    ]
    if found.placed is None:
        return [name.append(" is not in the index", "default"), *skips]
    own = found.placed
    lines = [name, _fact("rank", _rank(found, own))]
    if found.filters:
        text = f"{', '.join(found.filters)}: not met, so a search with them leaves it out"
        lines.append(_fact("filters", text, "yellow"))
    if found.shown_by:
        text = f"{found.shown_by} is shown in its place; the rank is that with all copies"
        lines.append(_fact("copy", text, "yellow"))
    lines += [*_words(own), *_rest(found, own), *skips, *_above(found)]
    return lines


def _fact(name: str, text: str, style: str = "default") -> Text:
    said = plain(text)
    said.stylize(style)
    return Text(f"{name:<9} ", style="dim").append_text(said)


def _rank(found: RankExplanation, own: Placed) -> str:
    text = f"{own.hit.rank:,} of {found.sheets:,} sheets, score {own.hit.score:.3f}"
    if own.found_rank > found.candidates > 0:
        return f"{text}; the reranker only sees the first {found.candidates:,}"
    if found.candidates:
        text += f"; {own.found_rank:,} before the reranker, score {own.found_score:.3f}"
    return text


def _words(own: Placed) -> list[Text]:
    """Words that it has and lacks, each with its share of the words' best possible score."""
    has = [part for part in own.words if part.share]
    inside = ", ".join(part.word for part in own.words if part.inside)
    coded = ", ".join(f"{part.word} as {part.code}" for part in own.words if part.code)
    lacks = [x for x in own.words if x.known and not (x.share or x.inside or x.code)]
    unknown = [part.word for part in own.words if not part.known]
    said = [", ".join(map(_share, has)), coded, f"in cells {inside}" if inside else ""]
    lines = [_fact("words", "; ".join(filter(None, said)) or "none in common")]
    if lacks:
        lines.append(_fact("lacks", ", ".join(map(_missing, lacks))))
    if unknown:
        lines.append(_fact("nowhere", f"{', '.join(unknown)}: no sheet is found by them"))
    return lines


def _missing(part: WordPart) -> str:
    return f"{part.word} (up to {part.most:.2f})" if part.most else f"{part.word} (in cells)"


def _share(part: WordPart) -> str:
    return f"{part.word} {part.share:.2f} of {part.most:.2f}"


def _rest(found: RankExplanation, own: Placed) -> list[Text]:
    hit, why = own.hit, own.hit.why
    lines = _score(found, own)
    if own.time < 1:
        lines.append(_fact("time", f"x {own.time:.2f}: its time is another, or is not known"))
    elif why.period:
        lines.append(_fact("time", why.period))
    if hit.range:
        lines.append(_fact("answer", hit.citation))
    cells = "; ".join(f"{each.place}: {cell_text(each.text)}" for each in why.cells[:_CELLS])
    if cells:
        lines.append(_fact("cells", cells))
    lines.append(_fact("role", f"{hit.record.role.value}{_held(own)}"))
    if hit.copies:
        lines.append(_fact("copies", hit.copies.label))
    if hit.record.partial:
        lines.append(_fact("partial", "only a part of it was read", "yellow"))
    if why.via:
        lines.append(_fact("lifted", f"{why.via.type} with {other_end(hit.record, why.via)}"))
    return lines


def _held(own: Placed) -> str:
    """Why a sheet's place in its workbook holds it back; empty if it does not."""
    if own.role == 1:
        return ""
    explains = own.hit.record.role is Role.DOCUMENTATION
    reason = (
        "it explains other sheets" if explains else "another sheet abbreviates the workbook's name"
    )
    return f"; x {own.role:.2f}, since {reason}"


def _score(found: RankExplanation, own: Placed) -> list[Text]:
    weight, why = found.dense_weight, own.hit.why
    by_names = _ranked(why.lexical, why.lexical_rank)
    meaning = f"meaning {_ranked(why.dense, why.dense_rank)}"
    total = f"{weight:.2f} x {meaning} + {1 - weight:.2f} x words {own.together:.2f}"
    said = [_fact("score", total), _fact("names", f"words {by_names}")]
    if why.contents:
        said.append(_fact("contents", f"words {_ranked(why.contents, why.contents_rank)}"))
    return said


def _ranked(score: float, rank: int | None) -> str:
    return f"{score:.2f} (rank {rank:,})" if rank else f"{score:.2f}"


def _above(found: RankExplanation) -> list[Text]:
    own, above = found.placed, found.above
    if own is None or above is None:
        return []
    there = above.hit
    more = [f"score {there.score:.3f}"]
    if found.lacking:
        more.append(f"has the words {', '.join(x.word for x in found.lacking[:_LINKS])}")
    nearer = there.why.dense - own.hit.why.dense
    if nearer > 0:
        more.append(f"closer in meaning by {nearer:.2f}")
    if above.time > own.time:
        more.append("a time that the question asks for, or may ask for")
    if above.role > own.role:
        more.append("its role in its workbook")
    if there.why.via and not own.hit.why.via:
        more.append(f"lifted by {there.why.via.type}")
    return [_fact("above", f"{there.rank:,}. {there.sheet_id}: {'; '.join(more)}")]
