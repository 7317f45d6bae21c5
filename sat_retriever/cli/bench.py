"""`sat bench`: measure how well each method finds the sheets of a user's own questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sat_retriever.cli.benchreport import Labels, asked_of, print_table, read_labels
from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    IndexOption,
    JsonOption,
    LlmUrlOption,
    examples,
    opened_whole,
    refuse_without_model,
)
from sat_retriever.cli.progress import At, progress
from sat_retriever.cli.terminal import fail, plain, print_json, stderr, stdout
from sat_retriever.errors import EmptyInputError, InputError, LanguageModelError
from sat_retriever.index.index import SheetIndex

if TYPE_CHECKING:
    from sat_retriever.evaluation.bench import Bench
    from sat_retriever.evaluation.llm import LanguageModelSettings
    from sat_retriever.evaluation.llm.methods import AskedModel

app = typer.Typer()


@dataclass(frozen=True, slots=True)
class _Wanted:
    rerankers: Sequence[Path]
    settings: LanguageModelSettings | None
    url: str | None
    names: bool
    against: str | None
    out: Path | None


@dataclass(frozen=True, slots=True)
class _Measured:
    found: Bench
    about: dict[str, Any]
    remarks: Sequence[str]


@app.command(
    no_args_is_help=True,
    epilog=examples(
        "sat bench --index reports.sat --queries triples.csv",
        "sat bench -i reports.sat --queries labels.json --out bench",
        "sat bench -i reports.sat --queries labels.json --reranker runs/7 --out bench",
        "sat bench -i reports.sat --queries labels.json --against BM25",
    ),
)
def bench(
    labels: Annotated[
        Path,
        typer.Option(
            "--queries", help="Labelled questions: .csv, .jsonl or .json.", metavar="FILE"
        ),
    ],
    file: IndexOption = DEFAULT_INDEX,
    *,
    reranker: Annotated[
        list[Path] | None,
        typer.Option(help="Add a row for a trained Stage 2.", metavar="DIR|RUN"),
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option(
            "--llm", help="Add a row for this ollama:MODEL or openai:MODEL.", metavar="MODEL"
        ),
    ] = None,
    llm_url: LlmUrlOption = None,
    llm_only: Annotated[
        bool,
        typer.Option("--llm-only", help="Add a row in which that model reads all sheet names."),
    ] = False,
    num_ctx: Annotated[
        int | None,
        typer.Option("--num-ctx", help="Its context in tokens; 32768, or what its server has."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="Compute Δ against this row, not the one above.", metavar="ROW"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the report here.", metavar="DIR"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the report in the folder at --out.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure how well the right sheets are found, on your own questions.

    Each line of a CSV is query,sheet_id,relevance; sat queries makes and
    checks such files. The table compares words, tokens, both, links, and
    trained rerankers, each with the row above or, with --against, with a
    row that you name, for example BM25. With --out, report.html shows for
    every question which sheets were found and missed, and why;
    results.json and runs/ have the numbers.
    """
    from sat_retriever.evaluation.report.folder import check_folder

    if out is not None:
        check_folder(out, force=force)
    settings = _settings(llm, llm_url, num_ctx, names=llm_only, out=out)
    wanted = _Wanted(reranker or (), settings, llm_url, llm_only, against, out)
    read = read_labels(labels)
    try:
        with opened_whole(file) as opened:
            measured = _measured(opened, read, wanted)
            _show(measured, opened, out, as_json=as_json)
    except KeyboardInterrupt:
        kept = "" if settings is None else "the model's answers so far are kept; "
        stderr().print(f"interrupted; {kept}run the same command for the whole table")
        raise typer.Exit(130) from None
    if measured.found.left_out:
        if as_json:
            names = ", ".join(measured.found.left_out)
            fail(LanguageModelError(f"left out: {names}; see left_out"), 1)
        raise typer.Exit(1)


def _settings(
    llm: str | None, url: str | None, num_ctx: int | None, *, names: bool, out: Path | None
) -> LanguageModelSettings | None:
    needing = {"--llm-only": names, "--num-ctx": num_ctx, "--llm-url": url}
    refuse_without_model(needing, {"--llm": llm})
    if llm is None:
        return None
    from sat_retriever.evaluation.llm import LanguageModelSettings

    usual = LanguageModelSettings(llm)
    settings = usual if num_ctx is None else replace(usual, num_ctx=num_ctx)
    if out is None:
        raise InputError("--llm needs a folder to keep the model's answers; name one with --out")
    return settings


