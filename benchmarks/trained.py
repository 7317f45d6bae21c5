"""Both stages trained on IndustryTab-1K: the paper's recipe and ours, beside untrained rankings.

    python -m benchmarks run main --seeds 42 43 44
    python -m benchmarks run grouped --seeds 42 43 44

Trains what has not been trained yet, each step in a process of its own, and scores the test
queries. Trained models are kept below `--runs`; a result is written as soon as it is there, and
is not made again without `--again`. With `--set` or `--limit` results are trials: they are
written below `--runs` and never shown.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import results
from benchmarks.results import Result, write_result
from benchmarks.train_corpus import source_of
from benchmarks.train_methods import RECIPES, Recipe
from benchmarks.train_plan import Corpus, Step, overridden
from benchmarks.train_runner import Places, trained
from benchmarks.train_score import Asked, scored, settings_of

BENCHMARK = "trained"
STANDARD_SEED = 42  # of the standard split, whatever the training seed


def changed(recipe: Recipe, changes: Sequence[str]) -> Recipe:
    """The recipe with overridden settings."""
    parts = {
        name: overridden(settings, changes)
        for name in ("encoder", "reranker", "cross_encoder")
        if (settings := getattr(recipe, name)) is not None
    }
    return replace(recipe, **parts)  # type: ignore[arg-type]


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options that all benchmarks of training share."""
    made = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    made.add_argument("--data", type=Path, default=Path("../shared/data"))
    made.add_argument("--runs", type=Path, default=Path("runs"), help="trained models")
    made.add_argument("--again", action="store_true", help="answer and score anew")
    made.add_argument("--rescore", action="store_true", help="score anew the answers that are kept")
    made.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="for trials")
    made.add_argument("--limit", type=int, help="training questions used, for trials")
    return made


def results_folder(options: argparse.Namespace) -> Path:
    """Where results go: trials never get among the committed ones."""
    trial = bool(options.set) or options.limit is not None
    folder: Path = options.runs / "results" if trial else results.FOLDER
    return folder


def is_done(path: Path, settings: Mapping[str, Any]) -> bool:
    """Whether a result file is there, with a line that says so.

    Raises:
        SystemExit: If it was made with other settings.
    """
    if not path.is_file():
        return False
    stored = json.loads(path.read_text(encoding="utf-8"))["metrics"]["settings"]
    if {"walk": False, **stored} != settings:  # the first files did not say that
        sys.exit(f"{path} was made with other settings; make it --again, or remove it")
    print(f"{path.name} is there already", flush=True)
    return True


def say(result: Result) -> None:
    """One line for the terminal."""
    found = result.metrics
    shown = ("NDCG@5", "Recall@5", "Hit@5", "MRR@5", "HN-FPR@1")
    cells = " ".join(f"{name} {found[name]:.4f}" for name in shown if found[name] is not None)
    print(f"{result.method}.{result.split}.{result.seed}: {cells}", flush=True)


@dataclass(frozen=True, slots=True)
class Measured:
    """What one result file is of.

    Attributes:
        name: Name of the method.
        recipe: What ranks.
        step: Its last training; None if it has none.
        asked: The test questions.
        seed: Seed of the training or of the split; None where nothing is random.
    """

    name: str
    recipe: Recipe
    step: Step | None
    asked: Asked
    seed: int | None

    @property
    def file(self) -> str:
        """Name of the result file."""
        ending = "" if self.seed is None else f".{self.seed}"
        return f"{self.name}.{self.asked.dataset.name}.{self.asked.split}{ending}.json"


def measure(
    benchmark: str, measured: Measured, data: Iterable[Path], options: argparse.Namespace
) -> None:
    """Train what is not trained, answer, and write the result, unless it is there already."""
    places, folder = Places(options.data, options.runs), results_folder(options)
    step, recipe = measured.step, measured.recipe
    anew = options.again or options.rescore
    if not anew and is_done(folder / benchmark / measured.file, settings_of(recipe, step)):
        return
    if step is not None:
        trained(step, places)
    found = scored(measured.name, recipe, step, measured.asked, places, rescore=options.rescore)
    found = replace(found, seed=measured.seed)
    write_result(benchmark, found, data=dict.fromkeys(data), folder=folder)
    say(found)


def run(
    benchmark: str,
    recipes: Mapping[str, Recipe],
    corpus: Corpus,
    seed: int,
    options: argparse.Namespace,
) -> None:
    """Measure each recipe with one training seed on the test questions of its own corpus."""
    source = source_of(corpus, options.data)
    asked = Asked(source.dataset, corpus.split, source.split.test)
    for name, plain in recipes.items():
        recipe = changed(plain, options.set)
        step = recipe.step(corpus, seed)
        own = None if step is None and corpus.split == "standard" else seed
        measured = Measured(name, recipe, step, asked, own)
        measure(benchmark, measured, source.dataset.files, options)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, score, write a result file a method and seed."""
    made = parser(__doc__)
    made.add_argument("--split", choices=("standard", "grouped"), default="standard")
    made.add_argument("--seeds", type=int, nargs="+", default=[42, 43, 44])
    made.add_argument("--methods", nargs="+", choices=tuple(RECIPES), default=list(RECIPES))
    options = made.parse_args(arguments)
    chosen = {name: RECIPES[name] for name in options.methods}
    for seed in options.seeds:
        drawn = seed if options.split == "grouped" else STANDARD_SEED
        corpus = Corpus("industrytab_1k", options.split, drawn, options.limit)
        run(BENCHMARK, chosen, corpus, seed, options)
