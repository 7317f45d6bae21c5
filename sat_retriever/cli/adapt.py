"""`sat adapt`: train an index's encoder and reranker on its own sheets, without labels."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from sat_retriever.cli.options import (
    DEFAULT_INDEX,
    DeviceOption,
    IndexOption,
    JsonOption,
    LlmUrlOption,
    examples,
    opened_whole,
    refuse_without_model,
)
from sat_retriever.cli.progress import about, progress
from sat_retriever.cli.terminal import counted, grid, plain, print_json, stderr, stdout
from sat_retriever.cli.train.fields import settings_of, with_options
from sat_retriever.cli.train.report import share
from sat_retriever.cli.train.session import TrainingBar, check_extra, is_main
from sat_retriever.datasets.labels import load_labels
from sat_retriever.index.store.place import Place
from sat_retriever.records.jsonform import to_json
from sat_retriever.train.adapt.settings import AdaptSettings

if TYPE_CHECKING:
    from sat_retriever.train.adapt.outcome import Adaptation, Verdict
    from sat_retriever.train.adapt.questions import Material

app = typer.Typer()


@app.command(
    epilog=examples(
        "sat adapt --index reports.sat",
        "sat adapt -i reports.sat --queries labels.csv --queries clicks.csv",
        "sat adapt -i reports.sat --paraphrase qwen3:4b --number 4000",
        "sat adapt -i many.sat --stage reranker",
    )
)
@with_options({"adapt": AdaptSettings()}, panel="Settings")
def adapt(
    file: IndexOption = DEFAULT_INDEX,
    *,
    queries: Annotated[
        list[Path] | None,
        typer.Option(
            help="Also learn from these labelled or clicked questions; may be repeated.",
            metavar="FILE",
            dir_okay=False,
        ),
    ] = None,
    paraphrase: Annotated[
        str | None,
        typer.Option(
            help="Reword the questions with this ollama:MODEL or openai:MODEL.", metavar="MODEL"
        ),
    ] = None,
    llm_url: LlmUrlOption = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Run folder; FILE.adapt if not given.", metavar="RUN", file_okay=False),
    ] = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
    **given: Any,
) -> None:
    """Train the encoder and a reranker on the sheets of an index, without labels.

    Questions are made from names, headers, periods and links. A trained
    model is kept if it is better than the current one on held-out families
    of sheets; if none is, the index stays unchanged. After an interruption,
    the same command continues.
    """
    refuse_without_model({"--llm-url": llm_url}, {"--paraphrase": paraphrase})
    settings = settings_of(AdaptSettings(), given)
    check_extra()
    from sat_retriever.train.adapt.adapt import adapt as adapted
    from sat_retriever.train.adapt.questions import merged

    chat = None
    if paraphrase is not None:
        from sat_retriever.llm.chat import Chat

        chat = Chat(paraphrase, llm_url)
    own = merged(load_labels(each) for each in queries or ())
    beside = file.parent if isinstance(file, Path) else Path()
    folder = out or beside / f"{file.name}.adapt"
    try:
        with (
            opened_whole(file, device) as opened,
            progress("adapt", "getting ready", quiet=not is_main()) as shown,
        ):
            made = adapted(opened, folder, settings, own=own, chat=chat, watcher=_Watcher(shown))
    except KeyboardInterrupt:
        stderr().print("interrupted; the index is unchanged; run the same command to continue")
        raise typer.Exit(130) from None
    if as_json:
        print_json(_as_json(made, file))
    else:
        _print(made, file)


class _Watcher(TrainingBar):
    def prepared(self, material: Material, seconds: float | None) -> None:
        learn = counted(len(material.train), "question")
        time = "" if seconds is None else f"; the first training takes {about(seconds)}"
        self.say(
            f"{learn} to learn from, {len(material.choose):,} to choose "
            f"with, {len(material.judge):,} to judge by{time}"
        )


# ---- output


def _as_json(made: Adaptation, file: Place) -> dict[str, Any]:
    return {
        "index": str(file),
        "run": str(made.folder),
        "stage": made.stage,
        "replaced": made.encoder is not None,
        "encoder": None if made.encoder is None else str(made.encoder),
        "dense_weight": made.dense_weight,
        "reranker": None if made.reranker is None else str(made.reranker),
        "stage_2_kept": made.stage_2_kept,
        "rows": to_json(made.verdicts),
        "judged_apart": made.apart,
        "counts": dict(made.counts),
        "seconds": made.seconds,
        "memory_mib": made.memory_mib,
        "next": _command(file),
    }


def _print(made: Adaptation, file: Place) -> None:
    from sat_retriever.train.adapt.outcome import LEVEL

    console, counts = stdout(), made.counts
    families = f"{counts['families']:,} {'family' if counts['families'] == 1 else 'families'}"
    console.print(
        f"[bold]{counted(counts['sheets'], 'sheet')}[/bold] of {families}, "
        f"{counts['families_held_out']:,} of them held out"
    )
    own = ""
    if counts["own"] or counts["own_left_out"]:
        own = f"; {counts['own']:,} labelled ones used, {counts['own_left_out']:,} not"
    also = f"{counts['rerank']:,} for the reranker, " if len(made.verdicts) > 2 else ""
    console.print(
        f"{counted(counts['made'], 'question')} made, {counts['train']:,} to learn from, {also}"
        f"{counts['choose']:,} to choose with, {counts['judge']:,} reworded to judge by"
        f"{own}",
        soft_wrap=True,
    )
    console.print()
    table = grid("answers by", "NDCG@5", "Recall@5", f"ahead, with its {LEVEL:.0%} interval", "")
    for place in (1, 2):
        table.columns[place].justify = "right"
    for verdict in made.verdicts:
        kept = Text("kept" if verdict.kept else "not kept", "green" if verdict.kept else "yellow")
        said = Text("") if verdict.ahead is None else kept
        figures = share(verdict.ndcg), share(verdict.recall), _ahead(verdict)
        table.add_row(plain(verdict.name), *figures, said)
    console.print(table)
    console.print()
    if not made.apart:
        console.print(
            "few held-out questions: the same ones chose and judge, so new ones would score lower",
            style="dim",
        )
    for line in _outcome(made, file):
        console.print(plain(line), soft_wrap=True)
    console.print(f"{made.seconds:,.0f} s, peak memory {made.memory_mib:,.0f} MiB", style="dim")


def _ahead(verdict: Verdict) -> str:
    """The lead of a method with its interval; empty if there is none.

    >>> from sat_retriever.train.adapt.outcome import Verdict
    >>> from sat_retriever.datasets.metrics import Difference
    >>> _ahead(Verdict("", 0.9, 0.8, Difference(0.0512, 0.03, 0.0724)))
    '+.051 (+.030 to +.072)'
    """
    if verdict.ahead is None:
        return ""
    low, middle, high = (
        f"{value:+.3f}".replace("0.", ".", 1)
        for value in (verdict.ahead.low, verdict.ahead.mean, verdict.ahead.high)
    )
    return f"{middle} ({low} to {high})"


def _outcome(made: Adaptation, file: Place) -> list[str]:
    if made.stage == "reranker":
        better = made.reranker is not None
        first = f"the tokens of {file} are unchanged"
        first = first if better else f"the trained reranker is not better: it is not used; {first}"
    elif made.encoder is not None:
        weight = "" if made.dense_weight is None else f", with cosine weight {made.dense_weight:g}"
        first = f"{file} now has the tokens of {made.encoder}{weight}; keep that folder"
    else:
        first = f"the adapted encoder is not better: the tokens of {file} are unchanged"
    lines = [first]
    if len(made.verdicts) > 2 and not made.stage_2_kept:
        lines.append("the adapted reranker is not better: it is not used")
    if made.reranker is not None:
        which = "trained" if made.stage_2_kept else "previous"
        lines.append(
            f"searches of {file} rank with the {which} reranker in {made.reranker}; keep that, too"
        )
    return [*lines, _command(file)]


def _command(file: Place) -> str:
    return f'sat search "…" --index {shlex.quote(str(file))}'
