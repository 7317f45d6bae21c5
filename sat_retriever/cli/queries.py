"""`sat queries`: make or check labelled questions about an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sat_retriever.cli.labels import check_form, check_labels, counts_by_type, print_types
from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    IndexOption,
    JsonOption,
    LlmUrlOption,
    examples,
    opened_whole,
    refuse_without_model,
)
from sat_retriever.cli.progress import At, Shown, progress
from sat_retriever.cli.terminal import check_target, counted, plain, print_json, stderr, stdout
from sat_retriever.datasets.labels import Query
from sat_retriever.datasets.labels.write import write_queries
from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.place import Place
from sat_retriever.llm.chat import Chat
from sat_retriever.records.contents import ContentsPolicy
from sat_retriever.records.sheets import SheetRecord

if TYPE_CHECKING:
    from sat_retriever.questions.forindex import OwnQueries

_READ_AT_ONCE = 1_000
_SAMPLES = 8
_SHOWN = 3  # sheets listed below a question
_NUMBER = 200
_NO_CONTENTS = (
    "the index keeps no contents: no queries about values, notes, labels or versions, and none "
    "without an answer; index again with --contents all for them"
)

app = typer.Typer()


@app.command(
    epilog=examples(
        "sat queries --index reports.sat --out queries.json",
        "sat queries -i reports.sat -o lookups.jsonl --number 500 "
        "--types semantic_lookup,comparison",
        "sat queries -i reports.sat --queries labels.csv",
        "sat queries -i reports.sat --queries labels.csv --out queries.json",
    )
)
def queries(
    file: IndexOption = DEFAULT_INDEX,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write here: .json, .jsonl or .csv.", metavar="FILE", dir_okay=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file at --out.")] = False,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--queries", help="Check these labels instead of making some.", metavar="FILE"
        ),
    ] = None,
    number: Annotated[
        int | None, typer.Option(min=1, help=f"Number of queries; default {_NUMBER}.", metavar="N")
    ] = None,
    types: Annotated[
        str | None,
        typer.Option(help="Only these query types, separated by commas.", metavar="NAMES"),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed; default 0.", metavar="N")] = None,
    paraphrase: Annotated[
        str | None,
        typer.Option(help="Reword them with this ollama:MODEL or openai:MODEL.", metavar="MODEL"),
    ] = None,
    llm_url: LlmUrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make labelled queries from the sheets of an index, or check your own.

    Queries are made from names, headers, periods and links, and from an
    index that keeps contents also from values, notes, row labels and
    versions; each lists all sheets that answer it. Those of the type
    unanswerable have none. With --queries, a file of labels is read, its
    sheet ids are looked up, and --out converts it to another format.
    """
    check_target(out, file, force=force)
    check_form(out)
    if labels is not None:
        made_only = {"--number": number, "--types": types, "--seed": seed}
        made_only |= {"--paraphrase": paraphrase, "--llm-url": llm_url}
        for option, value in made_only.items():
            if value is not None:
                raise InputError(f"{option} is for making queries; remove it or --queries")
        check_labels(file, labels, out, as_json=as_json)
        return
    refuse_without_model({"--llm-url": llm_url}, {"--paraphrase": paraphrase})
    if paraphrase is not None and out is None:
        raise InputError("--paraphrase needs a file for the result; name one with --out")
    from sat_retriever.questions.contents.make import Contents
    from sat_retriever.questions.forindex import own_queries  # slow to import

    wanted_number = _NUMBER if number is None else number
    wanted = [name.strip() for name in types.split(",") if name.strip()] if types else None
    with opened_whole(file) as opened, progress("queries", "reading sheets") as shown:
        records = _Records(opened, shown)
        if not records.ids:
            raise EmptyInputError(f"{file} holds no sheets; index some workbooks first")
        contents = opened.privacy.contents is ContentsPolicy.ALL
        if not contents:
            _check_kept(opened, wanted)
        own = own_queries(
            records,
            opened.all_links(),
            wanted_number,
            seed=seed or 0,
            types=wanted,
            contents=Contents(_Records(opened, shown, contents=True), opened.copies)
            if contents
            else None,
            progress=lambda done, total: shown.at(At("making queries", done, total)),
        )
    notes = [] if contents else [_NO_CONTENTS]
    if len(own.made) < wanted_number:
        notes.append(f"fewer than {wanted_number:,}: the sheets allow no more queries")
    if paraphrase is not None and out is not None:
        own, note = _reworded(own, Chat(paraphrase, llm_url), out, seed or 0)
        notes.append(note)
    found = [made.query for made in own.made]
    if out is not None and found:
        write_queries(out, found)
    if as_json:
        print_json(_as_json(own, found, file, out))
    else:
        _print_report(own, found, out, notes)
    if not found:
        less = f" of type {', '.join(wanted)}" if wanted else ""
        raise EmptyInputError(
            f"no query{less} can be made from the names and links in {file}: sheets need names, "
            "and for most types periods, owners or links; ask for other types, or index more"
        )


