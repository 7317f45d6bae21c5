"""What the training commands share: checks before, progress during, the report after."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from sat_retriever._extras import require
from sat_retriever.cli.options import encoder_source
from sat_retriever.cli.progress import At, Shown, progress
from sat_retriever.cli.terminal import counted, plain, stderr
from sat_retriever.cli.train.fields import part_of
from sat_retriever.cli.train.input import TrainingInput, input_of_options
from sat_retriever.cli.train.report import print_run
from sat_retriever.encoder.load import is_embedding
from sat_retriever.encoder.onnx.device import Device
from sat_retriever.errors import InputError, SatError
from sat_retriever.index.index import SheetIndex
from sat_retriever.train.loop.summary import trained_on

if TYPE_CHECKING:
    from sat_retriever.train.loop.state import TrainingProgress


Settings = TypeVar("Settings")
_NEEDED = ("torch", "transformers", "accelerate", "safetensors", "onnx", "onnxscript")


def start_of(default: Settings, presets: Mapping[str, Settings], name: str | None) -> Settings:
    """The settings of a preset, or the defaults, before options change them."""
    if name is None:
        return default
    if name not in presets:
        known = ", ".join(presets) or "none"
        raise InputError(f"there is no preset {name!r}; choose one of: {known}")
    return presets[name]


def chosen_input(given: Mapping[str, Any], seed: int) -> TrainingInput:
    """The training data that a command's options select; the seed splits a grouped corpus."""
    return input_of_options(**part_of(given, input_of_options) | {"seed": seed})


def check_extra() -> None:
    """Check that all packages for training are installed."""
    for module in _NEEDED:
        if find_spec(module) is None:
            require(module, "train")


@contextmanager
def said_once() -> Iterator[None]:
    """Report an error once, from the main process, even if it stops several processes."""
    try:
        yield
    except (SatError, OSError) as error:
        if is_main():
            raise
        raise typer.Exit(2 if isinstance(error, InputError) else 1) from error


@contextmanager
def shown(source: TrainingInput) -> Iterator[TrainingBar]:
    """Show the progress of a training; Ctrl-C ends it with a note on how to continue."""
    dataset = source.dataset
    train, validation = len(dataset.train), len(dataset.validation)
    left = f"; {dataset.left_out:,} left out" if dataset.left_out else ""
    learn = counted(train, "question")
    _say(f"{source.name}: {learn} to learn from, {validation:,} to choose with{left}")
    try:
        with training_bar("train") as bar:
            yield bar
    except KeyboardInterrupt:
        _say("interrupted; run the same command to continue")
        raise typer.Exit(130) from None


@contextmanager
def searched(
    source: TrainingInput, encoder: str | None, out: Path, device: Device
) -> Iterator[tuple[SheetIndex, SheetIndex]]:
    """Open the indexes for candidates; warn if the encoder was trained on other questions.

    A device other than the processor is torch's; onnxruntime need not have it. An encoder that runs
    elsewhere takes none.
    """
    stage1 = None if encoder is None else encoder_source(encoder)
    elsewhere = stage1 is not None and is_embedding(stage1)
    of_encoder: Device = "cpu" if device == "cpu" and not elsewhere else "auto"
    with source.searched(stage1, out, of_encoder) as (seen, whole):
        before = trained_on(stage1 or whole.encoder.name)
        if before is not None and before != source.data().fingerprint:
            _say(
                "note: the Sheet Encoder was trained on other questions, or on another part of "
                "these; validation results may be too good, and candidates of training questions "
                "may differ from those of new ones"
            )
        yield seen, whole


def _say(text: str) -> None:
    if is_main():
        stderr().print(plain(text), soft_wrap=True)


def report(out: Path, source: TrainingInput, *, as_json: bool) -> None:
    """Show a finished training, and remove its temporary files."""
    if is_main():
        source.tidy(out)
        print_run(out, source.folders, as_json=as_json)


def is_main() -> bool:
    """True if this process may print; with `accelerate launch` only the first process may."""
    return os.environ.get("RANK", "0") == "0"


class TrainingBar:
    """Receiver of trainings' progress, which it shows in one line."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    def training(self, standing: TrainingProgress) -> None:
        """Show the state of a training."""
        now = At(
            described(standing),
            standing.step,
            standing.steps,
            noun="step",
            figures=measured(standing),
            stage=f"training {standing.phase}",
        )
        self._shown.at(now)

    def counting(self, what: str, done: int, total: int) -> None:
        """Show the progress of other work."""
        self._shown.at(At(what, done, total))

    def say(self, text: str) -> None:
        """Print a line, in a terminal above the bar."""
        self._shown.say(text)


@contextmanager
def training_bar(command: str) -> Iterator[TrainingBar]:
    """Show the progress of a command's trainings, in the main process only."""
    with progress(command, "getting ready", quiet=not is_main()) as shown:
        yield TrainingBar(shown)


def described(standing: TrainingProgress) -> str:
    """The activity of a training, in words.

    >>> from sat_retriever.train.loop.state import TrainingProgress
    >>> described(TrainingProgress("graph", "training", 2, 20, 31, 300, 0.5, 0.9))
    'graph: training, epoch 2 of 20'
    """
    phase = f"{standing.phase}: " if standing.phase else ""
    return f"{phase}{standing.doing}, epoch {standing.epoch} of {standing.epochs}"


def measured(standing: TrainingProgress) -> str:
    """The results of a training so far, in words.

    >>> from sat_retriever.train.loop.state import TrainingProgress
    >>> measured(TrainingProgress("", "training", 2, 20, 31, 300, 0.5, 0.9))
    'loss 0.500, best NDCG@5 .900'
    """
    parts = [] if standing.loss is None else [f"loss {standing.loss:.3f}"]
    if standing.best is not None:
        parts.append(f"best NDCG@5 {standing.best:.3f}".replace(" 0.", " ."))
    return ", ".join(parts)
