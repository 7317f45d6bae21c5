"""Train, measure and compact the general Sheet Encoder, and ship it in the package.

    python -m benchmarks run general [--apart] [--every-convention] [--seed 42] [--ship]

Corpora, training and indexes are kept in `--runs`; the same command goes on where it was stopped.
Only --ship changes the package, and models of `--apart` are never shipped. A reranker of the old
encoder does not fit a new one: run `python -m benchmarks run features --ship` after it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.general.card import ENCODER_CARD, NOTICE, encoder_card
from benchmarks.general.corpora import SIZES, Part, Wanted, parts
from benchmarks.general.lessons import lessons
from benchmarks.general.parts import ENCODER, measured, trained
from benchmarks.general.ship import ship
from benchmarks.results import Result
from benchmarks.runner import Options, option, results_folder, suite
from benchmarks.training.plan import overridden
from sat_retriever.encoder.models.folder import FOLDER, GENERAL
from sat_retriever.train.settings import EncoderTraining


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


@suite(
    "general",
    "data",
    "runs",
    "set",
    seed=42,
    size=option("full", choices=tuple(SIZES)),
    apart=option(False, "without the paper's categories, names"),
    every_convention=option(False, "learn those of validation"),
    ship=option(False, "put the encoder into the package"),
)
def main(options: Options) -> Iterator[Result]:
    """Make, train, measure, write the card; with --ship also the package."""
    size = SIZES[options.size]
    trial = bool(options.set) or options.size != "full"
    options.out = results_folder(options, options.runs, trial=trial)
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
    files = tuple(dict.fromkeys(file for each in learnt for file in each.part.dataset.files))
    suffix = "_apart" if options.apart else ""
    for corpus, of_system in found.items():
        for system, values in of_system.items():
            method, figures = f"{system}{suffix}", dict(values)
            yield Result(method, corpus, figures, "validation", options.seed, data=files)
    if options.ship:
        ship(package, FOLDER / GENERAL)
