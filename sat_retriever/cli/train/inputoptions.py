"""Command-line options for the training data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from sat_retriever.cli.principals import opened_whole
from sat_retriever.cli.terminal import IndexPlace, index_place
from sat_retriever.cli.train.input import TrainingInput
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import load_labels
from sat_retriever.datasets.splits import (
    grouped_dataset,
    spider_training,
    standard_dataset,
)
from sat_retriever.errors import InputError
from sat_retriever.index.store.place import Place
from sat_retriever.train.data.holdout import (
    HOLD_OUT,
    SHARE,
    HoldOut,
    by_family,
    by_question,
    by_workbook,
)
from sat_retriever.train.data.reading import refuse_unknown_sheets

PANEL = "Training data: --index with --labels, --corpus or --spider"

SplitName = Literal["standard", "grouped"]


def input_of_options(
    *,
    index: Annotated[
        IndexPlace | None,
        typer.Option(
            "--index", "-i", help="Your index.", metavar="FILE|URL", parser=index_place,
            rich_help_panel=PANEL,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Your questions with their sheets: .jsonl, .csv or .json.", metavar="FILE",
            dir_okay=False, rich_help_panel=PANEL,
        ),
    ] = None,
    hold_out: Annotated[
        HoldOut | None,
        typer.Option(
            help="Unit held out for validation: question, workbook or family. "
            rf"[dim]\[{HOLD_OUT}][/dim]",
            metavar="NAME",
            rich_help_panel=PANEL,
        ),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            help="Share of questions, workbooks or families' sheets held out. "
            rf"[dim]\[{SHARE}][/dim]",
            metavar="X",
            rich_help_panel=PANEL,
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="A corpus made by sat synth, or a published one.", metavar="DIR", file_okay=False,
            rich_help_panel=PANEL,
        ),
    ] = None,
    split: Annotated[
        SplitName | None,
        typer.Option(
            help=r"standard, or grouped: whole families held out. [dim]\[standard][/dim]",
            metavar="NAME",
            rich_help_panel=PANEL,
        ),
    ] = None,
    spider: Annotated[
        Path | None,
        typer.Option(
            help="Folder of Spider, whose training questions are used.", metavar="DIR",
            file_okay=False, rich_help_panel=PANEL,
        ),
    ] = None,
    seed: int = 42,
) -> TrainingInput:  # fmt: skip
    """The training data that the options select.

    Raises:
        InputError: If they select none or several, contradict each other, or a label names an
            unknown sheet.
    """
    named = [each for each in (index, corpus, spider) if each is not None]
    if len(named) != 1:
        raise InputError(
            "give exactly one source of training data: --index FILE with --labels FILE, "
            "--corpus DIR, or --spider DIR"
        )
    _check_together(index, labels, "--labels is", "--index")
    for value, option in ((hold_out, "--hold-out is"), (share, "--share is")):
        _check_together(index, value, option, "--index", needed=False)
    _check_together(corpus, split, "--split is", "--corpus", needed=False)
    if index is not None and labels is not None:
        return _own(index, labels, hold_out or HOLD_OUT, SHARE if share is None else share)
    if corpus is not None:
        made = (grouped_dataset if split == "grouped" else standard_dataset)(corpus, seed=seed)
        return TrainingInput(f"{made.name}, {split or 'standard'}", made)
    made = spider_training(cast("Path", spider))
    return TrainingInput(f"{made.name}, databases held out", made)


# ---- inner workings


def _check_together(
    place: object, value: object, option: str, needs: str, *, needed: bool = True
) -> None:
    if value is not None and place is None:
        raise InputError(f"{option} only valid with {needs}; remove it")
    if needed and value is None and place is not None:
        raise InputError(
            f"{needs} needs {option.removesuffix(' is')} FILE with questions and their sheets"
        )


def _own(index: Place, labels: Path, hold_out: HoldOut, share: float) -> TrainingInput:
    queries = load_labels(labels)
    with opened_whole(index) as opened:
        refuse_unknown_sheets(queries, opened.sheet_ids(), str(index))
        if hold_out == "question":
            split = by_question(queries, share=share)
        else:
            whole = by_workbook if hold_out == "workbook" else by_family
            split = whole(opened, queries, share=share)
    dataset = Dataset(index.stem, (), queries, split=split)
    return TrainingInput(f"{labels.name} over {index.name}", dataset, index)