# ---- making


def _check_kept(opened: SheetIndex, wanted: Sequence[str] | None) -> None:
    """Refuse types about contents that an index does not keep."""
    from sat_retriever.questions.contents.draw import KINDS

    if wanted and set(wanted).issubset(KINDS):
        raise InputError(
            f"{opened.path} keeps {opened.privacy.contents.value} of its sheets, so no queries "
            f"of type {', '.join(wanted)} can be made; index again with --contents all"
        )


class _Records:
    """The records of an index, read anew at each iteration."""

    def __init__(self, opened: SheetIndex, shown: Shown, *, contents: bool = False) -> None:
        self._contents = contents
        self.ids = opened.sheet_ids()
        self._opened = opened
        self._shown = shown

    def __iter__(self) -> Iterator[SheetRecord]:
        for start in range(0, len(self.ids), _READ_AT_ONCE):
            part = self.ids[start : start + _READ_AT_ONCE]
            found = self._opened.records(part, contents=self._contents)
            self._shown.at(At("reading sheets", start + len(found), len(self.ids)))
            yield from (found[one] for one in part if one in found)


def _reworded(own: OwnQueries, chat: Chat, out: Path, seed: int) -> tuple[OwnQueries, str]:
    """The queries reworded by a model, whose answers are cached beside the result."""
    from sat_retriever.questions.paraphrase import reworded

    cache = out.with_name(f"{out.name}.rewordings.json")
    with stderr().status("the model rewords the queries; you can interrupt it and run it again"):
        result = reworded(own.made, chat, cache, seed=seed)
    note = f"{result.reworded:,} reworded, {result.kept:,} unchanged; answers in {cache}"
    return replace(own, made=result.made), note


# ---- output


def _as_json(
    own: OwnQueries, found: Sequence[Query], file: Place, out: Path | None
) -> dict[str, object]:
    return {
        "index": str(file),
        "out": None if out is None else str(out),
        "queries": len(found),
        "types": counts_by_type(found),
        "sheets": own.sheets,
        "sheets_covered": own.covered,
        "sheets_left_out": [
            {"reason": left.reason, "number": left.number, "examples": left.examples}
            for left in own.sheets_left_out
        ],
        "queries_dropped": dict(own.dropped),
        "samples": [
            {"query": query.text, "type": query.query_type, "positives": query.positives}
            for query in samples(found)
        ],
    }


def samples(found: Sequence[Query]) -> list[Query]:
    """A few queries of every type, in their order."""
    types = dict.fromkeys(query.query_type for query in found)
    each = max(1, _SAMPLES // max(1, len(types)))
    by_type = {kind: [query for query in found if query.query_type == kind] for kind in types}
    # spread over all: the first ones are often of one form
    spread = {kind: rows[:: max(1, len(rows) // each)][:each] for kind, rows in by_type.items()}
    return [query for rows in spread.values() for query in rows]


def _print_report(
    own: OwnQueries, found: Sequence[Query], out: Path | None, notes: Sequence[str]
) -> None:
    console = stdout()
    covered = f"{own.covered:,} of {counted(own.sheets, 'sheet')} asked for"
    console.print(
        f"[bold]{len(found):,} {'query' if len(found) == 1 else 'queries'}[/bold];", covered
    )
    if found:
        console.print()
        print_types(found)
        console.print()
        console.print("samples", style="bold")
    for query in samples(found):
        console.print(plain(query.text), style="green")
        for sheet in query.positives[:_SHOWN]:
            console.print(plain(f"    {sheet}"))
        if len(query.positives) > _SHOWN:
            console.print(f"    and {len(query.positives) - _SHOWN:,} more", style="dim")
    if own.sheets_left_out or own.dropped:
        console.print()
        console.print("left out", style="bold")
    for left in own.sheets_left_out:
        shown = ", ".join(left.examples[:_SHOWN])
        console.print(plain(f"{counted(left.number, 'sheet')}: {left.reason}, e.g. {shown}"))
    for reason, count in own.dropped.most_common():
        console.print(plain(f"{count:,} {'query' if count == 1 else 'queries'} dropped: {reason}"))
    console.print()
    for note in notes:
        console.print(plain(note))
    if out is None:
        console.print("nothing is written: name a file with --out to keep them", style="dim")
    elif found:
        console.print(plain(f"written to {out}"))
