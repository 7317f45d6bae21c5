"""Train, measure and compact the general Sheet Encoder, and ship it in the package.

    python -m benchmarks run general [--apart] [--every-convention] [--seed 42] [--ship]

Corpora, training and indexes are kept in `--runs`; the same command goes on where it was stopped.
Only --ship changes the package, and models of `--apart` are never shipped. A reranker of the old
encoder does not fit a new one: run `python -m benchmarks run features --ship` after it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.general.card import ENCODER_CARD, NOTICE, Measured, encoder_card
from benchmarks.general.corpora import SIZES, Part, Wanted, parts
from benchmarks.general.lessons import lessons
from benchmarks.general.parts import ENCODER, MEASURES, SYSTEMS, measured, trained
from benchmarks.general.ship import ship
from benchmarks.results import Result, write_result
from benchmarks.training.plan import overridden
from sat_retriever.encoder.models.folder import FOLDER, GENERAL
from sat_retriever.train.settings import EncoderTraining

BENCHMARK = "general"


def folder_of(wanted: Wanted, size: str, runs: Path) -> Path:
    """Return the folder of one variant's parts."""
    names = ("apart" if wanted.apart else GENERAL, *(["every"] if wanted.every_convention else []))
    return runs / ".".join((*names, size, str(wanted.seed)))


def settings_of(changes: Sequence[str], seed: int) -> EncoderTraining:
    """Return the settings of the training with `name=value` changes."""
    encoder = overridden(replace(ENCODER, seed=seed), changes)
    if not isinstance(encoder, EncoderTraining):
        raise TypeError("overridden keeps the kind of settings")
    return encoder


def results(found: Measured, seed: int, *, apart: bool) -> list[Result]:
    """Return one result per corpus and system."""
    suffix = "_apart" if apart else ""
    return [
        Result(f"{system}{suffix}", corpus, dict(values), split="validation", seed=seed)
        for corpus, of_system in found.items()
        for system, values in of_system.items()
    ]


def show(found: Measured) -> Table:
    """Return a table of the validation parts, system by system."""
    table = Table("corpus", "system", *MEASURES)
    for corpus, of_system in found.items():
        for system, title in SYSTEMS.items():
            values = (f"{of_system[system][name]:.3f}" for name in MEASURES)
            table.add_row(corpus, title, *values)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Make, train, measure, write card and results; with --ship also the package."""
    options = _parser().parse_args(arguments)
    size = SIZES[options.size]
    wanted = Wanted(size, options.apart, options.every_convention, options.seed)
    if options.ship and options.apart:
        sys.exit("--apart is a comparison and never shipped; leave --ship out")
    folder = folder_of(wanted, options.size, options.runs)
    corpora: list[Part] = parts(wanted, options.data, folder / "corpora", reranked=False)
    settings = settings_of(options.set, options.seed)
    learnt = list(lessons(corpora, wanted, options.data, folder / "corpora"))
    package = trained(learnt, settings, folder)
    found = measured(corpora, package, folder, settings.backbone)
    text = encoder_card([each.part for each in learnt], wanted, settings, folder, found)
    (package / ENCODER_CARD).write_text(text, encoding="utf-8")
    (package / "NOTICE").write_text(NOTICE, encoding="utf-8")
    if not options.dry:
        files = tuple(file for each in learnt for file in each.part.dataset.files)
        for result in results(found, options.seed, apart=options.apart):
            write_result(BENCHMARK, result, data=dict.fromkeys(files))
    if options.ship:
        ship(package, FOLDER / GENERAL)
    Console().print(show(found))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, default=Path("../shared/data"))
    made.add_argument("--runs", type=Path, default=Path("runs"), help="where parts are kept")
    made.add_argument("--seed", type=int, default=42)
    made.add_argument("--size", choices=tuple(SIZES), default="full")
    made.add_argument("--apart", action="store_true", help="without the paper's categories, names")
    made.add_argument("--every-convention", action="store_true", help="learn those of validation")
    made.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    made.add_argument("--dry", action="store_true", help="write no result files")
    made.add_argument("--ship", action="store_true", help="put the encoder into the package")
    return made


if __name__ == "__main__":
    main()
