"""Training data of a command and its options: an index with labels, a corpus, or Spider."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from sat_retriever.cli.options import IndexPlace, index_place, opened_whole
from sat_retriever.datasets.dataset import Dataset
from sat_retriever.datasets.labels import load_labels
from sat_retriever.datasets.splits import grouped_dataset, spider_training, standard_dataset
from sat_retriever.encoder.load import load_encoder
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import FingerprintMismatchError, InputError
from sat_retriever.index.index import SheetIndex
from sat_retriever.index.store.place import Place
from sat_retriever.records.permissions import OWNER
from sat_retriever.synth.options import WORKBOOKS
from sat_retriever.train.data.corpusindex import corpus_index, seen_index
from sat_retriever.train.data.holdout import (
    HOLD_OUT,
    SHARE,
    HoldOut,
    by_family,
    by_question,
    by_workbook,
)
from sat_retriever.train.data.reading import from_dataset, from_index, refuse_unknown_sheets
from sat_retriever.train.data.trainingdata import TrainingData

INDEX = "index.sat"  # the index of a corpus, in the run folder
_MAKING = ".index"  # subfolder for it until the training is finished: a new run folder is empty
_SEEN = "seen.sat"
PANEL = "Training data: --index with --labels, --corpus or --spider"
SplitName = Literal["standard", "grouped"]


@dataclass(frozen=True, slots=True)
class TrainingInput:
    """A data set with its split; its sheets are its own records or in a user's index.

    Attributes:
        index: The user's index that holds the sheets; None for a corpus.
    """

    name: str
    dataset: Dataset
    index: Place | None = None

    @property
    def folders(self) -> list[str]:
        """Folders of the workbooks; empty if there are none."""
        if self.index is not None:
            with opened_whole(self.index) as opened:
                return roots_of(opened)
        beside = self.dataset.files[0].parent / WORKBOOKS  # the folder that `sat synth` writes
        return [str(beside)] if beside.is_dir() else []

    def data(self) -> TrainingData:
        """Texts and queries for training Stage 1 and the Cross-Encoder."""
        if self.index is None:
            return from_dataset(self.dataset)
        with opened_whole(self.index) as opened:
            return from_index(opened, self.dataset)

    @contextmanager
    def searched(
        self, encoder: str | None, folder: Path, device: Device
    ) -> Iterator[tuple[SheetIndex, SheetIndex]]:
        """Open two indexes: one that training questions search, and one of all sheets.

        They are the same index if training may see every sheet.

        Args:
            encoder: Name or folder of the Sheet Encoder; None for the index's own.

        Raises:
            InputError: If a corpus is used without an encoder.
            FingerprintMismatchError: If a user's index has tokens of another encoder.
        """
        seen, file = self.dataset.split.seen, folder / _MAKING / _SEEN
        with self._whole(encoder, folder, device) as whole:
            if seen is None:
                yield whole, whole
                return
            if self.index is None:
                part = corpus_index(self.dataset, whole.encoder, file, seen=seen)
            else:
                part = seen_index(whole, seen, file)
            with part:
                yield part, whole

    def tidy(self, folder: Path) -> None:
        """Remove the files of `searched` after the training, except a corpus's index."""
        making = folder / _MAKING
        if (making / INDEX).exists():
            (making / INDEX).replace(folder / INDEX)
        shutil.rmtree(making, ignore_errors=True)

    def _whole(self, encoder: str | None, folder: Path, device: Device) -> SheetIndex:
        """Open the index of all sheets; for a corpus, make it first with its published links."""
        if self.index is not None:
            return _opened(self.index, encoder, device)
        if encoder is None:
            raise InputError(
                "a corpus has no tokens yet: name the Sheet Encoder with --encoder, a run of "
                "sat train encoder, 'general' or 'minilm'"
            )
        made = folder / INDEX
        path = made if made.exists() else folder / _MAKING / INDEX
        return corpus_index(self.dataset, load_encoder(encoder, device=device), path)


# ---- inner workings


def _opened(file: Place, encoder: str | None, device: Device) -> SheetIndex:
    if encoder is None:
        return SheetIndex.open(file, device=device).seen_by(OWNER)
    try:
        return SheetIndex.open(file, encoder, device=device).seen_by(OWNER)
    except FingerprintMismatchError as error:
        with opened_whole(file) as opened:
            roots = roots_of(opened) or ["FOLDER"]
        raise FingerprintMismatchError(
            f"{file} does not have the tokens of {encoder}; index the workbooks with it, into a "
            f"new file: sat index {' '.join(roots)} --index NEW.sat --encoder {encoder}"
        ) from error


def roots_of(opened: SheetIndex) -> list[str]:
    """Folders whose workbooks an index holds."""
    return sorted({state.root for state in opened.workbooks()})


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
