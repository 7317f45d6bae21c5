"""`sat bench`: how well the sheets of a user's own questions are found, method by method."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from sat_retriever.atomic import draft_of, make_folder
from sat_retriever.cli.terminal import (
    DEFAULT_INDEX,
    IndexOption,
    JsonOption,
    counted,
    examples,
    grid,
    plain,
    print_json,
    stderr,
    stdout,
)
from sat_retriever.errors import EmptyInputError, InputError
from sat_retriever.index import SheetIndex
from sat_retriever.labels import Query, load_labels

if TYPE_CHECKING:
    from sat_retriever.evaluation.bench import Bench, Told

_ANY = 10_000  # columns, more than a table has
_REPORT, _RESULTS, _RUNS = "report.html", "results.json", "runs"
_ANSWERS = "answers.jsonl"

EXAMPLES = examples(
    "sat bench --index reports.sat --queries triples.csv",
    "sat bench -i reports.sat --queries labels.json --out bench",
    "sat bench -i reports.sat --queries labels.json --reranker runs/7 --out bench",
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
        typer.Option(help="A trained Stage 2 as one more row.", metavar="DIR|RUN"),
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option("--llm", help="A model of a local Ollama as one more row.", metavar="MODEL"),
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

    Each line of a CSV says query,sheet_id,relevance; sat queries makes and
    checks such files. The table compares words, tokens, both, links, and
    trained rerankers. With --out, report.html shows every question: what was
    found, what was missed, and why; results.json and runs/ have the numbers.
    """
    check_folder(out, force=force)
    if llm is not None and out is None:
        raise InputError("--llm needs a folder to keep the model's answers; name one with --out")
    queries = load_labels(labels)
    from sat_retriever.evaluation.bench import Timing
    from sat_retriever.evaluation.bench import bench as compare
    from sat_retriever.evaluation.named import asked_model, named_methods
    from sat_retriever.training.sources import check_known

    try:
        with SheetIndex.open(file) as opened, _bar() as told:
            if len(opened) == 0:
                raise EmptyInputError(f"{file} holds no sheets; index some workbooks first")
            check_known(queries, opened.sheet_ids(), str(file))
            opened.warm_up()
            methods = named_methods(opened, reranker or ())
            asked = asked_model(opened, llm, out / _ANSWERS) if llm and out else None
            if asked:
                methods[asked.name] = asked.method
            timing = Timing(own={asked.name: asked.seconds} if asked else {})
            found = compare(opened, queries, methods, timing, told)
            about = _about(opened, labels, queries)
            remarks = [asked.note()] if asked else []
            if asked:
                about["llm"] = asked.counts()
            if out is not None:
                _write(out, found, opened, about, remarks, told)
    except KeyboardInterrupt:
        stderr().print("interrupted; run it again for the whole table")
        raise typer.Exit(130) from None
    if as_json:
        _print_json(found, about, out)
    else:
        _print_report(found, about, remarks, out)


def check_folder(out: Path | None, *, force: bool) -> None:
    """Nothing, if a report may be written to the folder.

    Raises:
        InputError: If it is a file, lies in no folder, cannot be written, or has a report
            already and `force` is not given.
    """
    if out is None:
        return
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder for the report")
    above = out if out.is_dir() else out.absolute().parent
    if not above.is_dir():
        raise InputError(f"the folder {above} does not exist")
    if not os.access(above, os.W_OK):
        raise InputError(f"{above} cannot be written; choose another place")
    for name in (_REPORT, _RESULTS):
        if (out / name).exists() and not force:
            raise InputError(
                f"{out / name} exists already; replace it with --force, or choose another folder"
            )


def _about(opened: SheetIndex, labels: Path, queries: Sequence[Query]) -> dict[str, Any]:
    """What was measured, for whoever reads the numbers later."""
    from sat_retriever._version import __version__
    from sat_retriever.evaluation.named import encoder_label

    with labels.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {
        "index": opened.path.name,
        "sheets": len(opened),
        "encoder": encoder_label(opened.encoder_name),
        "fingerprint": opened.fingerprint,
        "dense_weight": opened.dense_weight,
        "labels": labels.name,
        "labels_sha256": digest,
        "types": sorted({query.query_type for query in queries}),
        "version": __version__,
    }