def _measured(opened: SheetIndex, labels: Labels, wanted: _Wanted) -> _Measured:
    from sat_retriever.answer.retriever import SheetRetriever
    from sat_retriever.evaluation.abstention import nothing_there
    from sat_retriever.evaluation.bench import bench as compare
    from sat_retriever.evaluation.latency import Timing
    from sat_retriever.evaluation.llm.methods import asked_models
    from sat_retriever.evaluation.methods import named_methods
    from sat_retriever.rank.links.linkrank import LINKS
    from sat_retriever.rank.load import AUTO
    from sat_retriever.train.data.reading import refuse_unknown_sheets

    if len(opened) == 0:
        raise EmptyInputError(f"{opened.path} holds no sheets; index some workbooks first")
    refuse_unknown_sheets(labels.queries, opened.sheet_ids(), str(opened.path))
    with progress("bench", "opening the index") as shown:
        opened.warm_up()
        lost: list[str] = []
        methods = named_methods(opened, wanted.rerankers, lost.append)
        asked: list[AskedModel] = []
        if wanted.settings is not None and wanted.out is not None:
            asked = asked_models(
                opened, wanted.settings, wanted.out, url=wanted.url, names=wanted.names
            )
        methods |= {each.name: each.method for each in asked}
        timing = Timing(own={each.name: each.seconds for each in asked})
        found = compare(
            opened,
            labels.queries,
            methods,
            timing,
            lambda *now: shown.at(At(*now)),
            against=wanted.against,
        )
        retriever = SheetRetriever(opened, LINKS.name if lost else AUTO)
        said = nothing_there(retriever, labels.every, lambda *now: shown.at(At(*now)))
    about = {**_about(opened, labels), "nothing_there": asdict(said)}
    remarks = [*labels.remarks(said), *lost]
    if asked:
        about["llm"] = {each.name: each.counts() for each in asked}
    for each in asked:
        remarks += each.remarks(left_out=each.name in found.left_out)
    return _Measured(found, about, remarks)


def _about(opened: SheetIndex, labels: Labels) -> dict[str, Any]:
    from sat_retriever._version import __version__
    from sat_retriever.evaluation.methods import encoder_label

    return {
        "index": opened.path.name,
        "sheets": len(opened),
        "encoder": encoder_label(opened.encoder_name),
        "fingerprint": opened.fingerprint,
        "dense_weight": opened.dense_weight,
        "labels": labels.path.name,
        "labels_sha256": labels.sha256,
        "merged_questions": len(labels.merged),
        "unanswerable_questions": len(labels.unanswerable),
        "types": sorted({query.query_type for query in labels.queries if query.query_type}),
        "version": __version__,
    }


def _show(measured: _Measured, opened: SheetIndex, out: Path | None, *, as_json: bool) -> None:
    """Show the table first, so that it is not lost if the report cannot be written."""
    from sat_retriever.evaluation.bench import results_of
    from sat_retriever.evaluation.report.folder import REPORT

    if not as_json:
        print_table(measured.found, measured.about, measured.remarks)
    written = None
    try:
        if out is not None:
            _write(out, measured, opened)
            written = str(out)
    finally:
        if as_json:
            results = results_of(measured.found, measured.about, per_query=False)
            print_json({**results, "out": written})
    if as_json:
        return
    if out is None:
        stdout().print("For every question, what was missed and why: --out DIR", style="dim")
    else:
        stdout().print(plain(f"written to {out}: open {out / REPORT} in a browser"))


def _write(out: Path, measured: _Measured, opened: SheetIndex) -> None:
    from sat_retriever.evaluation.report.folder import write_folder
    from sat_retriever.evaluation.report.page import report_html

    with progress("bench", "writing the report") as shown:
        page = report_html(
            measured.found,
            opened,
            title=f"Which sheets are found: {measured.about['index']}",
            about=asked_of(measured.found, measured.about),
            remarks=measured.remarks,
            told=lambda *now: shown.at(At(*now)),
        )
        write_folder(out, measured.found, page, measured.about)
