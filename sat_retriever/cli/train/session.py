"""What every training command does around its training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import typer

from sat_retriever._extras import require
from sat_retriever.cli.terminal import counted, plain, stderr
from sat_retriever.cli.train.bar import TrainingBar, is_main, training_bar
from sat_retriever.cli.train.fields import part_of
from sat_retriever.cli.train.input import TrainingInput
from sat_retriever.cli.train.inputoptions import input_of_options
from sat_retriever.cli.train.report import print_run
from sat_retriever.cli.trained import encoder_source
from sat_retriever.errors import InputError, SatError
from sat_retriever.index.index import SheetIndex
from sat_retriever.training.loop.summary import trained_on

Settings = TypeVar("Settings")
_NEEDED = ("torch", "transformers", "accelerate", "safetensors", "onnx", "onnxscript")


def start_of(kind: type[Settings], presets: Mapping[str, Settings], name: str | None) -> Settings:
    """The settings that the options change."""
    if name is None:
        return kind()
    if name not in presets:
        known = ", ".join(presets) or "none"
        raise InputError(f"there is no preset {name!r}; there are: {known}")
    return presets[name]


def chosen_input(given: Mapping[str, Any], seed: int) -> TrainingInput:
    """What a command's options name to learn from; a grouped corpus is split by the seed."""
    return input_of_options(**part_of(given, input_of_options) | {"seed": seed})


def check_extra() -> None:
    """Refuse to train without all that a training needs.

    Raises:
        MissingExtraError: If one is missing; names it, and the command that installs it.
    """
    for module in _NEEDED:
        if find_spec(module) is None:
            require(module, "train")


@contextmanager
def said_once() -> Iterator[None]:
    """Report an error once, from the main process, however many processes it stops."""
    try:
        yield
    except (SatError, OSError) as error:
        if is_main():
            raise
        raise typer.Exit(2 if isinstance(error, InputError) else 1) from error


@contextmanager
def shown(source: TrainingInput) -> Iterator[TrainingBar]:
    """What a training reports to; Ctrl-C ends it with a word on how to go on."""
    dataset = source.dataset
    train, validation = len(dataset.train), len(dataset.validation)
    left = f"; {dataset.left_out:,} are for neither" if dataset.left_out else ""
    learn = counted(train, "question")
    _say(f"{source.name}: {learn} to learn from, {validation:,} to choose with{left}")
    try:
        with training_bar("train") as bar:
            yield bar
    except KeyboardInterrupt:
        _say("interrupted; the same command goes on from here")
        raise typer.Exit(130) from None


@contextmanager
def searched(
    source: TrainingInput, encoder: str | None, out: Path
) -> Iterator[tuple[SheetIndex, SheetIndex]]:
    """The indexes to find candidates in; says so if the encoder was trained on other questions."""
    stage1 = None if encoder is None else encoder_source(encoder)
    with source.searched(stage1, out) as (seen, whole):
        before = trained_on(stage1 or whole.encoder.name)
        if before is not None and before != source.data().fingerprint:
            _say(
                "note: the Sheet Encoder was trained on other questions, or on another part of "
                "these; validation figures may be too good, and candidates of training questions "
                "unlike those of new ones"
            )
        yield seen, whole


def _say(text: str) -> None:
    if is_main():
        stderr().print(plain(text), soft_wrap=True)


def report(out: Path, source: TrainingInput, *, as_json: bool) -> None:
    """Show a finished training, and put away what it needed."""
    if is_main():
        source.tidy(out)
        print_run(out, source.folders, as_json=as_json)