# ---- files


def _write(
    out: Path,
    found: Bench,
    opened: SheetIndex,
    about: dict[str, Any],
    remarks: Sequence[str],
    told: Told,
) -> None:
    """The report and its numbers; each file is there whole or not at all."""
    from sat_retriever.evaluation.report import report_html
    from sat_retriever.evaluation.results import results_of
    from sat_retriever.evaluation.run import write_run

    page = report_html(
        found,
        opened,
        title=f"Which sheets are found: {about['index']}",
        about=_asked(found, about),
        remarks=remarks,
        told=told,
    )
    results = results_of(found, about)
    make_folder(out)
    for scored, kept in zip(found.scored, results["methods"], strict=True):
        kept["run"] = f"{_RUNS}/{_file_name(scored.name)}.jsonl"
        said = {"method": scored.name, "index": about["index"], "labels": about["labels"]}
        write_run(out / kept["run"], scored.run, said)
    for name, text in ((_REPORT, page), (_RESULTS, json.dumps(results) + "\n")):
        with draft_of(out / name) as draft:
            draft.write_text(text, encoding="utf-8", newline="\n")


def _file_name(method: str) -> str:
    """A method's name as that of a file.

    >>> _file_name("+ link reranker"), _file_name("RAG (minilm)")
    ('link-reranker', 'rag-minilm')
    """
    kept = "".join(char if char.isalnum() else " " for char in method.lower())
    return "-".join(kept.split()) or "method"


# ---- what is said


@contextmanager
def _bar() -> Iterator[Told]:
    """A progress bar on standard error, shown in a terminal only."""
    console = stderr()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    off = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=off) as bar:
        tasks = {"": bar.add_task("opening the index", total=None)}

        def advance(what: str, done: int, total: int) -> None:
            if what not in tasks:  # a new one: the time left is counted from its start
                for each in tasks.values():
                    bar.remove_task(each)
                tasks.clear()
                tasks[what] = bar.add_task(plain(what).plain, total=total)
            bar.update(tasks[what], completed=done)

        yield advance


def _asked(found: Bench, about: dict[str, Any]) -> str:
    number = counted(len(found.queries), "question")
    return f"{number} of {about['labels']}, {counted(about['sheets'], 'sheet')} in {about['index']}"


def _print_json(found: Bench, about: dict[str, Any], out: Path | None) -> None:
    from sat_retriever.evaluation.results import results_of

    written = None if out is None else str(out)
    print_json({**results_of(found, about, per_query=False), "out": written})


def _print_report(
    found: Bench, about: dict[str, Any], remarks: Sequence[str], out: Path | None
) -> None:
    from sat_retriever.evaluation.maintable import notes

    console = stdout()
    console.print(plain(_asked(found, about)), style="bold")
    console.print()
    console.print(_table(found))
    console.print()
    for note in (*notes(found), *remarks):
        console.print(plain(note), style="yellow" if note.startswith("Only") else "dim")
    if out is None:
        console.print("Every question, what was missed and why: --out DIR", style="dim")
    else:
        console.print(plain(f"written to {out}: open {out / _REPORT} in a browser"))


def _table(found: Bench) -> Table:
    from sat_retriever.evaluation.maintable import COLUMNS, cells, signed

    table = grid("method", *(column.title for column in COLUMNS))
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    if len(found.scored) > 1:
        table.add_column("Δ NDCG@5", header_style="dim")
    for scored, row in zip(found.scored, cells(found), strict=True):
        shown = [Text(cell.text, style="bold" if cell.best else "") for cell in row]
        ahead = [signed(scored.difference)] if len(found.scored) > 1 else []
        table.add_row(plain(scored.name), *shown, *ahead)
    console = stdout()
    if (
        console.measure(table, options=console.options.update(max_width=_ANY)).maximum
        > console.width
    ):
        table.padding = (0, 1, 0, 0)
    return table
