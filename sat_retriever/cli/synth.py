"""`sat synth`: make a corpus of workbooks from templates, with records, links and labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sat_retriever.cli.options import JsonOption, LlmUrlOption, examples, refuse_without_model
from sat_retriever.cli.progress import At, progress
from sat_retriever.cli.terminal import counted, grid, plain, print_json, stderr, stdout
from sat_retriever.synth.options import WORKBOOKS, SynthOptions, SynthReport

_DEFAULT = SynthOptions()

app = typer.Typer()


@app.command(
    no_args_is_help=True,
    epilog=examples(
        "sat synth --out corpus",
        "sat synth --out corpus-1k --scale paper-1k --seed 42",
        "sat synth --out large --scale 100000 --queries 20000",
        "sat synth --out deutsch --language de",
        "sat synth --out asked --scale 300 --asks .5 --histories 40",
        "sat synth --out answered --scale 300 --answers 300",
    ),
)
def synth(
    out: Annotated[Path, typer.Option(help="Folder of the corpus.", metavar="DIR")],
    *,
    scale: Annotated[
        str,
        typer.Option(
            help="small (20-40 workbooks), paper-614, paper-1k, or a number of visible sheets.",
            metavar="N",
        ),
    ] = _DEFAULT.scale,
    seed: Annotated[int, typer.Option(help="Random seed.", metavar="N")] = 0,
    companies: Annotated[
        int, typer.Option(min=1, help="Number of simulated companies.", metavar="N")
    ] = _DEFAULT.companies,
    years: Annotated[
        str, typer.Option(help="2019-2026, 2024 or 2019,2021.", metavar="YEARS")
    ] = _DEFAULT.years,
    queries: Annotated[
        int | None,
        typer.Option(min=0, help="Labelled queries; default: the scale's number.", metavar="N"),
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            help="Folder of word files to use instead of ours.",
            metavar="DIR",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            help="Language of headers, titles and values: de, zh, … Unknown words stay English.",
            metavar="TAG",
        ),
    ] = _DEFAULT.language,
    translations: Annotated[
        Path | None,
        typer.Option(help="Folder of translations, <language>.json.", metavar="DIR"),
    ] = None,
    translator: Annotated[
        str,
        typer.Option(help="Model on a server that adds missing translations.", metavar="MODEL"),
    ] = "",
    paraphrase: Annotated[
        str,
        typer.Option(help="Model on a server that rewords the queries.", metavar="MODEL"),
    ] = "",
    llm_url: LlmUrlOption = None,
    asks: Annotated[
        str,
        typer.Option(
            help="Share of queries about contents, or value=.2,note=.1,label=.1,unanswerable=.1.",
            metavar="SHARES",
        ),
    ] = "",
    histories: Annotated[
        int,
        typer.Option(min=0, help="Workbooks to keep in versions and copies as well.", metavar="N"),
    ] = 0,
    answers: Annotated[
        int,
        typer.Option(min=0, help="Questions with SQL and answer, in answers.json.", metavar="N"),
    ] = 0,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; all cores by default.", metavar="N")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a corpus in DIR.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a synthetic corpus of real workbook files, with ground truth.

    Writes DIR/workbooks and, in the format of the published corpora,
    sheets.json, query.json, train.json and dependency_edges.json. The same
    options give the same bytes.
    """
    from sat_retriever.synth.corpus import synthesize  # slow to import

    refuse_without_model(
        {"--llm-url": llm_url}, {"--translator": translator, "--paraphrase": paraphrase}
    )
    options = SynthOptions(
        scale=scale,
        seed=seed,
        companies=companies,
        years=years,
        queries=queries,
        vocabulary=vocabulary,
        language=language,
        translations=translations,
        translator=translator,
        paraphrase=paraphrase,
        asks=asks,
        histories=histories,
        answers=answers,
    )
    with progress("synth", "making sheets") as shown:

        def tell(what: str, done: int, total: int) -> None:
            shown.at(At(f"making {what}", done, total or None))

        try:
            report = synthesize(
                out, options, llm_url=llm_url, workers=workers, force=force, progress=tell
            )
        except KeyboardInterrupt:
            stderr().print("interrupted; run the same command to start again")
            raise typer.Exit(130) from None
    if as_json:
        print_json({"out": str(out), **asdict(report)})
    else:
        _print_report(report, out)


def _print_report(report: SynthReport, out: Path) -> None:
    console = stdout()
    hidden = f" ({report.hidden:,} of the sheets hidden)" if report.hidden else ""
    console.print(
        f"[bold]{counted(report.sheets, 'sheet')}[/bold] in "
        f"{counted(report.workbooks, 'workbook')}{hidden} made in {report.seconds:.1f} s:",
        plain(out / WORKBOOKS),
    )
    console.print()
    table = grid("category", "sheets", "", "query type", "queries", "", "link type", "links")
    for place in (1, 4, 7):
        table.columns[place].justify = "right"
    parts = [_rows(report.categories), _rows(report.queries), _rows(report.links)]
    for place in range(max(map(len, parts), default=0)):
        cells = [part[place] if place < len(part) else ("", "") for part in parts]
        first, second, third = cells
        table.add_row(*first, "  ", *second, "  ", *third)
    console.print(table)
    console.print()
    if report.answers:
        told = counted(sum(report.answers.values()), "question")
        console.print(f"{told} with SQL and answer:", plain(out / "answers.json"))
    console.print(plain(f"index it: sat index {out / WORKBOOKS} --index {out / 'sheets.sat'}"))


def _rows(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [(name, f"{number:,}") for name, number in ordered]
    return [*rows, ("all", f"{sum(counts.values()):,}")] if rows else []
